import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from torch.nn.functional import cross_entropy

from grale.transport.partial_fgw import (
    CROSS_ENTROPY,
    SQUARED_ERROR,
    linear_cost,
    move_edges,
    quadratic_cost,
    quadratic_cost_reference,
)
from reference.transport_reference import (
    cross_entropy_reference,
    linear_cost_reference,
    quadratic_cost_loops,
    squared_error_reference,
)
from strategies import generator_from, masks, plans, random_plans, seeds, unhurried

ATOL_FLOAT64 = 1e-10
"""Sums of at most 5^4 terms of order ten, in float64."""
RTOL_FLOAT32 = 2e-5
"""At 12 nodes: relative to the sum of the terms without their signs, 300 roundings of 6e-8."""

LOSSES = [
    pytest.param(CROSS_ENTROPY, cross_entropy_reference, id="cross_entropy"),
    pytest.param(SQUARED_ERROR, squared_error_reference, id="squared_error"),
]


def random_case(seed, num_rows, num_columns, num_classes=3, batch=2, dtype=torch.float64):
    """One-hot truths, real predictions, on nodes and on pairs."""
    generator = generator_from(seed)

    def one_hot(*shape):
        labels = torch.randint(num_classes, shape, generator=generator)
        return torch.nn.functional.one_hot(labels, num_classes).to(dtype)

    def real(*shape):
        return torch.randn(*shape, num_classes, generator=generator, dtype=dtype)

    nodes = one_hot(batch, num_rows), real(batch, num_columns)
    edges = one_hot(batch, num_rows, num_rows), real(batch, num_columns, num_columns)
    return nodes, edges


def loose_plan(seed, num_rows, num_columns, batch=2, dtype=torch.float64):
    """Non-negative, but neither rows nor columns sum to one."""
    return torch.rand(batch, num_rows, num_columns, generator=generator_from(seed), dtype=dtype)


def check_against_loops(plan, nodes, edges, loss, literal):
    linear = torch.stack([linear_cost_reference(*one, literal) for one in zip(plan, *nodes)])
    quadratic = torch.stack([quadratic_cost_loops(*one, literal) for one in zip(plan, *edges)])
    close = {"rtol": 0, "atol": ATOL_FLOAT64}
    torch.testing.assert_close(linear_cost(plan, *nodes, loss), linear, **close)
    torch.testing.assert_close(quadratic_cost(plan, *edges, loss), quadratic, **close)
    torch.testing.assert_close(quadratic_cost_reference(plan, *edges, loss), quadratic, **close)


@pytest.mark.parametrize(("loss", "literal"), LOSSES)
@given(plan=plans(max_nodes=3), seed=seeds)
@unhurried
def test_factored_costs_are_the_literal_sums_for_bistochastic_plans(loss, literal, plan, seed):
    size = plan.shape[1]
    check_against_loops(plan, *random_case(seed, size, size), loss, literal)


@pytest.mark.slow
@pytest.mark.parametrize(("loss", "literal"), LOSSES)
@given(mask=masks((2, 3)), seed=seeds)
@unhurried
def test_factored_costs_are_the_literal_sums_for_masked_rows(loss, literal, mask, seed):
    plan = random_plans(generator_from(seed), 2, 3) * mask[:, :, None]
    check_against_loops(plan, *random_case(seed, 3, 3), loss, literal)


@pytest.mark.parametrize(("loss", "literal"), LOSSES)
@pytest.mark.parametrize(("num_rows", "num_columns"), [(4, 4), (2, 5), (5, 2), (1, 1), (1, 4)])
def test_factored_costs_are_the_literal_sums_for_any_plan(loss, literal, num_rows, num_columns):
    nodes, edges = random_case(0, num_rows, num_columns)
    check_against_loops(loose_plan(1, num_rows, num_columns), nodes, edges, loss, literal)


@pytest.mark.parametrize(("loss", "literal"), LOSSES)
def test_factored_costs_are_the_literal_sums_for_plans_with_signs(loss, literal):
    nodes, edges = random_case(0, 3, 4)
    check_against_loops(loose_plan(1, 3, 4) - 0.5, nodes, edges, loss, literal)


@pytest.mark.parametrize(("loss", "literal"), LOSSES)
def test_soft_truths_are_allowed(loss, literal):
    (true, pred), (true_edges, pred_edges) = random_case(0, 3, 3)
    soft, soft_edges = (x * 0.7 + 0.1 for x in (true, true_edges))
    check_against_loops(loose_plan(1, 3, 3), (soft, pred), (soft_edges, pred_edges), loss, literal)


