import math

import pytest
import torch
from hypothesis import given

from grale.transport.aligned import aligned_linear_cost, aligned_quadratic_cost, plan_entropy
from grale.transport.partial_fgw import CROSS_ENTROPY, SQUARED_ERROR
from reference.transport_reference import (
    aligned_cost_reference,
    cross_entropy_reference,
    squared_error_reference,
)
from strategies import generator_from, masks, plans, seeds, unhurried

ATOL_FLOAT64 = 1e-10
"""Sums of at most 5^4 terms of order ten, in float64."""
CERTAIN = -1e4
"""Logarithm of an entry that is zero in float32 and in float64."""

LOSSES = [
    pytest.param(CROSS_ENTROPY, cross_entropy_reference, id="cross_entropy"),
    pytest.param(SQUARED_ERROR, squared_error_reference, id="squared_error"),
]


def hard_log_plan(orders):
    one_hot = torch.nn.functional.one_hot(orders, orders.shape[1]).double()
    return CERTAIN * (1 - one_hot)


@pytest.mark.parametrize(("loss", "literal"), LOSSES)
@pytest.mark.parametrize(("num_rows", "num_columns"), [(3, 3), (2, 4), (1, 1)])
@given(seed=seeds)
@unhurried
def test_costs_are_the_literal_sums(loss, literal, num_rows, num_columns, seed):
    generator = generator_from(seed)
    plan = torch.rand(2, num_rows, num_columns, generator=generator, dtype=torch.float64)
    mask = torch.randint(2, (2, num_rows), generator=generator).double()
    nodes = [
        torch.rand(2, n, 3, generator=generator, dtype=torch.float64)
        for n in (num_rows, num_columns)
    ]
    nodes[0] = nodes[0] / nodes[0].sum(-1, keepdim=True)
    edges = [
        torch.rand(2, n, n, 3, generator=generator, dtype=torch.float64)
        for n in (num_rows, num_columns)
    ]
    edges[0] = edges[0] / edges[0].sum(-1, keepdim=True)
    literal_linear = torch.stack(
        [
            sum(
                mask[b, i] * literal(nodes[0][b, i], plan[b, i] @ nodes[1][b])
                for i in range(num_rows)
            )
            for b in range(2)
        ]
    )
    literal_quadratic = torch.stack(
        [aligned_cost_reference(*one, literal, m) for *one, m in zip(plan, *edges, mask)]
    )
    close = {"rtol": 0, "atol": ATOL_FLOAT64}
    torch.testing.assert_close(
        aligned_linear_cost(plan, *nodes, loss, mask), literal_linear, **close
    )
    torch.testing.assert_close(
        aligned_quadratic_cost(plan, *edges, loss, mask), literal_quadratic, **close
    )


@pytest.mark.slow
@given(mask=masks((2, 3)), seed=seeds)
@unhurried
def test_masked_inputs_cost_nothing(mask, seed):
    generator = generator_from(seed)
    plan = torch.rand(2, 3, 3, generator=generator, dtype=torch.float64)
    true, pred = (torch.rand(2, 3, 3, 2, generator=generator, dtype=torch.float64) for _ in "ab")
    is_real = mask[:, :, None] & mask[:, None, :]
    other = torch.where(is_real[..., None], true, 7.0)
    costs = [
        aligned_quadratic_cost(plan, x, pred, SQUARED_ERROR, mask.double()) for x in (true, other)
    ]
    torch.testing.assert_close(*costs, rtol=0, atol=ATOL_FLOAT64)
    # Control: without the mask the padding counts.
    ones = torch.ones(2, 3, dtype=torch.float64)
    unmasked = [aligned_quadratic_cost(plan, x, pred, SQUARED_ERROR, ones) for x in (true, other)]
    assert (unmasked[0] - unmasked[1]).abs().max() > 1


def test_the_entropy_of_a_permutation_is_zero():
    log_plan = hard_log_plan(torch.tensor([[2, 0, 1], [0, 1, 2]]))
    assert plan_entropy(log_plan, torch.ones(2, 3).double()).tolist() == [0.0, 0.0]


def test_the_entropy_of_entries_that_are_exactly_zero_is_zero():
    log_plan = torch.eye(3, dtype=torch.float64)[None].log().requires_grad_()
    entropy = plan_entropy(log_plan, torch.ones(1, 3).double())
    entropy.sum().backward()
    assert entropy.tolist() == [0.0]
    assert log_plan.grad.isfinite().all()


def test_the_entropy_of_the_uniform_plan_is_log_n_for_each_real_node():
    log_plan = torch.full((1, 4, 4), -math.log(4), dtype=torch.float64)
    entropy = plan_entropy(log_plan, torch.tensor([[1.0, 1.0, 1.0, 0.0]]).double())
    assert entropy.item() == pytest.approx(3 * math.log(4), abs=1e-12)


@pytest.mark.slow
@given(plans(max_nodes=5))
@unhurried
def test_the_entropy_of_a_soft_plan_is_positive_and_at_most_n_log_n(plan):
    size = plan.shape[1]
    entropy = plan_entropy(plan.log(), torch.ones(plan.shape[:2]).double())
    if size > 1:
        assert (entropy > 0).all()
    assert (entropy <= size * math.log(size) + 1e-12).all()


def test_the_rows_of_a_plan_may_be_fewer_than_its_columns():
    """As in the loss, where the graphs of a batch have fewer nodes than there are slots."""
    log_plan = torch.full((1, 2, 4), -math.log(4), dtype=torch.float64)
    entropy = plan_entropy(log_plan, torch.ones(1, 2).double())
    assert entropy.item() == pytest.approx(2 * math.log(4), abs=1e-12)
