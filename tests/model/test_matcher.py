from itertools import permutations

import pytest
import torch

from grale.graphs.permute import gather_nodes, inverse_permutation
from grale.model.config import MatcherConfig
from grale.model.matcher import SinkhornMatcher, pairwise_l1, pairwise_on_sphere
from grale.transport.assignment import assign

ATOL_FLOAT32 = 1e-5  # logarithms of order ten, fifty sweeps
SIZE = 6
AFFINITIES = ["l1", "sphere"]


def build(affinity, temperature=0.3, **settings):
    torch.manual_seed(0)
    config = MatcherConfig(
        affinity=affinity, temperature=temperature, embedding_dim=5, num_sweeps=50, **settings
    )
    return SinkhornMatcher(8, config), *torch.randn(2, 3, SIZE, 8)


def test_both_distances_equal_their_loops():
    left, right = torch.randn(2, 4, 5), torch.randn(2, 3, 5)
    l1, sphere = pairwise_l1(left, right), pairwise_on_sphere(left, right)
    for b in range(2):
        for i in range(4):
            for j in range(3):
                x, y = left[b, i], right[b, j]
                apart = float((x - y).abs().sum())
                assert float(l1[b, i, j]) == pytest.approx(apart, rel=1e-5)
                apart = float((x / x.norm() - y / y.norm()).square().sum())
                assert float(sphere[b, i, j]) == pytest.approx(apart, rel=1e-4, abs=1e-5)
    assert sphere.min() >= 0
    assert sphere.max() <= 4


@pytest.mark.parametrize("affinity", AFFINITIES)
def test_the_kernel_is_the_distance_of_the_two_networks_over_the_temperature(affinity):
    matcher, nodes, slots = build(affinity)
    distance = {"l1": pairwise_l1, "sphere": pairwise_on_sphere}[affinity]
    log_kernel = -distance(matcher.embed_in(nodes), matcher.embed_out(slots)) / 0.3
    log_plan, _ = matcher(nodes, slots)
    scaled = log_plan - log_kernel  # u_i + v_j: all two-by-two differences vanish
    corner = scaled - scaled[:, :1] - scaled[:, :, :1] + scaled[:, :1, :1]
    assert corner.abs().max() < ATOL_FLOAT32
    swapped = log_plan - log_kernel.transpose(1, 2)
    corner = swapped - swapped[:, :1] - swapped[:, :, :1] + swapped[:, :1, :1]
    assert corner.abs().max() > 0.01


@pytest.mark.parametrize("affinity", AFFINITIES)
@pytest.mark.parametrize("num_sweeps", [1, 50])
def test_rows_and_columns_sum_to_one_within_the_marginal_error(affinity, num_sweeps):
    matcher, nodes, slots = build(affinity)
    config = MatcherConfig(
        affinity=affinity, temperature=0.05, embedding_dim=5, num_sweeps=num_sweeps
    )
    matcher.config = config
    log_plan, marginal_error = matcher(nodes, slots)
    plan = log_plan.exp()
    errors = torch.cat([plan.sum(1) - 1, plan.sum(2) - 1], dim=1).abs()
    torch.testing.assert_close(errors.amax(1), marginal_error, atol=1e-6, rtol=1e-4)
    if num_sweeps == 1:
        assert marginal_error.max() > 0.01  # the error is not always small


@pytest.mark.parametrize("affinity", AFFINITIES)
def test_enough_sweeps_at_high_temperature_give_a_bistochastic_plan(affinity):
    matcher, nodes, slots = build(affinity, temperature=1.0)
    assert matcher(nodes, slots).marginal_error.max() < 1e-4


@pytest.mark.parametrize("affinity", AFFINITIES)
def test_permuting_the_inputs_permutes_the_rows(affinity):
    matcher, nodes, slots = build(affinity)
    order = torch.stack([torch.randperm(SIZE) for _ in range(3)])
    log_plan, error = matcher(nodes, slots)
    moved, moved_error = matcher(gather_nodes(nodes, order), slots)
    torch.testing.assert_close(moved, gather_nodes(log_plan, order), atol=1e-4, rtol=0)
    torch.testing.assert_close(moved_error, error, atol=1e-5, rtol=0)
    assert (moved - log_plan).abs().max() > 0.01
    hard = matcher.hard(nodes, slots)
    assert torch.equal(matcher.hard(gather_nodes(nodes, order), slots), hard.gather(1, order))


