"""How much of held-out values is predicted: one measure for every probe and predictor.

    r2 = 1 - sum_i (y_i - y_hat_i)^2 / sum_i (y_i - c)^2

c is the mean of the held-out values, or what else would be guessed without a vector.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def explained(
    true: NDArray[np.floating], predicted: NDArray[np.floating], guess: float | None = None
) -> NDArray[np.float64]:
    """R2 of one column of values, or of each of several; `guess` is c above.

    Values that are all `guess` have nothing to explain: 1 if all are predicted, otherwise 0.

    >>> float(explained(np.array([1.0, 2.0, 3.0]), np.array([1.0, 2.0, 2.0])))
    0.5
    """
    true, predicted = np.asarray(true, np.float64), np.asarray(predicted, np.float64)
    missed = ((true - predicted) ** 2).sum(axis=0)
    spread = ((true - (true.mean(axis=0) if guess is None else guess)) ** 2).sum(axis=0)
    varies: Any = spread > 0
    return np.where(varies, 1 - missed / np.where(varies, spread, 1), 1.0 * (missed == 0))
