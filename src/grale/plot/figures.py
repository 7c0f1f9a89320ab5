"""Figures of several graphs (paper: figures of "Qualitative properties of GRALE").

Departures: matched nodes are drawn at the same position, so that differences can be seen.
"""

from __future__ import annotations

import io
import os
import textwrap
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import numpy as np
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.typing import ColorType
from numpy.typing import ArrayLike

from grale.files import write_whole
from grale.graphs.graph import Graph, IntArray
from grale.plot.draw import draw_graph, node_radius
from grale.plot.layout import (
    checked_mapping,
    into_square,
    layout,
    layout_along,
    layout_around,
)
from grale.plot.palette import shared_palette
from grale.plot.stress import FloatArray

PANEL = 1.9  # inches; width and height of one graph
LINE_HEIGHT = 0.16  # inches per line of a caption
LINE_LENGTH = 28  # letters that fit below one graph
ROW_LABEL_WIDTH = 0.3  # inches
FONT_SIZE = 9
DOTS_PER_INCH = 200
TEXT_COLOUR = "0.2"
EXACT_COLOUR, INEXACT_COLOUR = "#1a7f37", "#c0392b"
FORMATS = {".png": "png", ".svg": "svg"}
NodeTexts = Callable[[Graph], Iterable[str]]


def reconstruction_figure(
    originals: Sequence[Graph],
    reconstructions: Sequence[Graph],
    mappings: Sequence[ArrayLike] | None = None,
    captions: Sequence[str] | None = None,
    exact: Sequence[bool | np.bool_] | None = None,
    palette: Sequence[ColorType] | None = None,
    node_texts: NodeTexts | None = None,
    place: Callable[[Graph], FloatArray] = layout,
) -> Figure:
    """Two rows: inputs above, their reconstructions below; edges that differ are red.

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
    palette
        Matplotlib colours, one per node label.
    node_texts
        Gives the texts on the nodes of a graph.
    place
        Gives the positions of an input.
    """
    num_pairs = _at_least_one(originals, "originals")
    for name, values in (
        ("reconstructions", reconstructions),
        ("mappings", mappings),
        ("captions", captions),
        ("exact", exact),
    ):
        _check_length(name, values, num_pairs, "originals")
    palette = shared_palette([*originals, *reconstructions]) if palette is None else palette
    notes = _wrapped(captions, exact, num_pairs)
    figure, panels = _panels(2, num_pairs, notes, ROW_LABEL_WIDTH)
    for k, (original, reconstruction) in enumerate(zip(originals, reconstructions)):
        mapping = None if mappings is None else mappings[k]
        pair = original, reconstruction
        above, below = _pair_positions(*pair, mapping, f"mappings[{k}]", place)
        marks = ([], []) if mapping is None else differing_edges(*pair, mapping)
        is_directed = original.directed or reconstruction.directed
        radius = min(node_radius(points, is_directed) for points in (above, below))
        for axes, graph, points, marked in zip(panels[:, k], pair, (above, below), marks):
            texts = None if node_texts is None else list(node_texts(graph))
            draw_graph(axes, graph, points, palette, node_text=texts, radius=radius, marked=marked)
        _caption(panels[1, k], notes[k], None if exact is None else bool(exact[k]))
    for row, name in enumerate(("input", "reconstruction")):
        box = panels[row, 0].get_position(original=True)
        figure.text(
            0.06 / figure.get_figwidth(),
            (box.y0 + box.y1) / 2,
            name,
            size=FONT_SIZE,
            color=TEXT_COLOUR,
            rotation=90,
            va="center",
        )
    return figure


def interpolation_figure(
    graphs: Sequence[Graph],
    mappings: Sequence[ArrayLike] | None = None,
    captions: Sequence[str] | None = None,
    palette: Sequence[ColorType] | None = None,
    node_texts: NodeTexts | None = None,
) -> Figure:
    """Draw one row of graphs, in order.

    Parameters
    ----------
    graphs
        The frames.
    mappings
        ``mappings[t][i]`` is the node of ``graphs[t]`` that node i of ``graphs[t + 1]``
        corresponds to, or -1; with it, nodes keep their place along the row.
    captions
        One per graph, below it.
    palette
        Matplotlib colours, one per node label.
    node_texts
        Gives the texts on the nodes of a graph.
    """
    num_graphs = _at_least_one(graphs, "graphs")
    _check_length("captions", captions, num_graphs, "graphs")
    palette = shared_palette(graphs) if palette is None else palette
    if mappings is None:
        frames = [layout(graph) for graph in graphs]
        radius = None
    else:
        frames = layout_along(graphs, mappings)
        radius = min(node_radius(frame, graphs[0].directed) for frame in frames)
    notes = _wrapped(captions, None, num_graphs)
    figure, panels = _panels(1, num_graphs, notes)
    for k, (graph, frame) in enumerate(zip(graphs, frames)):
        texts = None if node_texts is None else list(node_texts(graph))
        draw_graph(panels[0, k], graph, frame, palette, node_text=texts, radius=radius)
        _caption(panels[0, k], notes[k])
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
    figure.savefig(buffer, format=kind, dpi=DOTS_PER_INCH, facecolor="white", metadata=metadata)
    return buffer.getvalue()


