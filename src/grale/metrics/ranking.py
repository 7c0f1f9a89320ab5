"""How well predicted distances rank candidates (as in the literature on graph similarity search).

Not in the paper. Ties are common among edit distances. So correlations use mid-ranks (tau-b),
and precision at k is the mean over all orders of tied predictions; every candidate as near as
the k-th counts as right.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import kendalltau, spearmanr


def spearman(true: ArrayLike, predicted: ArrayLike) -> float:
    """Correlation of ranks; 0 if a side is constant."""
    return _or_zero(true, predicted, lambda x, y: spearmanr(x, y).statistic)


def kendall(true: ArrayLike, predicted: ArrayLike) -> float:
    """Share of concordant pairs minus that of discordant ones (tau-b); 0 if a side is constant."""
    return _or_zero(true, predicted, lambda x, y: kendalltau(x, y).statistic)


def precision_at(k: int, true: ArrayLike, predicted: ArrayLike) -> float:
    """Share of the k candidates predicted nearest that are among the truly nearest.

    >>> precision_at(2, [1, 2, 2, 5], [1, 9, 3, 3])  # one for sure, one of two tied
    0.75
    """
    true, predicted = np.asarray(true), np.asarray(predicted)
    if not 1 <= k <= len(true) or true.shape != predicted.shape:
        raise ValueError(f"k={k} of {len(true)} true and {len(predicted)} predicted distances")
    is_near = true <= np.sort(true)[k - 1]
    edge = np.sort(predicted)[k - 1]
    inside, tied = predicted < edge, predicted == edge
    expected = is_near[inside].sum() + (k - inside.sum()) * is_near[tied].mean()
    return float(expected / k)


def _or_zero(
    true: ArrayLike, predicted: ArrayLike, correlation: Callable[[Any, Any], Any]
) -> float:
    true, predicted = np.asarray(true), np.asarray(predicted)
    if np.ptp(true) == 0 or np.ptp(predicted) == 0:
        return 0.0
    return float(correlation(true, predicted))
