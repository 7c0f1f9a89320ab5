"""What a probe found: all contenders beside each other, and what they said of tested rows."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from numpy.typing import NDArray

from grale.plot.curves import CURVE_COLOURS, CURVE_STYLES, FONT_SIZE
from grale.plot.plain_text import plain, plain_legend

QUIET = "0.6"
LINE_HEIGHT = 0.28  # inches per contender
Scores = Mapping[str, Sequence[float]]
"""One number per split, by contender."""


def parity_figure(
    scores: Scores, metric: str, name: str, true: NDArray[np.float64], said: NDArray[np.float64]
) -> Figure:
    """Left: the errors of all contenders. Right: what contender `name` said over the truth."""
    best = best_of(scores, is_error=True)
    figure, right = _beside_scores(scores, f"{metric} (less is better)", best)
    right.scatter(true, said, s=11, alpha=0.5, linewidths=0, color=CURVE_COLOURS[0])
    ends = [min(true.min(), said.min()), max(true.max(), said.max())]
    right.plot(ends, ends, color=QUIET, linewidth=1)
    right.set_xlabel("measured")
    right.set_ylabel("predicted")
    plain(right.set_title(f"{name}, rows not learned from", size=FONT_SIZE))
    return figure


def roc_figure(
    scores: Scores, metric: str, true: NDArray[np.int64], said: Mapping[str, NDArray[np.float64]]
) -> Figure:
    """Left: the areas of all contenders. Right: their ROC curves over all tested rows."""
    from sklearn.metrics import roc_curve

    best = best_of(scores, is_error=False)
    figure, right = _beside_scores(scores, f"{metric} (more is better)", best)
    curves = []
    for place, (name, ranks) in enumerate(said.items()):
        false_alarms, found, _ = roc_curve(true, ranks)
        repeat, colour = divmod(place, len(CURVE_COLOURS))
        style = CURVE_STYLES[repeat % len(CURVE_STYLES)]
        curves += right.plot(
            false_alarms, found, label=name, color=CURVE_COLOURS[colour], ls=style, linewidth=1.4
        )
    right.plot([0, 1], [0, 1], color=QUIET, linewidth=1)
    right.set_xlabel("share of the others taken for the class")
    right.set_ylabel("share of the class found")
    plain_legend(right, curves, frameon=False, fontsize=FONT_SIZE - 1.5, loc="lower right")
    return figure


def _beside_scores(scores: Scores, label: str, best: str) -> tuple[Figure, Axes]:
    """A figure whose left side has a line for each contender, and its empty right side."""
    if not scores:
        raise ValueError("scores is empty; give at least one contender")
    height = max(3.2, 1.0 + LINE_HEIGHT * len(scores))
    figure = Figure(figsize=(8.4, height), layout="constrained", facecolor="white")
    FigureCanvasAgg(figure)
    left, right = figure.subplots(1, 2, width_ratios=(1.15, 1))
    for place, (name, values) in enumerate(reversed(list(scores.items()))):
        colour = CURVE_COLOURS[0] if name == best else QUIET
        mean, deviation = float(np.mean(values)), float(np.std(values))
        left.plot(values, [place] * len(values), ".", color=colour, alpha=0.45, markersize=5)
        left.errorbar(mean, place, xerr=deviation, fmt="o", color=colour, capsize=3, markersize=6)
    left.set_yticks(range(len(scores)), list(reversed(list(scores))), parse_math=False)
    left.set_ylim(-0.6, len(scores) - 0.4)
    plain(left.set_xlabel(label))
    for axes in (left, right):
        axes.grid(color="0.9", linewidth=0.8)
        axes.set_axisbelow(True)
        axes.spines[["top", "right"]].set_visible(False)
    return figure, right


def best_of(scores: Scores, is_error: bool) -> str:
    """Name of the contender with the best mean."""
    means = {name: float(np.mean(values)) for name, values in scores.items()}
    return min(means, key=means.__getitem__) if is_error else max(means, key=means.__getitem__)
