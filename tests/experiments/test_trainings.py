"""Experiments that train: each to the end at the smallest scale, resumed, refused, scored alike."""

from __future__ import annotations

import json
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from grale.data.bayes_nets import ASIA, SAMPLE
from grale.data.ged_sets import GRAPHS, PAIRS
from grale.data.molecules.library import library_graphs
from grale.data.storage import write_shards
from grale.experiments.contest import (
    Contender,
    compete,
    folder_of,
    settings_of,
    spread,
    trained,
    transport_pooling,
)
from grale.experiments.experiment import OfTrainings
from grale.experiments.recipes import Scale
from grale.experiments.reproduce import EXPERIMENTS, find_experiment
from grale.experiments.request import Request, run_quietly
from grale.experiments.tables import ablation as table_ablation
from grale.experiments.tables import bn as table_bn
from grale.experiments.tables import ged as table_ged
from grale.experiments.tables.ged import Row, score
from grale.graphs.graph import Graph
from grale.graphs.molecules.molecule import molecule_space
from grale.matching import solve
from grale.settings.build import build
from grale.training.config import TrainConfig

pytestmark = pytest.mark.slow

TRAINED = [one.name for one in EXPERIMENTS if isinstance(one, OfTrainings)]
ELSEWHERE = (
    "table-ged", "table-bn", "table-prediction",  # they need files
    "table-downstream", "table-embedding-tuning",  # test_downstream.py
    "table-description", "figure-vector-length",  # test_readings.py
    "table-reconstruction", "figure-training-size",  # below, with molecules
    "figure-embedding-size",  # cli/test_latent_verbs.py
)  # fmt: skip


