"""Curves over a common axis, with bands of uncertainty."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from grale.plot.plain_text import plain, plain_legend

FONT_SIZE = 9
MANY_POINTS = 20  # a curve with more points has no markers
CURVE_COLOURS = ("#336bc7", "#d63d38", "#38a05c", "#e08a1e", "#8f57b5", "#875c3d", "#213369")
CURVE_STYLES = ("solid", "dashed", "dotted")


Band = tuple[ArrayLike, ArrayLike]
"""Lower and upper end of an interval, one per x."""


def curve_figure(
    x: ArrayLike,
    curves: Mapping[str, ArrayLike],
    xlabel: str,
    ylabel: str,
    bands: Mapping[str, Band] | None = None,
) -> Figure:
    """Lines over a common x, such as learning curves; NaN leaves a gap.

    `bands` holds an interval for each named curve, which is shaded.
    """
    if not curves:
        raise ValueError("curves is empty; give at least one named curve")
    places = np.asarray(x, dtype=np.float64).reshape(-1)
    figure = Figure(figsize=(5.4, 3.4), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    lines = []
    for k, (name, values) in enumerate(curves.items()):
        heights = np.asarray(values, dtype=np.float64)
        if heights.shape != places.shape:
            raise ValueError(
                f"curve {name!r} has shape {heights.shape}, but x has {places.shape}; "
                "give one value per x"
            )
        repeat, colour = divmod(k, len(CURVE_COLOURS))
        if bands and name in bands:
            low, high = (np.asarray(end, dtype=np.float64) for end in bands[name])
            axes.fill_between(places, low, high, color=CURVE_COLOURS[colour], alpha=0.18, lw=0)
        lines += axes.plot(
            places,
            heights,
            label=name,
            color=CURVE_COLOURS[colour],
            linestyle=CURVE_STYLES[repeat % len(CURVE_STYLES)],
            linewidth=1.6,
            marker="o" if len(places) <= MANY_POINTS else None,
            markersize=3.5,
        )
    plain(axes.set_xlabel(xlabel), axes.set_ylabel(ylabel))
    axes.grid(color="0.9", linewidth=0.8)
    axes.set_axisbelow(True)
    axes.spines[["top", "right"]].set_visible(False)
    if len(curves) > 1:
        plain_legend(axes, lines, frameon=False, fontsize=FONT_SIZE)
    return figure
