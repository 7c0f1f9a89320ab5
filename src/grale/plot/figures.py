"""Figures of several graphs (paper: figures of "Qualitative properties of GRALE").

Departures: matched nodes are drawn at the same position, so that differences can be seen.
"""

from __future__ import annotations

import io
import os
import textwrap
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from numpy.typing import ArrayLike

from grale.files import write_whole
from grale.graphs.graph import Graph
from grale.plot.changes import both_ways
from grale.plot.graph_look import GraphLook
from grale.plot.palette import shared_palette
from grale.plot.panel import Look, Panel
from grale.plot.plain_text import plain
from grale.plot.strip import panels_along

MOST_WIDTH = 15.5  # inches; wider strips are broken into rows
MOST_DOTS = 30_000  # along a side of a PNG; larger figures have fewer dots per inch
LINE_HEIGHT = 0.16  # inches per line of a caption
LINE_LENGTH = 28  # letters that fit below one graph
ROW_LABEL_WIDTH = 0.3  # inches
FONT_SIZE = 9
DOTS_PER_INCH = 200
TEXT_COLOUR = "0.2"
EXACT_COLOUR, INEXACT_COLOUR = "#1a7f37", "#c0392b"
FORMATS = {".png": "png", ".svg": "svg"}


def reconstruction_figure(
    originals: Sequence[Graph],
    reconstructions: Sequence[Graph],
    mappings: Sequence[ArrayLike] | None = None,
    captions: Sequence[str] | None = None,
    exact: Sequence[bool | np.bool_] | None = None,
    look: Look | None = None,
) -> Figure:
    """Two rows: inputs above, their reconstructions below; what differs is marked.

    Parameters
    ----------
    originals, reconstructions
        Graphs, in the same order.
    mappings
        ``mappings[k][i]`` is the node of ``reconstructions[k]`` for node i of
        ``originals[k]``, or -1; matched nodes are drawn at the same place.
    captions
        One per pair, below it.
    exact
        Whether each reconstruction is right: its caption is green with a tick, or red with
        a cross.
    look
        How graphs are drawn (`grale.plot.look.look_of`); by default as coloured discs.
    """
    num_pairs = _at_least_one(originals, "originals")
    for name, values in (
        ("reconstructions", reconstructions),
        ("mappings", mappings),
        ("captions", captions),
        ("exact", exact),
    ):
        _check_length(name, values, num_pairs, "originals")
    look = look or GraphLook(shared_palette([*originals, *reconstructions]))
    above, below = [], []
    for k, pair in enumerate(zip(originals, reconstructions)):
        mapping = None if mappings is None else mappings[k]
        panels = _pair_of_panels(look, *pair, mapping, f"mappings[{k}]")
        above.append(panels[0])
        below.append(panels[1])
    notes = wrapped(captions, exact, num_pairs)
    frame = look.frame([*above, *below])
    figure, axes = panel_grid(2, num_pairs, notes, frame.size, ("input", "reconstruction"))
    for place, panel, box in zip(axes.flat, [*above, *below], frame.boxes):
        look.draw(place, panel, box, frame.radius)
    for k, note in enumerate(notes):
        caption_below(axes[1, k], note, None if exact is None else bool(exact[k]))
    return figure


def _pair_of_panels(
    look: Look, original: Graph, reconstruction: Graph, mapping: ArrayLike | None, name: str
) -> tuple[Panel, Panel]:
    places = look.pair(original, reconstruction, mapping, name)
    if mapping is None:
        return Panel(original, places[0]), Panel(reconstruction, places[1])
    forth, back = both_ways(original, reconstruction, mapping)
    return (
        Panel(original, places[0], look.differences(original, reconstruction, forth)),
        Panel(reconstruction, places[1], look.differences(reconstruction, original, back)),
    )


def interpolation_figure(
    graphs: Sequence[Graph],
    mappings: Sequence[ArrayLike] | None = None,
    captions: Sequence[str] | None = None,
    look: Look | None = None,
) -> Figure:
    """Draw a row of graphs in order, or several rows if they are many.

    Parameters
    ----------
    graphs
        The frames.
    mappings
        ``mappings[t][i]`` is the node of ``graphs[t]`` that node i of ``graphs[t + 1]``
        corresponds to, or -1; with it, nodes keep their place along the row, and in molecules what
        is new is highlighted.
    captions
        One per graph, below it.
    look
        How graphs are drawn (`grale.plot.look.look_of`); by default as coloured discs.
    """
    num_graphs = _at_least_one(graphs, "graphs")
    _check_length("captions", captions, num_graphs, "graphs")
    look = look or GraphLook(shared_palette(graphs))
    panels = panels_along(graphs, mappings, look)
    notes = wrapped(captions, None, num_graphs)
    frame = look.frame(panels)
    figure, axes = panel_grid(1, num_graphs, notes, frame.size)
    for place, panel, box, note in zip(axes.flat, panels, frame.boxes, notes):
        look.draw(place, panel, box, frame.radius)
        caption_below(place, note)
    return figure


