"""Each figure is made at the smallest scale, with its caption."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import grale
from grale.experiments.figure_size_edit import property_picture
from grale.experiments.picture import PictureConfig
from grale.experiments.reproduce import EXPERIMENTS, find_experiment, write_results
from grale.experiments.table import Table
from grale.experiments.table_matching import one_sided
from grale.graphs.graph import Graph


@pytest.mark.parametrize("name", [name for name in EXPERIMENTS if "figure" in name])
def test_the_figure_is_made_and_captioned(name: str, tmp_path: Path) -> None:
    experiment = find_experiment(name)
    config = PictureConfig(count=max(experiment.counts["smoke"], 30))
    pictures = experiment.make(grale.load("coloring-10"), config, None)
    for picture in pictures:
        files = picture.write(tmp_path)
        assert [file.suffix for file in files] == [".png", ".svg", ".txt", ".json"]
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


@pytest.mark.slow
def test_the_matching_table_has_a_row_per_method(tmp_path: Path) -> None:
    pytest.importorskip("pygmtools")
    config = PictureConfig(count=2, data="coloring10", also=("coloring-10",))
    (table,) = find_experiment("table-matching").make(grale.load("coloring-10"), config, None)
    markdown, numbers = table.write(tmp_path)
    values = json.loads(numbers.read_text())["values"]
    assert {"sm", "rrwm", "ipfp", "astar", "greedy-astar", "refine", "exact"} <= values.keys()
    assert "| grale, coloring-10 + refine |" in markdown.read_text()
    exact, refined = values["exact"]["distances"], values["grale + refine"]["distances"]
    for row, least in enumerate(values["lower_bound"]):
        assert least <= exact[row] <= refined[row] <= values["grale"]["distances"][row]


def test_several_tables_are_also_written_together(tmp_path: Path) -> None:
    parts = [
        Table(f"table-x-{part}", part, ["model", "paper"], [["a", "9"]], "caption", {"a": number})
        for number, part in enumerate(("first", "second"))
    ]
    firsts = write_results("table-x", parts, tmp_path)
    assert [path.name for path in firsts] == ["table-x-first.md", "table-x-second.md"]
    together = json.loads((tmp_path / "table-x.json").read_text())
    assert together["table-x-second"]["values"] == {"a": 1}
    assert together["table-x-first"]["rows"] == [["a", "9"]]
    assert "## second" in (tmp_path / "table-x.md").read_text()


def test_the_one_sided_figure_leaves_insertions_out() -> None:
    first, second = Graph([0, 1], [(0, 1)]), Graph([0, 1, 2], [(0, 1), (1, 2)])
    assert one_sided(first, second, np.array([0, 1])) == 0
    assert one_sided(second, first, np.array([0, 1, -1])) == 2
