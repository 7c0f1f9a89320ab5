"""A map as one HTML page: zoom, search, colour, select, and the graph under the pointer.

The page holds its data and its script; it links to nothing and can be mailed. Text of users goes
into it as JSON, and the script writes it as text only, never as HTML.
"""

from __future__ import annotations

import base64
import json
import os
from collections.abc import Callable, Mapping, Sequence
from html import escape
from pathlib import Path
from string import Template
from typing import Any

import matplotlib
import numpy as np
from matplotlib.colors import to_hex
from numpy.typing import ArrayLike

from grale.codec.identity import told
from grale.files import write_whole
from grale.graphs.graph import Graph
from grale.plot.colouring import Colouring, page_colouring
from grale.plot.graph_look import GraphLook
from grale.plot.maps import COLOUR_MAP, checked_points
from grale.plot.packed_drawings import CHUNK, Palette, packed_chunk, packed_drawing
from grale.plot.palette import shared_palette
from grale.plot.panel import Look

TEMPLATE = Path(__file__).with_name("map_page.html")
SCRIPTS = [Path(__file__).with_name(name) for name in ("map_page.js", "map_hands.js")]
UNKNOWN = "#b5bbc2"
LARGEST = 65_535  # positions are sent as whole numbers
MANY = 2_000  # graphs; if there are more, each is drawn quickly


def write_map_page(
    path: str | os.PathLike[str],
    title: str,
    points: ArrayLike,
    colourings: Sequence[Colouring],
    graphs: Sequence[Graph],
    *,
    ids: Sequence[str] | None = None,
    names: Sequence[str] | None = None,
    note: str = "",
    made_with: Mapping[str, Any] | None = None,
    look: Look | None = None,
    progress: Callable[[int], object] | None = None,
) -> Path:
    """Write the page in one step and return its path.

    Parameters
    ----------
    path, title
        File to write, and heading of the page.
    points
        Positions (n, 2).
    colourings
        One or more columns to colour by; the first is chosen when the page opens.
    graphs
        One per point, drawn when the pointer is on it.
    ids
        What to find a graph by; its number by default.
    names
        A line of text per graph, such as its SMILES.
    note
        A line below the heading.
    made_with
        What `grale.codec.identity.provenance` says of the model: the heading names it, and a
        selection that is saved as csv has it in each row.
    look
        How graphs are drawn (`grale.plot.look.look_of`); by default as coloured discs.
    progress
        Called with the number of graphs drawn since the last call.
    """
    places = _checked(points, colourings, graphs, ids, names)
    look = look or GraphLook(shared_palette(graphs))
    span = np.ptp(places, axis=0)
    scaled = (places - places.min(axis=0)) / (span.max() or 1.0)
    palette = Palette()
    drawings = _drawings(graphs, look, palette, progress)
    numbers = [str(number) for number in range(len(places))]
    data: dict[str, Any] = {
        "count": len(places),
        "points": base64.b64encode((scaled * LARGEST).round().astype("<u2").tobytes()).decode(),
        "span": [max(float(side / (span.max() or 1.0)), 0.05) for side in span],
        "colourings": [page_colouring(colouring) for colouring in colourings],
        "ramp": [to_hex(colour) for colour in matplotlib.colormaps[COLOUR_MAP](range(256))],
        "unknown": UNKNOWN,
        "ids": numbers if ids is None else [str(name) for name in ids],
        "names": [""] * len(places) if names is None else [str(name) for name in names],
        "chunk": CHUNK,
        "drawings": drawings,
        "colours": palette.colours(),
        "made_with": dict(made_with or {}),
    }
    # "<" is the only character of JSON that could end the script early
    text = json.dumps(data, separators=(",", ":")).replace("<", "\\u003c")
    template = Template(TEMPLATE.read_text(encoding="utf-8"))
    script = "".join(file.read_text(encoding="utf-8") for file in SCRIPTS)
    filled = template.substitute(
        title=escape(title), data=text, script=script,
        note=escape(note or _usual_note(len(places))),
        model=f"<p>Made with {escape(told(made_with))}.</p>" if made_with else "",
    )  # fmt: skip
    return write_whole(path, filled.encode())


def _checked(
    points: ArrayLike,
    colourings: Sequence[Colouring],
    graphs: Sequence[Graph],
    ids: Sequence[str] | None,
    names: Sequence[str] | None,
) -> np.ndarray:
    """Positions, or an error that says what is wrong."""
    if not colourings:
        raise ValueError("a map needs at least one column to colour by")
    places = np.asarray(points, dtype=np.float64)
    for colouring in colourings:
        numbers = colouring.numbers()
        if numbers is not None:
            checked_points(places, numbers)
        elif np.asarray(colouring.values).shape != (len(places),):
            raise ValueError(f"{len(places)} points need {len(places)} values of {colouring.name}")
    for lines in (graphs, ids, names):
        if lines is not None and len(lines) != len(places):
            raise ValueError(f"{len(places)} points need {len(places)} graphs, ids and names")
    return places


def _drawings(
    graphs: Sequence[Graph],
    look: Look,
    palette: Palette,
    progress: Callable[[int], object] | None,
) -> list[str]:
    chunks: list[str] = []
    known: dict[Graph, bytes] = {}  # files often hold a graph more than once
    for start in range(0, len(graphs), CHUNK):
        some = graphs[start : start + CHUNK]
        is_quick = len(graphs) > MANY
        for graph in some:
            if graph not in known:
                known[graph] = packed_drawing(look.shapes(graph, is_quick), palette)
        chunks.append(packed_chunk([known[graph] for graph in some]))
        if progress is not None:
            progress(len(some))
    return chunks


def _usual_note(count: int) -> str:
    return f"{count:,} graphs. Point at a dot or tap it; drag to move, turn the wheel to zoom."
