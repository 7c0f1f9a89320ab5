"""Graphs between graphs (paper: "Complex graph operations in the latent space").

G_t   = f((1 - t) g(G_0) + t g(G_1))
G_bar = f(sum_k w_k g(G_k))             with weights that sum to one

Departures: points that do not decode to valid graphs may be led back by a prior (`path="prior"`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from grale.codec.encode import encode
from grale.codec.intake import accept
from grale.codec.options import CodecOptions
from grale.codec.refine import ENOUGH_STEPS
from grale.graphs.graph import Graph
from grale.graphs.molecules.molecule import is_molecular
from grale.matching.local_search import edit_distance_bound
from grale.model.autoencoder import GRALE
from grale.tasks.on_data import BackConfig, led_back

PathKind = Literal["line", "prior"]
"""Graphs on the straight line, as in the paper, or led back to the data from there."""
CHUNK = 2_048  # graphs of a stream that are in memory at once


class Interpolation(NamedTuple):
    """A path of decoded graphs."""

    graphs: list[Graph]
    positions: list[float]
    """t of each graph, from 0 to 1."""
    mappings: list[NDArray[np.int64]]
    """mappings[s][i] is the node of graph s that node i of graph s + 1 continues, or -1."""


class Barycenter(NamedTuple):
    """The mean of many graphs."""

    graph: Graph
    latent: NDArray[np.float32]
    """The mean of the embeddings, of length K x D."""
    num_graphs: int
    """Graphs that went into it."""


def interpolate(
    model: GRALE,
    first: Any,
    second: Any,
    steps: int = 7,
    tries: int = 1,
    refine: int = ENOUGH_STEPS,
    path: PathKind = "line",
    back: BackConfig | None = None,
) -> Interpolation:
    """Decode `steps` evenly spaced points on the line between two embeddings, ends included.

    `tries` as in `decode_valid`: above 1, molecules on the way are valid if possible. `refine` as
    in `encode`: the ends are the two graphs themselves, unless it is 0. With `path="prior"`, points
    that do not decode to a valid graph are led back to the data, as `back` says; `tries` is not
    used.
    """
    if steps < 2:
        raise ValueError(f"steps must be at least 2 (the two ends), got {steps}")
    check_path(model, path)
    ends = accept([first, second], model.space)
    options = CodecOptions(molecule_tries=tries, refine_steps=refine)
    start, end = encode(model, ends, options, "raise")
    positions = np.linspace(0, 1, steps)
    latents = ((1 - positions)[:, None] * start + positions[:, None] * end).astype(np.float32)
    if path == "line":
        graphs = decode_valid(model, latents, options)
    else:
        sizes = np.interp(positions, [0, 1], [graph.num_nodes for graph in ends]).round()
        graphs = led_back(model, latents, back, sizes.tolist()).graphs
    return Interpolation(graphs, positions.tolist(), follow(model, graphs))


def barycenter(
    model: GRALE,
    graphs: Iterable[Any],
    weights: Iterable[float] | None = None,
    progress: Callable[[int], object] | None = None,
    path: PathKind = "line",
    back: BackConfig | None = None,
) -> Barycenter:
    """Decode the weighted mean of the embeddings of graphs, even of a whole dataset.

    Parameters
    ----------
    model
        Encodes and decodes.
    graphs
        Any number of graphs; a stream is read piece by piece and never held in memory.
    weights
        One per graph, at least 0; only their ratios matter. All equal by default.
    progress
        Called with the number of graphs done since the last call.
    path, back
        With "prior", a mean that does not decode to a valid graph is led back to the data.
    """
    check_path(model, path)
    left = iter(graphs)
    shares = None if weights is None else iter(weights)
    total, mass, count = np.zeros(model.latent_dim), 0.0, 0
    while chunk := list(islice(left, CHUNK)):
        portion = _portion(shares, len(chunk), count)
        try:
            latents = model.encode(chunk)
        except ValueError as error:
            raise ValueError(f"counting from graph {count}: {error}") from error
        total += portion @ latents.astype(np.float64)
        mass, count = mass + float(portion.sum()), count + len(chunk)
        if progress is not None:
            progress(len(chunk))
    if shares is not None and next(shares, None) is not None:
        raise ValueError(f"there are more weights than the {count} graphs; give one per graph")
    if mass <= 0:
        raise ValueError("nothing to average: give at least one graph with a weight above 0")
    latent = (total / mass).astype(np.float32)
    if path == "line":
        (mean,) = decode_valid(model, latent[None], CodecOptions())
    else:
        (mean,) = led_back(model, latent[None], back).graphs
    return Barycenter(mean, latent, count)


def check_path(model: GRALE, path: str) -> None:
    """Raise, before any work is done, for an unknown path, or for "prior" without a prior."""
    if path not in ("line", "prior"):
        raise ValueError(f"path={path!r}; expected 'line' or 'prior'")
    if path == "prior":
        assert model.prior  # says so if there is none


def decode_valid(model: GRALE, latents: NDArray[np.float32], options: CodecOptions) -> list[Graph]:
    """Decode embeddings; molecules to the likeliest valid one among several graphs, if any."""
    graphs = [graph for graph in model.decode(latents) if graph is not None]
    if options.molecule_tries == 1 or not is_molecular(model.space):
        return graphs
    found = model.decode_smiles(latents, tries=options.molecule_tries)
    return [Graph.from_smiles(text) if text else graph for text, graph in zip(found, graphs)]


def follow(model: GRALE, graphs: Sequence[Graph]) -> list[NDArray[np.int64]]:
    """Match each graph with the one before it, so that drawings keep nodes in place.

    The model's matcher gives the mapping; single trades that save edits improve it.
    """
    return [
        edit_distance_bound(later, earlier, model.match(later, earlier).mapping).mapping
        for later, earlier in zip(graphs[1:], graphs[:-1])
    ]


def _portion(shares: Iterable[float] | None, size: int, first: int) -> NDArray[np.float64]:
    """Weights of the next graphs."""
    if shares is None:
        return np.ones(size)
    portion = np.fromiter(islice(shares, size), dtype=np.float64)
    if len(portion) < size:
        raise ValueError(f"{first + len(portion)} weights, but more graphs; give one per graph")
    bad = ~(np.isfinite(portion) & (portion >= 0))
    if bad.any():
        place = int(bad.argmax())
        raise ValueError(f"weight {first + place} is {portion[place]}; weights are at least 0")
    return portion
