from itertools import permutations

import pytest
import torch

from grale.transport.assignment import assign
from strategies import generator_from


def total(scores, permutation):
    return sum(float(scores[i, j]) for i, j in enumerate(permutation))


@pytest.mark.parametrize("size", [1, 2, 3, 4, 5])
def test_no_permutation_scores_more(size):
    scores = torch.randn(6, size, size, generator=generator_from(size), dtype=torch.float64)
    found = assign(scores)
    assert found.sort(dim=1).values.tolist() == [list(range(size))] * 6
    for matrix, permutation in zip(scores, found.tolist()):
        best = max(permutations(range(size)), key=lambda order, m=matrix: total(m, order))
        assert tuple(permutation) == best


def test_scores_are_rows_to_columns_and_larger_is_better():
    scores = torch.tensor([[[0.0, 9.0, 0.0], [0.0, 0.0, 9.0], [9.0, 0.0, 0.0]]])
    assert assign(scores).tolist() == [[1, 2, 0]]
    assert assign(scores.transpose(1, 2)).tolist() == [[2, 0, 1]]
    assert assign(-scores).tolist() != [[1, 2, 0]]


def test_taking_the_best_column_of_each_row_is_not_enough():
    """Control: where rows compete, the answer is not the row-wise argmax."""
    scores = torch.tensor([[[5.0, 4.0], [5.0, 0.0]]])
    assert scores.argmax(dim=2).tolist() == [[0, 0]]
    assert assign(scores).tolist() == [[1, 0]]


def test_scores_that_require_gradients_or_are_narrow_are_accepted():
    scores = torch.eye(3).flip(0)[None]
    assert assign(scores.requires_grad_()).tolist() == [[2, 1, 0]]
    assert assign(scores.detach().bfloat16()).tolist() == [[2, 1, 0]]


def test_scores_that_are_not_numbers_are_refused():
    with pytest.raises(ValueError, match="invalid"):
        assign(torch.full((1, 2, 2), float("nan")))