def differing_edges(g1: Graph, g2: Graph, mapping: ArrayLike) -> tuple[list[int], list[int]]:
    """Indices of the edges of each graph that the other one lacks or labels differently."""
    forth = checked_mapping(mapping, g1.num_nodes, g2.num_nodes, "mapping")
    back = np.full(g2.num_nodes, -1)
    back[forth[forth >= 0]] = np.flatnonzero(forth >= 0)
    return _differing(g1, g2, forth), _differing(g2, g1, back)


def _differing(graph: Graph, other: Graph, partners: IntArray) -> list[int]:
    ends = partners[graph.edges]
    found = np.where((ends >= 0).all(axis=1), other.label_matrix()[ends[:, 0], ends[:, 1]], 0)
    return np.flatnonzero(found != graph.edge_labels).tolist()


def _pair_positions(
    original: Graph,
    reconstruction: Graph,
    mapping: ArrayLike | None,
    name: str,
    place: Callable[[Graph], FloatArray],
) -> tuple[FloatArray, FloatArray]:
    above = place(original)
    if mapping is None:
        return above, place(reconstruction)
    matched = checked_mapping(mapping, original.num_nodes, reconstruction.num_nodes, name)
    known = np.full((reconstruction.num_nodes, 2), np.nan)
    known[matched[matched >= 0]] = above[matched >= 0]
    both = into_square(np.concatenate([above, layout_around(reconstruction, known)]))
    return both[: original.num_nodes], both[original.num_nodes :]


def _wrapped(
    captions: Sequence[str] | None, exact: Sequence[bool | np.bool_] | None, num_panels: int
) -> list[str]:
    """Captions that start with a tick or a cross, broken into short lines."""
    texts = [""] * num_panels if captions is None else list(captions)
    if exact is not None:
        texts = [f"{'✓' if is_exact else '✗'} {text}" for text, is_exact in zip(texts, exact)]
    lines = [[textwrap.fill(line, LINE_LENGTH) for line in text.splitlines()] for text in texts]
    return ["\n".join(text).strip() for text in lines]


def _panels(
    num_rows: int, num_columns: int, notes: Sequence[str], left: float = 0.0
) -> tuple[Figure, np.ndarray]:
    """Return a white figure with a grid of square axes and room for captions below."""
    num_lines = max(note.count("\n") + 1 if note else 0 for note in notes)
    bottom = LINE_HEIGHT * (num_lines + 1) if num_lines else 0.0
    width, height = left + PANEL * num_columns, bottom + PANEL * num_rows
    figure = Figure(figsize=(width, height), facecolor="white")
    FigureCanvasAgg(figure)
    panels = figure.subplots(num_rows, num_columns, squeeze=False)
    figure.subplots_adjust(left / width, bottom / height, 1, 1, wspace=0, hspace=0)
    return figure, panels


def _caption(axes: Axes, text: str, is_exact: bool | None = None) -> None:
    colour = {None: TEXT_COLOUR, True: EXACT_COLOUR, False: INEXACT_COLOUR}[is_exact]
    style = {"size": FONT_SIZE, "color": colour}
    axes.text(0.5, -0.01, text, style, transform=axes.transAxes, ha="center", va="top")


def _at_least_one(graphs: Sequence[Graph], name: str) -> int:
    if not graphs:
        raise ValueError(f"{name} is empty; give at least one graph")
    return len(graphs)


def _check_length(name: str, values: Sequence | None, expected: int, other: str) -> None:
    if values is not None and len(values) != expected:
        raise ValueError(f"{name} has {len(values)} entries, but {other} has {expected}")
