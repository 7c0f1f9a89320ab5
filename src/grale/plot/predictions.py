"""Predicted graphs beside the true ones and, if there are any, the images they come from."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.typing import ColorType
from numpy.typing import ArrayLike, NDArray

from grale.graphs.graph import Graph
from grale.plot.changes import both_ways, differing_edges
from grale.plot.draw import draw_graph
from grale.plot.figures import caption_below, panel_grid, wrapped
from grale.plot.layout import layout_along
from grale.plot.palette import palette_for

PANEL = (1.5, 1.5)  # inches
MARGIN = 0.06  # around an image, of its side


def prediction_figure(
    images: Sequence[NDArray[np.uint8]],
    targets: Sequence[Graph],
    predictions: Sequence[Graph],
    mappings: Sequence[ArrayLike],
    captions: Sequence[str],
    exact: Sequence[bool],
    palette: Sequence[ColorType] | None = None,
) -> Figure:
    """Three rows: images, their graphs, and the predictions; what differs is red.

    `mappings[k][i]` is the node of `predictions[k]` for node i of `targets[k]`, or -1.
    """
    lists = (images, targets, predictions, mappings, captions, exact)
    if not targets or len({len(each) for each in lists}) > 1:
        raise ValueError("give one image, target, prediction, mapping, caption and mark per column")
    colours = palette or palette_for(
        1 + max(int(graph.node_labels.max()) for graph in [*targets, *predictions])
    )
    notes = wrapped(captions, exact, len(targets))
    figure, axes = panel_grid(3, len(targets), notes, PANEL, ("image", "graph", "prediction"))
    for k, (image, target, prediction) in enumerate(zip(images, targets, predictions)):
        _draw_image(axes[0, k], image)
        there, back = both_ways(target, prediction, mappings[k])
        first, second = layout_along([target, prediction], [back])
        marked = differing_edges(target, prediction, there)
        draw_graph(axes[1, k], target, first, colours, marked=marked)
        wrong = differing_edges(prediction, target, back)
        draw_graph(axes[2, k], prediction, second, colours, marked=wrong)
        caption_below(axes[2, k], notes[k], exact[k])
    return figure


def _draw_image(axes: Axes, image: NDArray[np.uint8]) -> None:
    """Show pixels with a margin around them."""
    low, high = -0.5 - MARGIN * len(image), (1 + MARGIN) * len(image) - 0.5
    axes.imshow(image, interpolation="nearest")
    axes.set_xlim(low, high)
    axes.set_ylim(high, low)
    axes.set_axis_off()
