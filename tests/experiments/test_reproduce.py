"""Each figure is made at the smallest scale, with its caption."""

from __future__ import annotations

from pathlib import Path

import pytest

import grale
from grale.experiments.figure_size_edit import property_picture
from grale.experiments.picture import PictureConfig, write_picture
from grale.experiments.reproduce import FIGURES, find_experiment


@pytest.mark.parametrize("name", FIGURES)
def test_the_figure_is_made_and_captioned(name: str, tmp_path: Path) -> None:
    experiment = find_experiment(name)
    config = PictureConfig(count=max(experiment.counts["smoke"], 30))
    pictures = experiment.make(grale.load("coloring-10"), config, None)
    for picture in pictures:
        files = write_picture(picture, tmp_path)
        assert [file.suffix for file in files] == [".png", ".svg", ".txt"]
        assert all(file.stat().st_size > 100 for file in files)
        assert picture.title in files[2].read_text()


def test_a_property_of_molecules_is_raised(tmp_path: Path) -> None:
    model = grale.load("molecules")
    picture = property_picture("TPSA", model, PictureConfig(count=120), uses_covariance=True)
    assert "predictor of TPSA" in picture.caption
    assert picture.name == "tpsa-edit"


def test_an_unknown_figure_lists_the_known_ones() -> None:
    with pytest.raises(ValueError, match="figure-interpolation, figure-size-edit"):
        find_experiment("figure-unknown")
