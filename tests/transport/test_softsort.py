import math

import pytest
import torch
from hypothesis import given

from grale.graphs.permute import inverse_permutation, permutation_to_plan
from grale.transport.assignment import assign
from grale.transport.softsort import soft_sort
from strategies import generator_from, seeds, unhurried

ATOL_FLOAT64 = 1e-12
"""A handful of exponentials of order one, in float64."""


def random_scores(seed, size=5):
    return torch.randn(3, size, generator=generator_from(seed), dtype=torch.float64)


@pytest.mark.slow
@pytest.mark.parametrize("temperature", [0.3, 1.0, 4.0])
@given(seed=seeds)
@unhurried
def test_entries_are_the_equation(temperature, seed):
    scores = random_scores(seed)
    found = soft_sort(scores, temperature)
    for row, values in zip(found, scores.tolist()):
        for rank, at_rank in enumerate(sorted(values, reverse=True)):
            weights = [math.exp(-abs(at_rank - value) / temperature) for value in values]
            expected = torch.tensor(weights, dtype=torch.float64) / sum(weights)
            torch.testing.assert_close(row[rank], expected, rtol=0, atol=ATOL_FLOAT64)


@given(seed=seeds)
@unhurried
def test_rows_sum_to_one_and_columns_need_not(seed):
    found = soft_sort(random_scores(seed), temperature=1.0)
    ones = torch.ones(3, 5, dtype=torch.float64)
    torch.testing.assert_close(found.sum(dim=2), ones, rtol=0, atol=ATOL_FLOAT64)
    assert (found.sum(dim=1) - 1).abs().max() > 1e-6  # control


def test_a_small_temperature_gives_the_permutation_that_sorts():
    scores = torch.tensor([[0.1, 0.5, -2.0, 0.4], [3.0, 2.0, 1.0, 0.0]])
    order = scores.argsort(dim=1, descending=True)
    assert torch.equal(soft_sort(scores, temperature=1e-4), permutation_to_plan(order))
    assert order[0].tolist() == [1, 3, 0, 2]


def test_a_large_temperature_gives_the_uniform_matrix():
    found = soft_sort(random_scores(0), temperature=1e9)
    torch.testing.assert_close(found, torch.full_like(found, 0.2), rtol=0, atol=1e-6)


@given(seed=seeds)
@unhurried
def test_the_best_assignment_is_the_order_of_the_scores(seed):
    """What makes sorting the Hungarian projection of the relaxation."""
    scores = random_scores(seed)
    ranks = inverse_permutation(scores.argsort(dim=1, descending=True))
    assert torch.equal(assign(soft_sort(scores, temperature=1.0).transpose(1, 2)), ranks)


def test_where_scores_tie_the_best_item_of_each_rank_is_no_permutation():
    """Control: why a hard permutation is not read off row by row."""
    found = soft_sort(torch.tensor([[2.0, 1.0, 2.0]]), temperature=1.0)
    assert found.argmax(dim=2)[0].unique().numel() == 2
    assert assign(found)[0].unique().numel() == 3


@given(seed=seeds)
@unhurried
def test_reordering_the_items_reorders_the_columns_only(seed):
    scores = random_scores(seed)
    order = torch.randperm(5, generator=generator_from(seed))
    moved = soft_sort(scores[:, order], temperature=0.7)
    expected = soft_sort(scores, temperature=0.7)[:, :, order]
    torch.testing.assert_close(moved, expected, rtol=0, atol=ATOL_FLOAT64)


def test_items_that_tie_share_their_ranks_and_have_finite_gradients():
    scores = torch.tensor([[2.0, 1.0, 2.0]], requires_grad=True)
    found = soft_sort(scores, temperature=1e-3)
    assert found[0].tolist() == [[0.5, 0.0, 0.5], [0.5, 0.0, 0.5], [0.0, 1.0, 0.0]]
    found.square().sum().backward()
    assert scores.grad.isfinite().all()


def test_gradients_are_the_numerical_ones():
    scores = random_scores(1).requires_grad_()
    assert torch.autograd.gradcheck(lambda x: soft_sort(x, 0.5), scores)
    weights = torch.arange(25, dtype=torch.float64).reshape(5, 5)
    (grad,) = torch.autograd.grad((soft_sort(scores, 0.5) * weights).sum(), scores)
    assert grad.abs().max() > 0.1


def test_half_precision_is_widened():
    assert soft_sort(torch.tensor([[1.0, 2.0]]).bfloat16(), 1.0).dtype == torch.float32


@pytest.mark.parametrize("temperature", [0.0, -1.0])
def test_a_temperature_that_is_not_positive_is_refused(temperature):
    with pytest.raises(ValueError, match="temperature must be above 0, got"):
        soft_sort(torch.zeros(1, 2), temperature)