@pytest.mark.parametrize("loss", [CROSS_ENTROPY, SQUARED_ERROR])
@pytest.mark.parametrize("masked", [False, True])
def test_float32_agrees_with_the_literal_sum_in_float64(loss, masked):
    nodes, edges = random_case(3, 12, 12, batch=4)
    plan = random_plans(generator_from(3), 4, 12)
    if masked:
        plan = plan * (torch.arange(12) < 7)[None, :, None]
    exact = quadratic_cost_reference(plan, *edges, loss)
    found = quadratic_cost(plan.float(), *(x.float() for x in edges), loss)
    torch.testing.assert_close(found.double(), exact, rtol=RTOL_FLOAT32, atol=0)
    exact = (plan * loss(nodes[0][:, :, None], nodes[1][:, None])).sum((1, 2))
    found = linear_cost(plan.float(), *(x.float() for x in nodes), loss)
    torch.testing.assert_close(found.double(), exact, rtol=RTOL_FLOAT32, atol=0)


@pytest.mark.parametrize("loss", [CROSS_ENTROPY, SQUARED_ERROR])
def test_the_two_versions_have_the_same_gradients(loss):
    _, edges = random_case(0, 4, 4)
    gradients = []
    for cost in (quadratic_cost, quadratic_cost_reference):
        leaves = loose_plan(1, 4, 4).requires_grad_(), edges[1].clone().requires_grad_()
        cost(leaves[0], edges[0], leaves[1], loss).sum().backward()
        gradients.append([leaf.grad for leaf in leaves])
    for fast, slow in zip(*gradients):
        torch.testing.assert_close(fast, slow, rtol=0, atol=ATOL_FLOAT64)


def test_a_transposed_plan_costs_something_else():
    """Control: rows of the plan belong to the truth, columns to the prediction."""
    nodes, edges = random_case(0, 4, 4)
    plan = loose_plan(1, 4, 4)
    for cost, pair in ((linear_cost, nodes), (quadratic_cost, edges)):
        right = cost(plan, *pair, SQUARED_ERROR)
        assert (right - cost(plan.transpose(1, 2), *pair, SQUARED_ERROR)).abs().min() > 1e-3
        assert (right - cost(plan, *pair, CROSS_ENTROPY)).abs().min() > 1e-3


@pytest.mark.parametrize("loss", [CROSS_ENTROPY, SQUARED_ERROR])
def test_masked_inputs_cost_nothing_whatever_they_hold(loss):
    nodes, edges = random_case(0, 4, 4)
    plan = loose_plan(1, 4, 4)
    plan[:, 2:] = 0
    other = nodes[0].clone(), edges[0].clone()
    other[0][:, 2:] = 9.0
    other[1][:, 2:] = 9.0
    other[1][:, :, 2:] = 9.0
    close = {"rtol": 0, "atol": ATOL_FLOAT64}
    torch.testing.assert_close(
        linear_cost(plan, other[0], nodes[1], loss), linear_cost(plan, *nodes, loss), **close
    )
    torch.testing.assert_close(
        quadratic_cost(plan, other[1], edges[1], loss), quadratic_cost(plan, *edges, loss), **close
    )
    # Control: with the rows in place it matters.
    full = loose_plan(1, 4, 4)
    changed = quadratic_cost(full, other[1], edges[1], loss)
    assert (changed - quadratic_cost(full, *edges, loss)).abs().min() > 1


@given(seeds, st.integers(1, 4), st.integers(1, 4), st.integers(1, 3))
@unhurried
def test_move_edges_is_the_sum_over_both_ends(seed, num_rows, num_columns, num_classes):
    _, (edges, _) = random_case(seed, num_rows, num_columns, num_classes)
    plan = loose_plan(seed, num_rows, num_columns)
    expected = torch.einsum("bij,bkl,bikc->bjlc", plan, plan, edges)
    torch.testing.assert_close(move_edges(plan, edges), expected, rtol=0, atol=ATOL_FLOAT64)


def test_move_edges_does_not_turn_directed_edges():
    edges = torch.tensor([[[0.0, 1.0], [0.0, 0.0]]], dtype=torch.float64)[..., None]
    swap = torch.tensor([[[0.0, 1.0], [1.0, 0.0]]], dtype=torch.float64)
    assert move_edges(swap, edges)[0, :, :, 0].tolist() == [[0.0, 0.0], [1.0, 0.0]]
    assert torch.equal(move_edges(torch.eye(2, dtype=torch.float64)[None], edges), edges)


def test_cross_entropy_is_that_of_torch():
    logits = torch.randn(7, 4, generator=generator_from(0), dtype=torch.float64)
    labels = torch.randint(4, (7,), generator=generator_from(1))
    one_hot = torch.nn.functional.one_hot(labels, 4).double()
    expected = cross_entropy(logits, labels, reduction="none")
    torch.testing.assert_close(CROSS_ENTROPY(one_hot, logits), expected, rtol=0, atol=1e-13)


def test_squared_error_is_the_squared_distance():
    left, right = torch.tensor([1.0, 2.0]), torch.tensor([4.0, -2.0])
    assert SQUARED_ERROR(left, right) == 25.0
    assert SQUARED_ERROR(left, left) == 0.0
