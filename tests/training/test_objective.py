"""The matching objective counts edits, and training on it lowers them."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import torch

from grale.data.sources import open_source
from grale.graphs.batch import GraphBatch
from grale.graphs.graph import Graph
from grale.matching.problem import pose
from grale.metrics.edit_distance import edit_distance
from grale.model.beyond.pair_costs import PairCosts
from grale.training.config import RunOptions, TrainConfig
from grale.training.new_model import new_model
from grale.training.objective import OBJECTIVES, neighbours
from grale.training.report import StepReport
from grale.training.step_input import StepInput


@pytest.mark.parametrize("directed", [False, True])
def test_at_a_permutation_the_soft_bound_is_the_number_of_edits(directed: bool) -> None:
    generator = torch.Generator().manual_seed(0)
    first = Graph([0, 1, 2], [(0, 1), (1, 2)], [1, 2], directed)
    second = Graph([1, 1, 0, 3], [(0, 1), (1, 3), (2, 3)], [2, 1, 1], directed)
    problem = pose(first, second)
    batches = [GraphBatch.from_graphs([graph], 4) for graph in (first, second)]
    for _ in range(10):
        order = torch.randperm(4, generator=generator)
        plan = torch.eye(4)[order][None]
        expected = edit_distance(first, second, problem.mapping(order.numpy()))
        assert PairCosts.of(*batches, 3).bound(plan).item() == pytest.approx(expected)


@pytest.mark.slow
def test_training_on_pairs_lowers_the_bound_and_leaves_the_decoder_alone(
    smoke: TrainConfig, tmp_path: Path
) -> None:
    config = replace(
        smoke, objective="match", max_steps=60, validate_every=30, num_validation=100, log_every=1
    )
    from grale.training.loop import Trainer  # takes seconds

    reports: list[StepReport] = []
    trainer = Trainer(config, tmp_path, RunOptions(accelerator="cpu"))
    before = {name: weight.clone() for name, weight in trainer.model.named_parameters()}
    untrained = OBJECTIVES["match"].validate(trainer.model, trainer.source.held_out(100))
    trainer.run(reports.append)
    first = sum(report.values["bound"] for report in reports[:10])
    last = sum(report.values["bound"] for report in reports[-10:])
    assert last < 0.95 * first
    assert reports[-1].validation is not None
    trained = reports[-1].validation.scores["edit_distance"]
    assert trained < untrained.scores["edit_distance"]
    for name, weight in trainer.model.named_parameters():
        if name.startswith("decoder"):
            assert torch.equal(weight, before[name])


def test_every_weight_that_is_trained_on_pairs_gets_a_gradient(smoke: TrainConfig) -> None:
    config = replace(smoke, objective="match")
    source = open_source(config.data)
    model = new_model(config, source)
    batch = source.pool(0).batch(torch.arange(8).numpy())
    step = StepInput(batch.node_mask, batch.node_labels, batch.edge_labels, torch.zeros(8, 120))
    values = OBJECTIVES["match"](model, config)(step)
    values["loss"].backward()
    trained = {n: w for n, w in model.named_parameters() if w.requires_grad}
    assert [name for name, weight in trained.items() if weight.grad is None] == []
    assert any(name.startswith("matcher.embed_in") for name in trained)


@pytest.mark.parametrize(("count", "pairs"), [(2, 8), (5, 1), (5, 2), (6, 3), (6, 9), (7, 3)])
def test_no_pair_comes_twice_and_all_graphs_have_partners(count: int, pairs: int) -> None:
    first, second = neighbours(count, pairs, torch.device("cpu"))
    met = [frozenset(both) for both in zip(first.tolist(), second.tolist())]
    assert len(set(met)) == len(met)
    assert all(len(pair) == 2 for pair in met)
    assert set().union(*met) == set(range(count))
    if pairs >= count // 2:
        assert len(met) == count * (count - 1) // 2


def test_a_pair_needs_grale(smoke: TrainConfig) -> None:
    with pytest.raises(ValueError, match="needs architecture=grale, got pigvae"):
        replace(smoke, objective="match", architecture="pigvae")


def test_pairs_need_two_graphs(smoke: TrainConfig) -> None:
    with pytest.raises(ValueError, match="a pair has two graphs"):
        replace(smoke, objective="match", batch_size=1)
