"""Each figure is made at the smallest scale, with its caption."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest

import grale
from grale.experiments.experiment import OfModel
from grale.experiments.figures.size_edit import property_picture
from grale.experiments.picture import PictureConfig
from grale.experiments.reproduce import (
    EXPERIMENTS,
    check_options,
    find_experiment,
    listing,
    write_results,
)
from grale.experiments.request import Request
from grale.experiments.table import Table
from grale.experiments.tables.matching import one_sided
from grale.graphs.graph import Graph

pytestmark = pytest.mark.slow

FIGURES = [
    one.name
    for one in EXPERIMENTS
    if isinstance(one, OfModel)
    and "figure" in one.name
    and one.name not in ("figure-generation", "figure-prediction", "figure-map")
]
"""test_generation.py, test_prediction.py and cli/test_latent_verbs.py make the others."""


@contextmanager
def quiet(name: str, total: int) -> Iterator[Callable[[int], None]]:
    """Nothing on the screen; at the end all is counted."""
    done = [0]

    def advance(more: int) -> None:
        done[0] += more

    yield advance
    assert done[0] == total


@pytest.mark.parametrize("name", FIGURES)
def test_the_figure_is_made_and_captioned(name: str, tmp_path: Path) -> None:
    request = Request(scale="smoke", model="coloring-10", count=100)
    for picture in find_experiment(name).run(request, quiet):
        files = picture.write(tmp_path)
        assert [file.suffix for file in files] == [".png", ".svg", ".txt", ".json"]
        assert all(file.stat().st_size > 100 for file in files)
        assert picture.title in files[2].read_text()


def test_a_property_of_molecules_is_raised(tmp_path: Path) -> None:
    model = grale.load("molecules@1")
    picture = property_picture("TPSA", model, PictureConfig(count=120), uses_covariance=True)
    assert "predictor of TPSA" in picture.caption
    assert picture.name == "tpsa-edit"


def test_an_option_that_means_nothing_is_refused_by_those_it_is_for() -> None:
    with pytest.raises(ValueError, match="figure-map does not use --also; it is for table-ma"):
        check_options(find_experiment("figure-map"), ["model", "also"])
    check_options(find_experiment("table-matching"), ["model", "also"])


def test_the_help_names_every_experiment_and_imports_nothing_heavy() -> None:
    assert all(experiment.name in listing() for experiment in EXPERIMENTS)
    code = (
        "import sys; from grale.experiments.reproduce import listing; print('torch' in sys.modules)"
    )
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert result.stdout.strip() == "False"


def test_an_unknown_figure_lists_the_known_ones() -> None:
    with pytest.raises(ValueError, match="figure-interpolation, figure-size-edit"):
        find_experiment("figure-unknown")


def test_the_matching_table_has_a_row_per_method(tmp_path: Path) -> None:
    pytest.importorskip("pygmtools")
    request = Request(count=2, data="coloring10", model="coloring-10", also=("coloring-10",))
    (table,) = find_experiment("table-matching").run(request, quiet)
    markdown, numbers = table.write(tmp_path)
    values = json.loads(numbers.read_text())["values"]
    assert {"sm", "rrwm", "ipfp", "astar", "greedy-astar", "tabu", "exact"} <= values.keys()
    assert "| grale, coloring-10 + tabu |" in markdown.read_text()
    exact, searched = values["exact"]["distances"], values["grale + tabu"]["distances"]
    for row, least in enumerate(values["lower_bound"]):
        assert least <= exact[row] <= searched[row] <= values["grale"]["distances"][row]


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
