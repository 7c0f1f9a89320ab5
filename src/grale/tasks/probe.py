"""What vectors know: simple heads on frozen vectors (paper: "Graph classification/Regression").

All contenders learn from the same rows and are tested on the same rows, those that all of them can
take. Errors of a regression are in deviations of the rows learned from; the paper standardises its
targets, too. Classes are ranked, and scored by the area under the ROC curve.

Departures: the paper says neither how C is chosen, nor epsilon nor the kernel's width (heads.py).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from grale.graphs.graph import Graph
from grale.graphs.molecules.molecule import canonical_key
from grale.tasks.contenders import Molecules, Vectors
from grale.tasks.heads import (
    CLASSIFICATION,
    INNER_SPLITS,
    REGRESSION,
    build_head,
    fit_head,
    scores_of,
)
from grale.tasks.held_out import explained
from grale.tasks.splits import LEAST_ROWS, Split, make_splits, shared_rows

AUTO = "auto"
TASKS = (AUTO, REGRESSION, CLASSIFICATION)
NO_TARGET = "the row has no target"
METRICS = {
    REGRESSION: ("MAE, deviations", "MAE", "R2"),
    CLASSIFICATION: ("ROC-AUC", "average precision"),
}
"""Of each task, the one that counts first."""


@dataclass(frozen=True, kw_only=True)
class ProbeConfig:
    """The protocol."""

    head: str = "svm"
    split: str = "random"
    num_splits: int = 5
    task: str = AUTO
    """Classification if the target has two values, otherwise regression, unless given."""

    def __post_init__(self) -> None:
        if self.task not in TASKS:
            raise ValueError(f"task={self.task!r}; expected one of {', '.join(TASKS)}")


class Probed(NamedTuple):
    """What came out, the same splits for every contender."""

    task: str
    rows: NDArray[np.int64]
    """Places of the rows that were compared."""
    reasons: list[str | None]
    """Why each of the others was not; one for every row of the input."""
    splits: list[Split]
    """Places among `rows`."""
    shared: list[int]
    """Tested rows of each split whose molecule was also learned from."""
    scores: dict[str, dict[str, list[float]]]
    """By contender, metric and split."""
    predictions: dict[str, NDArray[np.float64]]
    """By contender: mean prediction of each input row over the splits that tested it, or NaN."""

    def lines(self) -> list[list[str]]:
        """Rows of a table: mean and deviation over the splits."""
        rows = [
            [name, *(spread(found[metric]) for metric in METRICS[self.task])]
            for name, found in self.scores.items()
        ]
        return [["", *METRICS[self.task]], *rows]


def spread(values: Sequence[float]) -> str:
    """Mean and deviation.

    >>> spread([0.1, 0.3])
    '0.200 ± 0.100'
    """
    return f"{np.mean(values):.3f} ± {np.std(values):.3f}"


def probe(
    molecules: Molecules,
    targets: NDArray[np.float64],
    vectors: dict[str, Vectors],
    config: ProbeConfig,
    progress: Callable[[int], object] = lambda done: None,
) -> Probed:
    """Compare contenders; `progress` counts fits, one per contender and split."""
    reasons = left_out(targets, vectors)
    rows = np.array([row for row, why in enumerate(reasons) if why is None], dtype=np.int64)
    check_some(rows, reasons)
    task, values = told_apart(targets[rows], config.task)
    build_head(config.head, task)
    splits = make_splits(
        config.split, [molecules.molecules[row] for row in rows], config.num_splits
    )
    check_classes(splits, values, task)
    keys = _keys(molecules.taken(rows))
    shared = [shared_rows(split, keys) for split in splits]
    scores: dict[str, dict[str, list[float]]] = {}
    predictions: dict[str, NDArray[np.float64]] = {}
    for name, made in vectors.items():
        tested = []
        for split in splits:
            tested.append(_predict(config.head, task, made.values[rows], values, split))
            progress(1)
        scores[name] = _scored(task, values, splits, tested)
        predictions[name] = _averaged(len(targets), rows, splits, tested)
    return Probed(task, rows, reasons, splits, shared, scores, predictions)


def _keys(molecules: Molecules) -> list[str]:
    """Texts that are equal for rows with the same graph."""
    if molecules.keys is not None:
        return molecules.keys
    return [canonical_key(graph) for graph in molecules.graphs if isinstance(graph, Graph)]


def check_targets(targets: NDArray[np.float64], config: ProbeConfig) -> None:
    """Raise for targets that nothing can be learned from, before any vector is computed."""
    known = targets[np.isfinite(targets)]
    check_some(known, [None if np.isfinite(target) else NO_TARGET for target in targets])
    task, _ = told_apart(known, config.task)
    build_head(config.head, task)


def left_out(targets: NDArray[np.float64], vectors: dict[str, Vectors]) -> list[str | None]:
    """Why each row is not compared, or None."""
    no_target = [None if np.isfinite(target) else NO_TARGET for target in targets]
    columns = [*(made.reasons for made in vectors.values()), no_target]
    return [next((why for why in row if why), None) for row in zip(*columns)]


def check_some(rows: NDArray[Any], reasons: Sequence[str | None]) -> None:
    """Raise if too few rows are left, with the commonest reason."""
    if len(rows) >= LEAST_ROWS:
        return
    common = Counter(why for why in reasons if why).most_common(1)
    example = f"; of the others most often: {common[0][0]}" if common else ""
    raise ValueError(
        f"only {len(rows)} of {len(reasons)} rows can be used; at least {LEAST_ROWS} are needed "
        f"for splits of 90 % and 10 %{example}"
    )


def told_apart(targets: NDArray[np.float64], wanted: str) -> tuple[str, NDArray[Any]]:
    """The task and its values: numbers as they are, classes as 0 and 1."""
    found = np.unique(targets)
    if len(found) == 1:
        raise ValueError(
            f"all {len(targets)} rows have the target {found[0]:g}; there is nothing to tell apart"
        )
    if wanted == CLASSIFICATION and len(found) != 2:
        raise ValueError(
            f"the target has {len(found)} values; classification is between two, such as 0 and 1 "
            "(leave out --task for a regression)"
        )
    if wanted == REGRESSION or len(found) != 2:
        return REGRESSION, targets
    return CLASSIFICATION, (targets == found[1]).astype(np.int64)


def check_classes(splits: Sequence[Split], values: NDArray[Any], task: str) -> None:
    """Raise if a side of a split has too little to learn from or to rank."""
    for number, split in enumerate(splits):
        if task == REGRESSION:
            if np.ptp(values[split.train]) == 0:
                raise ValueError(f"split {number}: all rows to learn from have the same target")
            continue
        learned = np.bincount(values[split.train], minlength=2).min()
        if learned < INNER_SPLITS or np.bincount(values[split.test], minlength=2).min() == 0:
            raise ValueError(
                f"split {number}: a class has {learned} rows to learn from or none to test; "
                "give more rows of it, or split in another way"
            )


def _predict(
    head: str, task: str, vectors: NDArray[np.float64], values: NDArray[Any], split: Split
) -> NDArray[np.float64]:
    """Scores of the tested rows; of a regression in the units of the target."""
    learned = values[split.train]
    mean, unit = (learned.mean(), learned.std()) if task == REGRESSION else (0, 1)
    standard = (learned - mean) / unit if task == REGRESSION else learned
    head_of_split = fit_head(build_head(head, task), vectors[split.train], standard)
    return scores_of(head_of_split, vectors[split.test]) * unit + mean


def _scored(
    task: str, values: NDArray[Any], splits: Sequence[Split], tested: Sequence[NDArray[np.float64]]
) -> dict[str, list[float]]:
    """Every metric of every split."""
    from sklearn.metrics import average_precision_score, roc_auc_score

    found: dict[str, list[float]] = {metric: [] for metric in METRICS[task]}
    for split, predicted in zip(splits, tested):
        true = values[split.test]
        if task == REGRESSION:
            error = float(np.abs(predicted - true).mean())
            numbers = [error / values[split.train].std(), error, explained(true, predicted)]
        else:
            numbers = [roc_auc_score(true, predicted), average_precision_score(true, predicted)]
        for metric, number in zip(METRICS[task], numbers):
            found[metric].append(float(number))
    return found


def _averaged(
    count: int,
    rows: NDArray[np.int64],
    splits: Sequence[Split],
    tested: Sequence[NDArray[np.float64]],
) -> NDArray[np.float64]:
    """Mean prediction of each of `count` rows; NaN for those that no split tested."""
    total, times = np.zeros(count), np.zeros(count)
    for split, predicted in zip(splits, tested):
        total[rows[split.test]] += predicted
        times[rows[split.test]] += 1
    return np.where(times > 0, total / np.maximum(times, 1), np.nan)
