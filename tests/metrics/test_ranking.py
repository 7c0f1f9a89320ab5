"""Rankings against the definitions, counted by hand."""

from itertools import combinations, permutations

import numpy as np
import pytest

from grale.metrics.ranking import kendall, precision_at, spearman


@pytest.mark.parametrize("seed", range(5))
def test_precision_is_the_mean_over_all_orders_of_tied_predictions(seed: int) -> None:
    rng = np.random.default_rng(seed)
    true, predicted = rng.integers(0, 4, 6), rng.integers(0, 3, 6)
    for k in (1, 3, 5):
        near = {i for i in range(6) if true[i] <= sorted(true)[k - 1]}
        shares = [
            len(near & set(order[:k])) / k
            for order in permutations(range(6))
            if all(predicted[a] <= predicted[b] for a, b in zip(order, order[1:]))
        ]
        assert precision_at(k, true, predicted) == pytest.approx(np.mean(shares))


def test_kendall_counts_pairs() -> None:
    rng = np.random.default_rng(0)
    true, predicted = rng.integers(0, 5, 12), rng.integers(0, 5, 12)
    signs = [
        (np.sign(true[a] - true[b]), np.sign(predicted[a] - predicted[b]))
        for a, b in combinations(range(12), 2)
    ]
    together = sum(x * y for x, y in signs)
    expected = together / np.sqrt(sum(x != 0 for x, _ in signs) * sum(y != 0 for _, y in signs))
    assert kendall(true, predicted) == pytest.approx(expected)


def test_a_perfect_and_a_reversed_ranking() -> None:
    true = [3, 1, 4, 1, 5]
    assert spearman(true, [30, 10, 40, 10, 50]) == pytest.approx(1)
    assert spearman(true, [-3, -1, -4, -1, -5]) == pytest.approx(-1)
    assert kendall(true, true) == pytest.approx(1)


def test_a_constant_prediction_ranks_nothing() -> None:
    assert spearman([1, 2, 3], [5, 5, 5]) == 0
    assert kendall([1, 2, 3], [5, 5, 5]) == 0
    assert precision_at(1, [1, 2, 3, 4], [5, 5, 5, 5]) == pytest.approx(0.25)


def test_k_must_fit() -> None:
    with pytest.raises(ValueError, match="k=4 of 3"):
        precision_at(4, [1, 2, 3], [1, 2, 3])