@pytest.mark.parametrize("affinity", AFFINITIES)
def test_the_hard_matching_is_the_best_of_all_permutations(affinity):
    matcher, nodes, slots = build(affinity)
    distance = {"l1": pairwise_l1, "sphere": pairwise_on_sphere}[affinity]
    cost = distance(matcher.embed_in(nodes), matcher.embed_out(slots)).double()
    found, cost = matcher.hard(nodes, slots), cost.detach().numpy()
    for b in range(3):
        costs = {p: float(cost[b, range(SIZE), p].sum()) for p in permutations(range(SIZE))}
        assert costs[tuple(found[b].tolist())] == pytest.approx(min(costs.values()), abs=1e-6)
        assert max(costs.values()) > min(costs.values()) + 0.1


@pytest.mark.slow
@pytest.mark.parametrize("affinity", AFFINITIES)
def test_a_cold_plan_costs_as_little_as_the_hard_matching(affinity):
    """Costs are compared, not matchings: L1 distances tie exactly now and then."""
    matcher, nodes, slots = build(affinity)
    matcher.config = MatcherConfig(
        affinity=affinity, temperature=0.002, embedding_dim=5, num_sweeps=2000
    )
    with torch.no_grad():
        log_plan, error = matcher(nodes, slots)
        cost = -0.002 * matcher.log_kernel(matcher.embed_in(nodes), matcher.embed_out(slots))
    assert error.max() < 0.01
    best = cost.gather(2, matcher.hard(nodes, slots)[..., None]).sum((1, 2))
    torch.testing.assert_close((log_plan.exp() * cost).sum((1, 2)), best, atol=0.02, rtol=0)
    assert (cost.mean(2).sum(1) - best).min() > 0.1  # a uniform plan would cost more


@pytest.mark.parametrize("affinity", AFFINITIES)
def test_equal_graphs_in_another_order_match_exactly(affinity):
    matcher, nodes, _ = build(affinity)
    order = torch.stack([torch.randperm(SIZE) for _ in range(3)])
    left, right = (matcher.embed_in(some) for some in (nodes, gather_nodes(nodes, order)))
    found = assign(matcher.log_kernel(left, right))
    assert torch.equal(found, inverse_permutation(order))
    through_both = matcher.hard(nodes, gather_nodes(nodes, order))  # the two networks differ
    assert not torch.equal(through_both, found)


@pytest.mark.parametrize("affinity", AFFINITIES)
def test_gradients_through_few_sweeps_are_finite(affinity):
    matcher, nodes, slots = build(affinity, grad_sweeps=3)
    matcher(nodes, slots).log_plan.diagonal(dim1=1, dim2=2).sum().backward()
    for parameter in matcher.parameters():
        assert parameter.grad.isfinite().all()


@pytest.mark.parametrize("affinity", AFFINITIES)
def test_autocast_does_not_shorten_the_comparison(affinity):
    """The networks run in bfloat16; distance and Sinkhorn on what they give do not."""
    matcher, nodes, slots = build(affinity)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        left, right = matcher.embed_in(nodes), matcher.embed_out(slots)
        assert left.dtype == torch.bfloat16
        log_kernel = matcher.log_kernel(left, right)
        log_plan, error = matcher(nodes, slots)
    assert log_kernel.dtype == log_plan.dtype == error.dtype == torch.float32
    assert torch.equal(log_kernel, matcher.log_kernel(left.float(), right.float()))


def test_sinkhorn_stays_in_float32_under_autocast() -> None:
    config = MatcherConfig(affinity="sphere", temperature=0.1, num_sweeps=200, grad_sweeps=5)
    torch.manual_seed(0)
    matcher = SinkhornMatcher(16, config)
    nodes, slots = torch.randn(4, 6, 16), torch.randn(4, 6, 16)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        narrow = matcher(nodes, slots)
    assert narrow.log_plan.dtype == torch.float32
    assert narrow.marginal_error.max() < 2 * matcher(nodes, slots).marginal_error.max() + 1e-3