@pytest.fixture(scope="module")
def molecules(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Sixty molecules, prepared."""
    folder = tmp_path_factory.mktemp("molecules")
    graphs = library_graphs(60, 16)
    for split, part in {"train": graphs, "valid": graphs[:8], "test": graphs[8:16]}.items():
        write_shards(folder / split, part, molecule_space(16))
    return folder


@pytest.mark.parametrize("name", [name for name in TRAINED if name not in ELSEWHERE])
def test_the_experiment_runs_to_its_end(name: str, tmp_path: Path) -> None:
    names: list[str] = []
    request = Request(scale="smoke", folder=tmp_path, on_model=names.append)
    results = find_experiment(name).run(request, nullcontext)
    assert names
    check_files(results, tmp_path)


def check_files(results, folder: Path) -> None:
    assert results
    for result in results:
        assert all(file.stat().st_size > 100 for file in result.write(folder))
        assert len(result.caption) > 40


def test_molecules_make_a_second_table_and_a_right_side(molecules: Path, tmp_path: Path) -> None:
    (tmp_path / "qm9.csv").write_text(
        "smiles,u0\n" + "".join(f"{'C' * (1 + row % 9)}O,{row % 9}.5\n" for row in range(60))
    )
    names: list[str] = []
    request = Request(
        scale="smoke", folder=tmp_path, data=str(molecules), labelled=tmp_path, count=4,
        on_model=names.append,
    )  # fmt: skip
    tables = find_experiment("table-reconstruction").run(request, nullcontext)
    assert names
    check_files(tables, tmp_path)
    assert [table.name for table in tables] == [
        "table-reconstruction-coloring",
        "table-reconstruction-molecules",
    ]
    for table in tables:
        assert [row[0] for row in table.rows][:2] == ["GRALE", "PIGVAE"]
        assert {"GraphVAE", "GraphVAE, KL 0.0001, sums"} <= table.values.keys()
        assert table.rows[-1][0] == "GRALE, pooling by transport"
    (picture,) = find_experiment("figure-training-size").run(request, nullcontext)
    check_files([picture], tmp_path)
    assert "Right: error of the internal energy" in picture.caption
    assert "transport: errors {'latent': [" in picture.details


def test_every_row_of_the_ablation_changes_one_part(tmp_path: Path) -> None:
    contest = Request(scale="cpu", folder=tmp_path).contest("any", "coloring")
    base, *others = table_ablation.CONTENDERS
    assert base.changes == ()
    parts = {change.partition("=")[0].split(".")[1] for row in others for change in row.changes}
    assert parts == {"loss", "featurizer", "encoder", "decoder", "matcher"}
    for row in others:
        assert len({change.split(".")[1] for change in row.changes}) == 1
        folder_of(contest, row, 0)
    assert set(table_ablation.PAPER) - {row.name for row in table_ablation.CONTENDERS} == {
        "SoftSort matcher"  # printed beside the best of four
    }


@pytest.mark.parametrize(
    ("scale", "tokens", "width", "layers"), [("cpu", 10, 12, 2), ("paper", 20, 6, 4)]
)
def test_pooling_by_transport_has_a_token_per_slot_and_no_longer_latent(
    scale: Scale, tokens: int, width: int, layers: int, tmp_path: Path
) -> None:
    contest = Request(scale=scale, folder=tmp_path).contest("any", "coloring")
    model = settings_of(contest, transport_pooling(contest), 0).model
    assert (model.num_tokens, model.token_dim, model.encoder_layers) == (tokens, width, layers)
    usual = settings_of(contest, Contender("GRALE"), 0).model
    assert tokens * width <= usual.num_tokens * usual.token_dim


def test_what_is_finished_is_not_done_again(tmp_path: Path) -> None:
    trainings: list[Path] = []

    def watch(trainer, folder):
        trainings.append(folder)
        return run_quietly(trainer, folder)

    contest = Request(scale="smoke", folder=tmp_path, watch=watch, seeds=2).contest("x", "coloring")
    rows = [Contender("one"), Contender("two", ["model.norm=post"])]
    first = compete(contest, rows)
    assert len(trainings) == 4
    assert compete(contest, rows) == first
    assert len(trainings) == 4
    assert first["one"][0].steps == 3
    assert first["one"][0] != first["one"][1]
    older = folder_of(contest, rows[0], 0) / "train.json"  # from before a setting was added
    older.write_text(older.read_text().replace('"size_power": 0.0,', ""))
    assert "size_power" not in older.read_text()
    assert compete(contest, rows) == first
    with pytest.raises(ValueError, match="was trained with other settings"):
        compete(contest, [Contender("one", ["model.norm=post"])])


def test_a_training_that_was_cut_goes_on(tmp_path: Path) -> None:
    contest = Request(scale="smoke", folder=tmp_path).contest("x", "coloring")
    config = replace(build(TrainConfig, contest.recipe), max_steps=4)

    def cut(trainer, folder):
        """Stop after the checkpoint of two steps."""
        trainer.config = replace(config, max_steps=2)
        trainer.run(lambda step: None)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        trained(config, tmp_path / "cut", None, cut)
    steps = []

    def watch(trainer, folder):
        steps.append(trainer.step)
        return run_quietly(trainer, folder)

    whole = trained(config, tmp_path / "whole", None, run_quietly)
    resumed = trained(config, tmp_path / "cut", None, watch)
    assert steps == [2]
    pairs = zip(whole.parameters(), resumed.parameters())
    assert all(bool((a == b).all()) for a, b in pairs)
    assert json.loads((tmp_path / "cut" / "length.json").read_text())["steps"] == 4


def test_the_table_against_the_truth_has_every_method(tmp_path: Path) -> None:
    pytest.importorskip("pygmtools")
    rng = np.random.default_rng(0)
    graphs = {
        number: Graph(rng.integers(0, 3, 4), [(0, 1), (1, 2), (2, 3)][: 2 + number % 2])
        for number in range(32)
    }
    rows = [
        {"dataset": "AIDS700nef", "split": "test" if number < 2 else "train", "gid": number,
         "n_nodes": 4, "labels": ["CNO"[label] for label in graph.node_labels],
         "edges": graph.edges.tolist()} for number, graph in graphs.items()
    ]  # fmt: skip
    pq.write_table(pa.Table.from_pylist(rows), tmp_path / GRAPHS)
    pairs = [
        (a, b, solve(graphs[a], graphs[b], "exact").edit_distance) for a in (0, 1) for b in graphs
    ]
    columns = (list(column) for column in zip(*(pair for pair in pairs if pair[1] > 1)))
    pq.write_table(pa.table(dict(zip(("gid1", "gid2", "ged"), columns))), tmp_path / PAIRS)
    request = Request(scale="smoke", folder=tmp_path / "out", data=str(tmp_path))
    (table,) = find_experiment("table-ged").run(request, nullcontext)
    methods = [row[0] for row in table.rows]
    assert methods[:3] == ["grale", f"grale, best of {table_ged.NOISE_DRAWS}", "grale + tabu"]
    assert {"sm", "rrwm", "ipfp", "greedy-astar"} <= set(methods)
    assert table.values["exact"]["exact"] == 1
    assert table.values["grale + tabu"]["error"] <= table.values["grale"]["error"]
    with pytest.raises(ValueError, match="table-ged needs --data"):
        find_experiment("table-ged").run(replace(request, data=None), nullcontext)


def test_a_bound_below_the_published_distance_is_an_error() -> None:
    with pytest.raises(AssertionError, match="one of them is wrong"):
        score(Row([[3, 4]], [[3, 3]], [0.1, 0.1]))


def test_scores_against_the_truth_are_averaged_over_queries() -> None:
    true = [list(range(12)), list(range(12))]
    found = [list(range(12)), [row + 1 for row in range(12)]]
    scores = score(Row(true, found, [0.5] * 24))
    assert scores["exact"] == pytest.approx(0.5)
    assert scores["error"] == pytest.approx(0.5)
    assert scores["spearman"] == pytest.approx(1)
    assert scores["precision"] == pytest.approx(1)


@pytest.fixture
def asia(tmp_path: Path) -> Path:
    """A table of the form of the ASIA sample."""
    rng = np.random.default_rng(0)
    values = rng.integers(0, 2, (50, len(ASIA)))
    pq.write_table(pa.table(dict(zip(ASIA, values.T))), tmp_path / SAMPLE)
    return tmp_path


def test_the_table_of_networks_has_a_row_per_vector_and_head(asia: Path, tmp_path: Path) -> None:
    pytest.importorskip("gpytorch")
    names: list[str] = []
    request = Request(scale="smoke", folder=tmp_path, data=str(asia), on_model=names.append)
    scores, given_back = find_experiment("table-bn").run(request, nullcontext)
    vectors = ["adjacency matrix", *table_bn_names()]
    assert [row[0] for row in scores.rows[: 4 * len(vectors) : 4]] == vectors
    assert [row[0] for row in scores.rows[4 * len(vectors) :]] == list(table_bn.QUOTED)
    assert all("±" in row[2] for row in scores.rows[:3])
    assert [row[0] for row in given_back.rows] == ["GRALE", "GRALE, pooling by transport"]
    for numbers in given_back.values.values():
        assert 0 <= numbers["acyclic"] <= numbers["networks"] == 6
    again = names.copy()
    names.clear()
    assert find_experiment("table-bn").run(request, nullcontext) == [scores, given_back]
    assert names == ["GRALE", "GRALE, pooling by transport"]  # nothing is computed twice
    assert len(again) > 30


def table_bn_names() -> list[str]:
    models = ("GRALE", "GRALE, pooling by transport")
    return [f"{model}{reading}" for model in models for reading in ("", ", described")]


def test_the_table_of_networks_asks_for_its_sample(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="table-bn needs --data"):
        table_bn.make(Request(scale="smoke", folder=tmp_path))
    with pytest.raises(FileNotFoundError, match="bnlearn_asia_5000.parquet is not there"):
        table_bn.make(Request(scale="smoke", folder=tmp_path, data=str(tmp_path)))


def test_means_have_a_deviation_over_several_seeds_only() -> None:
    assert spread([0.25], 100.0) == "25.00"
    assert spread([0.0, 0.5]) == "0.25 ± 0.25"
