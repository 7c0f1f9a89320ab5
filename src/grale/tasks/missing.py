"""What a vector does not say: RDKit's descriptors that cannot be read from it.

Each descriptor is regressed from the vectors of three quarters of the molecules and predicted for
the rest. What a ridge cannot read is tried with a support vector machine: if it succeeds, the
vectors hold the number, but not linearly; if not, the number is missing, and training should teach
it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from grale.graphs.molecules.descriptors import all_names
from grale.tasks.contenders import FingerprintMaker, Molecules, Vectors
from grale.tasks.heads import FURTHEST, build_head
from grale.tasks.held_out import explained
from grale.tasks.probe import check_some

FITTED_SHARE = 0.75
LEAST_VARIED = 20  # rows, among those predicted, that differ from the commonest value
MOST_ROWS = 6_000


class Unread(NamedTuple):
    """One descriptor, and the share of its variance that heads explain."""

    name: str
    ridge: float
    svm: float


class Missing(NamedTuple):
    """What was found of all descriptors."""

    worst: list[Unread]
    """Worst first."""
    ridge: dict[str, float]
    """R2 of every descriptor that varies enough."""
    num_rows: int
    constant: list[str]
    """Descriptors that vary too little among these molecules."""

    def median(self) -> float:
        """Of the R2 of all descriptors."""
        return float(np.median(list(self.ridge.values())))


def num_ticks(vectors: Vectors, count: int = 10) -> int:
    """How far `what_is_missing` tells that it got when it is done."""
    return min(sum(why is None for why in vectors.reasons), MOST_ROWS) + count


def what_is_missing(
    molecules: Molecules,
    vectors: Vectors,
    count: int = 10,
    progress: Callable[[int], object] = lambda done: None,
    seed: int = 0,
) -> Missing:
    """Find the descriptors that are hardest to predict; `progress` counts molecules and fits."""
    rows = np.flatnonzero([why is None for why in vectors.reasons])
    check_some(rows, vectors.reasons)
    rows = np.random.default_rng(seed).permutation(rows)[:MOST_ROWS]
    chosen = molecules.taken(rows)
    x = vectors.values[rows]
    y = _standardised(FingerprintMaker("rdkit")(chosen, progress).values)
    fitted = int(FITTED_SHARE * len(rows))
    varied = _varies(y[fitted:]) & _varies(y[:fitted])
    if not varied.any():
        raise ValueError(
            f"no descriptor varies enough among {len(rows)} molecules; give more of them"
        )
    names = np.array(all_names())
    ridge = build_head("ridge").set_params(ridgecv__alpha_per_target=True)
    said = ridge.fit(x[:fitted], y[:fitted, varied]).predict(x[fitted:])
    shares = explained(y[fitted:, varied], said)
    order = np.argsort(shares)[:count]
    worst = []
    for place in order:
        values = y[:, varied][:, place]
        machine = build_head("svm").fit(x[:fitted], values[:fitted])
        bent = float(explained(values[fitted:], machine.predict(x[fitted:])))
        worst.append(Unread(str(names[varied][place]), float(shares[place]), bent))
        progress(1)
    by_name = dict(zip(names[varied].tolist(), shares.tolist()))
    return Missing(worst, by_name, len(rows), names[~varied].tolist())


def _standardised(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Descriptors in deviations, cut as vectors are; unknown ones are the mean."""
    spread = np.nanstd(values, axis=0)
    standard = (values - np.nanmean(values, axis=0)) / np.where(spread > 0, spread, 1)
    return np.nan_to_num(standard, nan=0.0).clip(-FURTHEST, FURTHEST)


def _varies(values: NDArray[np.float64]) -> NDArray[np.bool_]:
    """Whether enough rows of each column differ from its commonest value."""
    commonest = [np.unique(column, return_counts=True)[1].max() for column in values.T]
    return len(values) - np.array(commonest) >= LEAST_VARIED
