"""From a list of graphs to a model: sizes and recipe by the data, names kept, honest remarks."""

from __future__ import annotations

import logging
from pathlib import Path
from typing import Any

import networkx
import numpy as np
import pytest

import grale
from cli.invoking import invoke
from grale.graphs.graph import Graph
from grale.graphs.space import GraphSpace
from grale.settings.files import load_settings
from grale.training import fit as fitting
from grale.training.best_model import BestModel
from grale.training.config import TrainConfig
from grale.training.fit import (
    MEMORY_LIMIT,
    Fitted,
    activation_gigabytes,
    changed_share,
    graphs_per_step,
    recipe,
    token_dim,
)
from grale.training.objective import Validation

pytestmark = pytest.mark.slow


@pytest.fixture
def tiny(monkeypatch: pytest.MonkeyPatch) -> None:
    """Reduce the recipe to seconds."""
    read = fitting.read_settings

    def smaller(name: str) -> dict[str, Any]:
        values = read(name)
        sizes = {"num_layers": 1, "encoder_layers": 1, "node_dim": 16, "edge_dim": 8}
        return {**values, "model": {**values["model"], **sizes, "outer_dim": 4}, "max_steps": 3}

    monkeypatch.setattr(fitting, "read_settings", smaller)


def rings_and_trees(count: int = 30) -> list[networkx.Graph]:
    graphs = []
    for number in range(count):
        size = 3 + number % 4
        ring = number % 2
        graph = networkx.cycle_graph(size) if ring else networkx.path_graph(size)
        for node in graph:
            graph.nodes[node]["kind"] = ("red", "green", "blue")[(node + number) % 3]
        graph.graph["shape"] = ("tree", "ring")[ring]
        graphs.append(graph)
    return graphs


def test_three_lines_give_a_model_vectors_and_graphs_back(
    tiny: None, caplog: pytest.LogCaptureFixture
) -> None:
    graphs = rings_and_trees()
    with caplog.at_level(logging.WARNING):
        model = grale.fit(graphs, minutes=1.0, progress=False)
    vectors = model.encode(graphs)
    again = model.decode(vectors)
    assert vectors.shape == (30, model.latent_dim)
    kinds = {values["kind"] for graph in again for values in graph.node_values()}
    assert kinds <= {"red", "green", "blue"}
    assert "distinct graphs to train on" in caplog.text


def test_a_fitted_model_is_saved_with_its_names(tiny: None, tmp_path: Path) -> None:
    grale.fit(rings_and_trees(), minutes=1.0, progress=False).save_pretrained(tmp_path / "mine")
    model = grale.load(tmp_path / "mine")
    unknown = networkx.path_graph(2)
    networkx.set_node_attributes(unknown, "gren", "kind")
    (reason,) = model.why_not([unknown])
    assert "node '0' has kind='gren'" in str(reason)
    assert "nearest is 'green'" in str(reason)
    known = rings_and_trees(1)
    assert np.isnan(model.encode([unknown, *known], on_error="null")).any(axis=1).tolist() == [
        True,
        False,
    ]


def test_numbers_as_labels_stay_numbers(tiny: None) -> None:
    graphs = [Graph([5, number % 3], [(0, 1)]) for number in range(9)]
    model = grale.fit(graphs, minutes=1.0, progress=False)
    assert model.space == GraphSpace(max_nodes=2, num_node_labels=6)


def test_one_graph_is_enough_to_try(tiny: None) -> None:
    model = grale.fit(rings_and_trees(1), minutes=1.0, progress=False)
    assert model.space.max_nodes == 3


