"""Experiments on the two readings: every term has a row, and the latent of a width its length."""

from __future__ import annotations

from contextlib import nullcontext
from pathlib import Path

import numpy as np
import pytest

from grale.data.molecules.library import library_graphs
from grale.data.packed import PackedGraphs
from grale.data.storage import write_packed
from grale.experiments.contest import Contender, settings_of
from grale.experiments.figures.vector_length import length_figure
from grale.experiments.reproduce import find_experiment
from grale.experiments.request import Request
from grale.experiments.tables.description import CONTENDERS
from grale.graphs.molecules.molecule import molecule_space

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def described(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Molecules with two properties each."""
    folder = tmp_path_factory.mktemp("described")
    graphs = library_graphs(60, 16)
    values = np.array([[g.num_nodes, g.num_edges] for g in graphs], dtype=np.float32)
    for split in ("train", "valid", "test"):
        packs = [PackedGraphs.from_graphs(graphs, values)]
        write_packed(folder / split, packs, molecule_space(16), ("nodes", "edges"))
    return folder


@pytest.mark.parametrize("name", ["table-description", "figure-vector-length"])
def test_it_needs_a_dataset(name: str) -> None:
    with pytest.raises(ValueError, match=f"{name} needs --data"):
        find_experiment(name).run(Request(scale="smoke"), nullcontext)


def test_every_term_has_a_row_with_both_readings(described: Path, tmp_path: Path) -> None:
    request = Request(scale="smoke", folder=tmp_path, data=str(described), count=40)
    (table,) = find_experiment("table-description").run(request, nullcontext)
    assert [row[0] for row in table.rows] == [each.name for each in CONTENDERS]
    assert all(len(row) == len(table.header) for row in table.rows)
    values = [tuple(table.values[each.name].values()) for each in CONTENDERS]
    assert len(set(values)) == len(values)  # each was trained in its own way


def test_rows_of_the_table_differ_by_one_term_each(tmp_path: Path) -> None:
    contest = Request(scale="cpu", folder=tmp_path).contest("any", "coloring")
    models = [settings_of(contest, Contender(c.name, c.changes), 0).model for c in CONTENDERS]
    assert not models[0].latent.on_sphere
    assert not models[1].latent.noise_std
    assert models[2].latent.noise_std > 0
    assert (models[3].description.counts > 0, models[3].description.properties) == (True, 0)
    assert (models[4].description.counts, models[4].description.properties > 0) == (0, True)
    assert models[6].featurizer.hidden_share > models[5].featurizer.hidden_share == 0


def test_the_figure_has_a_point_for_every_length(described: Path, tmp_path: Path) -> None:
    request = Request(scale="smoke", folder=tmp_path, data=str(described), count=4)
    (picture,) = find_experiment("figure-vector-length").run(request, nullcontext)
    assert all(file.stat().st_size > 100 for file in picture.write(tmp_path))
    assert "32 numbers: exact" in picture.details
    assert "64 numbers: exact" in picture.details


def test_intervals_hold_their_point() -> None:
    (axes,) = length_figure([128, 256], [0.0, 1.0], 50).axes
    (line,) = axes.lines[:1]
    assert list(line.get_ydata()) == [0.0, 100.0]
    low, high = axes.get_ylim()
    assert low <= 0
    assert high >= 100