def picture_format(path: str | os.PathLike[str]) -> str:
    """Format of a picture by its suffix, or a ValueError; verbs ask before they work for hours."""
    suffix = Path(path).suffix.lower()
    if suffix not in FORMATS:
        raise ValueError(f"cannot save {Path(path).name!r}; expected a suffix in {sorted(FORMATS)}")
    return FORMATS[suffix]


def save_figure(figure: Figure, path: str | os.PathLike[str]) -> Path:
    """Save as PNG or SVG, by the suffix of `path`, in one step; folders are made as needed."""
    return write_whole(path, rendered(figure, picture_format(path)))


def rendered(figure: Figure, kind: str = "png") -> bytes:
    """Bytes of the figure as "png" or "svg", without dates or program names."""
    buffer = io.BytesIO()
    metadata = {"Software": None} if kind == "png" else {"Date": None, "Creator": None}
    dots = min(DOTS_PER_INCH, MOST_DOTS / max(figure.get_size_inches()))
    figure.savefig(buffer, format=kind, dpi=dots, facecolor="white", metadata=metadata)
    return buffer.getvalue()


def wrapped(
    captions: Sequence[str] | None, exact: Sequence[bool | np.bool_] | None, num_panels: int
) -> list[str]:
    """Captions that start with a tick or a cross, broken into short lines."""
    texts = [""] * num_panels if captions is None else list(captions)
    if exact is not None:
        texts = [f"{'✓' if is_exact else '✗'} {text}" for text, is_exact in zip(texts, exact)]
    lines = [[textwrap.fill(line, LINE_LENGTH) for line in text.splitlines()] for text in texts]
    return ["\n".join(text).strip() for text in lines]


def panel_grid(
    num_rows: int,
    count: int,
    notes: Sequence[str],
    size: tuple[float, float],
    row_names: Sequence[str] = (),
) -> tuple[Figure, np.ndarray]:
    """A white figure, and axes (num_rows, count) with room for captions below the last row.

    If the figure would be wider than MOST_WIDTH, it has several blocks of rows.
    """
    width, height = size
    left = ROW_LABEL_WIDTH if row_names else 0.0
    num_lines = max((note.count("\n") + 1 for note in notes if note), default=0)
    bottom = LINE_HEIGHT * (num_lines + 1) if num_lines else 0.0
    most = max(1, int((MOST_WIDTH - left) / width))
    num_blocks = -(-count // most)
    columns = -(-count // num_blocks)
    block = num_rows * height + bottom
    total = left + columns * width, num_blocks * block
    figure = Figure(figsize=total, facecolor="white")
    FigureCanvasAgg(figure)
    axes = np.empty((num_rows, count), dtype=object)
    for row, k in np.ndindex(num_rows, count):
        x, y = left + k % columns * width, (k // columns) * block + (row + 1) * height
        place = (x / total[0], 1 - y / total[1], width / total[0], height / total[1])
        axes[row, k] = figure.add_axes(place)
        if k % columns == 0 and row_names:
            figure.text(
                0.06 / total[0], place[1] + place[3] / 2, row_names[row],
                size=FONT_SIZE, color=TEXT_COLOUR, rotation=90, va="center",
            )  # fmt: skip
    return figure, axes


def caption_below(axes: Axes, text: str, is_exact: bool | None = None) -> None:
    """Write a caption, in green or red if it says whether a graph is right."""
    colour = {None: TEXT_COLOUR, True: EXACT_COLOUR, False: INEXACT_COLOUR}[is_exact]
    style = {"size": FONT_SIZE, "color": colour}
    plain(axes.text(0.5, -0.01, text, style, transform=axes.transAxes, ha="center", va="top"))


def _at_least_one(graphs: Sequence[Graph], name: str) -> int:
    if not graphs:
        raise ValueError(f"{name} is empty; give at least one graph")
    return len(graphs)


def _check_length(name: str, values: Sequence | None, expected: int, other: str) -> None:
    if values is not None and len(values) != expected:
        raise ValueError(f"{name} has {len(values)} entries, but {other} has {expected}")
