"""Costs of pairs against loops and gradients; matching in rounds."""

from dataclasses import replace
from itertools import combinations, permutations

import numpy as np
import pytest
import torch

from grale.graphs.batch import GraphBatch
from grale.graphs.graph import Graph
from grale.graphs.space import GraphSpace
from grale.model.ablations.softsort import SoftSortMatcher
from grale.model.autoencoder import GRALE
from grale.model.beyond.pair_costs import PairCosts
from grale.model.config import MatcherConfig
from grale.model.matcher import SinkhornMatcher


def random_batches(directed: bool) -> tuple[GraphBatch, GraphBatch]:
    rng = np.random.default_rng(0)
    sides = []
    for size in (4, 3):
        pairs = (permutations if directed else combinations)(range(size), 2)
        kept = [pair for pair in pairs if rng.random() < 0.6]
        graph = Graph(rng.integers(0, 2, size), kept, rng.integers(1, 3, len(kept)), directed)
        sides.append(GraphBatch.from_graphs([graph], 4))
    return sides[0], sides[1]


@pytest.mark.parametrize("directed", [False, True])
def test_costs_equal_their_loops(directed: bool) -> None:
    first, second = random_batches(directed)
    torch.manual_seed(0)
    plan = torch.rand(1, 4, 4)
    costs = PairCosts.of(first, second, 3)
    labels = [(batch.node_labels + 1) * batch.node_mask for batch in (first, second)]
    one, other = first.edge_labels[0], second.edge_labels[0]
    for i in range(4):
        for j in range(4):
            expected = float(labels[0][0, i] != labels[1][0, j])
            for k in range(4):
                for m in range(4):
                    differ = int(one[i, k] != other[j, m])
                    differ += int(one[k, i] != other[m, j]) if directed else 0
                    expected += float(plan[0, k, m]) * differ
            assert float(costs.per_pair(plan)[0, i, j]) == pytest.approx(expected, rel=1e-5)


@pytest.mark.parametrize("directed", [False, True])
def test_what_a_pair_brings_is_the_gradient_of_the_bound(directed: bool) -> None:
    costs = PairCosts.of(*random_batches(directed), 3)
    plan = torch.rand(1, 4, 4, requires_grad=True)
    (gradient,) = torch.autograd.grad(costs.bound(plan).sum(), plan)
    torch.testing.assert_close(gradient, costs.per_pair(plan.detach()))


@pytest.fixture
def in_rounds(space: GraphSpace, tiny_config) -> GRALE:
    torch.manual_seed(0)
    matcher = replace(tiny_config.matcher, rounds=4, edit_weight=3.0, temperature=0.3)
    return GRALE(space, replace(tiny_config, matcher=matcher)).eval()


@pytest.mark.slow
def test_rounds_lower_the_bound_of_an_untrained_model(
    in_rounds: GRALE, tiny_model: GRALE, coloring_graphs: list[Graph]
) -> None:
    pairs = list(zip(coloring_graphs[::2], coloring_graphs[1::2]))
    bounds = [
        sum(match.edit_distance for match in model.match_many(pairs))
        for model in (tiny_model, in_rounds)
    ]
    assert bounds[1] < 0.9 * bounds[0]


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("weight", [3.0, 1000.0])
def test_compiled_rounds_equal_those_of_torch(weight: float, directed: bool) -> None:
    torch.manual_seed(0)
    config = MatcherConfig(affinity="sphere", temperature=0.3, rounds=3, edit_weight=weight)
    matcher = SinkhornMatcher(8, config)
    costs = PairCosts.of(*random_batches(directed), 3)
    left, right = torch.randn(2, 1, 4, 8)
    differentiable = matcher.pair_kernel(left, right, costs).detach()
    with torch.no_grad():
        compiled = matcher.pair_kernel(left, right, costs)
    torch.testing.assert_close(compiled, differentiable, rtol=1e-4, atol=1e-4)


@pytest.mark.slow
def test_the_batch_size_changes_no_match(in_rounds: GRALE, coloring_graphs: list[Graph]) -> None:
    pairs = list(zip(coloring_graphs[::2], coloring_graphs[1::2]))
    one_by_one, together = (in_rounds.match_many(pairs, batch_size=size) for size in (1, 256))
    for alone, match in zip(one_by_one, together):
        np.testing.assert_array_equal(alone.mapping, match.mapping)
        np.testing.assert_allclose(alone.scores, match.scores, rtol=1e-4, atol=1e-4)


@pytest.mark.slow
def test_equal_graphs_still_match_exactly(
    in_rounds: GRALE, coloring_graphs: list[Graph], rng: np.random.Generator
) -> None:
    pairs = [(g, g.permuted(rng.permutation(g.num_nodes))) for g in coloring_graphs]
    assert {match.edit_distance for match in in_rounds.match_many(pairs)} == {0}


@pytest.mark.slow
def test_the_order_of_the_nodes_changes_no_bound(
    in_rounds: GRALE, coloring_graphs: list[Graph], rng: np.random.Generator
) -> None:
    pairs = list(zip(coloring_graphs[:4], coloring_graphs[4:8]))
    moved = [tuple(g.permuted(rng.permutation(g.num_nodes)) for g in pair) for pair in pairs]
    usual, other = ([m.edit_distance for m in in_rounds.match_many(p)] for p in (pairs, moved))
    assert usual == other


def test_softsort_has_no_rounds() -> None:
    with pytest.raises(ValueError, match="set rounds to 0 for softsort"):
        MatcherConfig(kind="softsort", rounds=2)
    matcher = SoftSortMatcher(4, MatcherConfig(kind="softsort"))
    left, right = torch.randn(2, 1, 3, 1)
    assert torch.equal(matcher.pair_kernel(left, right, None), matcher.log_kernel(left, right))