def test_the_recipe_follows_number_and_size_of_the_graphs(tmp_path: Path) -> None:
    grale.prepare(rings_and_trees(), tmp_path / "mine")
    config = recipe(tmp_path / "mine")
    assert config.model.num_tokens == 6
    assert config.model.pooling == "transport"
    sizes = [GraphSpace(max_nodes=size, num_node_labels=1) for size in (8, 32, 64, 128)]
    assert [graphs_per_step(space, 1000) for space in sizes] == [64, 16, 8, 8]
    assert graphs_per_step(sizes[0], rows=5) == 5
    assert changed_share(100) > changed_share(5_000) > changed_share(1_000_000) == 0
    assert token_dim(sizes[0]) == 16


def test_activations_are_recomputed_where_they_would_not_fit() -> None:
    config = load_settings(TrainConfig, "own", ["batch_size=8", "model.num_tokens=64"])
    assert activation_gigabytes(config) < MEMORY_LIMIT
    larger = load_settings(TrainConfig, "own", ["batch_size=8", "model.num_tokens=128"])
    assert activation_gigabytes(larger) > MEMORY_LIMIT


def scored(exact: float, edits: float = 1.0) -> Validation:
    return Validation({"exact": exact, "edit_distance": edits, "size_right": 1.0}, "")


def test_the_best_weights_are_kept_and_patience_ends_the_run() -> None:
    best = BestModel(patience=2)
    stops = [
        best.gives_up_after(scored(exact), lambda exact=exact: exact)  # type: ignore[misc]
        for exact in (0.1, 0.5, 0.4, 0.3)
    ]
    assert stops == [False, False, False, True]
    assert best.model == 0.5


def test_two_perfect_evaluations_end_the_run_and_no_patience_never_does() -> None:
    best = BestModel(patience=50)
    assert [best.gives_up_after(scored(1.0, 0), lambda: None) for _ in range(2)] == [False, True]
    never = BestModel(patience=0)
    assert not any(never.gives_up_after(scored(0.0), lambda: None) for _ in range(9))
    assert never.model is None
    with pytest.raises(ValueError, match="patience=1 needs one process"):
        BestModel(patience=1, num_processes=2)


def test_a_set_that_is_too_small_is_said_to_be() -> None:
    def remarks(train: float, held_out: float, distinct: int) -> list[str]:
        return fitting._remarks(Fitted(None, 500, 50, train, held_out, []), distinct)

    assert remarks(0.95, 0.93, 500) == []
    assert "too small to generalise" in remarks(0.95, 0.30, 500)[0]
    assert "only 40 distinct graphs" in remarks(0.95, 0.93, 40)[0]
    assert "more minutes" in remarks(0.1, 0.1, 500)[0]


def test_the_story_of_the_guide_runs(
    tiny: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine").mkdir()
    for number, graph in enumerate(rings_and_trees(60)):
        networkx.write_graphml(graph, tmp_path / "mine" / f"{number:02d}.graphml")
    assert "node labels (kind)" in invoke("prepare", "graphs", "mine", "data/mine")
    printed = invoke("fit", "mine", "-o", "model", "--minutes", "1")
    assert "held-out graphs" in printed
    invoke("map", "mine", "--model", "model", "-o", "map.png")
    probed = invoke(
        "probe", "mine", "--target", "shape", "--contender", "model", "--contender", "counts",
        "--contender", "untrained", "--head", "logistic",
    )  # fmt: skip
    assert "60 of 60 rows" in probed
    invoke("interpolate", "mine:1", "mine:2", "--model", "model", "--steps", "3")
    edits = invoke("match", "mine:1", "mine:3", "--model", "model")
    assert any(name in edits for name in ("red", "green", "blue"))
    changed = invoke(
        "edit", "mine:4", "-p", "number of red", "--model", "model", "--data", "mine",
        "--steps", "2", "--count", "60",
    )  # fmt: skip
    assert "nodes" in changed
    assert "exactly reconstructed" in invoke("evaluate", "model", "--data", "data/mine")
    made = {path.name for path in tmp_path.iterdir()}
    assert {
        "map.png",
        "map.html",
        "probe.png",
        "interpolation.png",
        "match.png",
        "edit.png",
    } <= made
