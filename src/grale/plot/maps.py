"""A map of a dataset: one point per graph (paper: figure of the latent space)."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import BoundaryNorm
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from grale.plot.colouring import Colouring, kinds_of
from grale.plot.plain_text import plain, plain_legend

COLOUR_MAP = "viridis"
FEW_VALUES = 16  # up to this many integers get one step of colour each


def map_figure(
    points: ArrayLike, values: ArrayLike, value_name: str, axis_names: tuple[str, str]
) -> Figure:
    """Scatter of points (n, 2), coloured by one number or text each; points without are grey."""
    if Colouring(value_name, values).numbers() is None:
        return _kinds_figure(points, Colouring(value_name, values), axis_names)
    places, colours = checked_points(points, values)
    figure = Figure(figsize=(6.4, 5.0), layout="constrained", facecolor="white")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    known = np.isfinite(colours)
    size = float(np.clip(20_000 / max(len(places), 1), 3, 30))
    steps = whole_steps(colours[known])
    axes.scatter(places[~known, 0], places[~known, 1], s=size, color="0.8", linewidths=0)
    drawn = axes.scatter(
        places[known, 0],
        places[known, 1],
        c=colours[known],
        s=size,
        cmap=COLOUR_MAP,
        norm=None if steps is None else BoundaryNorm(np.append(steps, steps[-1] + 1) - 0.5, 256),
        linewidths=0,
        alpha=0.85,
    )
    bar = figure.colorbar(drawn, ax=axes, shrink=0.9)
    plain(bar.ax.set_ylabel(value_name))
    assert bar.solids is not None  # the colours of the bar
    bar.solids.set_alpha(1)
    if steps is not None:
        bar.set_ticks(steps.tolist(), labels=[f"{value:.0f}" for value in steps])
        bar.minorticks_off()
    _name_axes(axes, axis_names)
    return figure


def _kinds_figure(points: ArrayLike, colouring: Colouring, axis_names: tuple[str, str]) -> Figure:
    """Scatter with a colour per text; rare ones share a colour."""
    places, texts = np.asarray(points, dtype=np.float64), np.asarray(colouring.values)
    if places.ndim != 2 or places.shape[1] != 2 or texts.shape != (len(places),):
        raise ValueError(
            f"points must be (n, 2) with one value each, got {places.shape} and {texts.shape}"
        )
    figure = Figure(figsize=(6.4, 5.0), layout="constrained", facecolor="white")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    size = float(np.clip(20_000 / max(len(places), 1), 3, 30))
    codes, kinds = kinds_of([str(text) for text in texts])
    dots = []
    for number, (name, colour) in enumerate(kinds):
        x, y = places[codes == number].T
        dots.append(axes.scatter(x, y, s=size, color=colour, linewidths=0, label=name))
    plain_legend(
        axes, dots, title=colouring.name, frameon=False, fontsize=8, markerscale=1.5,
        loc="center left", bbox_to_anchor=(1.01, 0.5),
    )  # fmt: skip
    _name_axes(axes, axis_names)
    return figure


def _name_axes(axes: Axes, names: tuple[str, str]) -> None:
    plain(axes.set_xlabel(names[0]), axes.set_ylabel(names[1]))
    axes.set_xticks([])
    axes.set_yticks([])
    axes.spines[["top", "right"]].set_visible(False)


def whole_steps(values: ArrayLike) -> np.ndarray | None:
    """Every integer from the smallest to the largest value; None if they are many.

    >>> whole_steps([3.0, 5.0, 3.0]), whole_steps([0.5, 1.0])
    (array([3., 4., 5.]), None)
    """
    found = np.unique(np.asarray(values, dtype=np.float64))
    is_few = 1 <= found[-1] - found[0] < FEW_VALUES
    if not is_few or (found != found.round()).any():
        return None
    return np.arange(found[0], found[-1] + 1)


def checked_points(points: ArrayLike, values: ArrayLike) -> tuple[np.ndarray, np.ndarray]:
    """Arrays of n positions and n values, or an error that says what is wrong."""
    places = np.asarray(points, dtype=np.float64)
    colours = np.asarray(values, dtype=np.float64)
    if places.ndim != 2 or places.shape[1] != 2 or colours.shape != (len(places),):
        raise ValueError(
            f"points must be (n, 2) with one value each, got {places.shape} and {colours.shape}"
        )
    if not np.isfinite(colours).any():
        raise ValueError("no graph has a value to colour by")
    return places, colours
