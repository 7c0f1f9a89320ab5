"""Compiled rounds against plain numpy, pair by pair."""

import numpy as np
import pytest

from grale.transport.rounds import graduate

ATOL = 1e-9  # float64, sums in another order
SWEEPS, WEIGHT = 6, 3.0


def plain_rounds(scores, nodes, first, second, rounds):
    """The same for one pair, as written at the top of `rounds.py`."""
    found = scores
    for number in range(1, rounds + 1):
        plan = np.exp(found - found.max())
        for _ in range(SWEEPS):
            plan = plan / plan.sum(axis=0)
            plan = plan / plan.sum(axis=1, keepdims=True)
        costs = nodes.copy()
        for a, b in zip(first, second):
            differ = a[:, None, :, None] != b[None, :, None, :]
            costs += np.einsum("ijkl,kl->ij", differ, plan)
        found = scores - WEIGHT * number / rounds * costs
    return found


@pytest.mark.parametrize("layers", [1, 2])
@pytest.mark.parametrize("rounds", [0, 1, 4])
def test_every_pair_of_a_batch_equals_plain_numpy(
    rounds: int, layers: int, rng: np.random.Generator
) -> None:
    scores = rng.normal(size=(3, 5, 5))
    nodes = rng.integers(0, 2, (3, 5, 5)).astype(float)
    first, second = rng.integers(0, 3, (2, 3, layers, 5, 5))
    found = graduate(scores, nodes, first, second, 3, rounds, SWEEPS, WEIGHT)
    for row in range(3):
        expected = plain_rounds(scores[row], nodes[row], first[row], second[row], rounds)
        np.testing.assert_allclose(found[row], expected, atol=ATOL)


def test_scores_too_far_apart_for_exponentials_stay_numbers() -> None:
    scores = np.zeros((1, 3, 3))
    scores[0, 0, :] = scores[0, :, 0] = -2000.0
    edges = np.zeros((1, 1, 3, 3), dtype=np.int64)
    found = graduate(scores, np.zeros((1, 3, 3)), edges, edges, 1, 2, SWEEPS, WEIGHT)
    assert np.isfinite(found).all()
