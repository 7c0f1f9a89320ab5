"""Encode and decode graphs; the nodes come back in the order of the input.

Departures: a search may find graphs by their embedding (decisions/009), and latents may be refined
until they decode (decisions/011).
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from jaxtyping import Float
from numpy.typing import NDArray
from torch import Tensor

from grale.codec.encode import encode
from grale.codec.failures import BadVectorError, check_vectors, without_bad_vectors
from grale.codec.intake import accept, by_size, device_of, named, pairs_at_once, quietly
from grale.codec.options import CodecOptions
from grale.codec.refine import refined
from grale.codec.search import verified_graphs
from grale.graphs.batch import GraphBatch
from grale.graphs.canonical import canonical_positions
from grale.graphs.graph import Graph

if TYPE_CHECKING:
    from grale.codec.graph_autoencoder import GraphAutoencoder


class RoundTrip(NamedTuple):
    """Decoded graphs, where each input node went, and the vectors in between."""

    graphs: list[Graph]
    mappings: list[NDArray[np.int64]]
    """mappings[g][i] is the node of graphs[g] that plays input node i, or -1."""
    latents: NDArray[np.float32]


@quietly
def reconstruct(
    model: GraphAutoencoder,
    items: Iterable[Any],
    options: CodecOptions | None = None,
    at_size: bool = False,
) -> RoundTrip:
    """Reconstruct each item: matched nodes in the input's order, then the others.

    Each item is encoded once. With `at_size`, the model is given the number of nodes, as Any2Graph
    does when it measures.
    """
    options = options or CodecOptions()
    graphs = accept(items, model.space)
    latents = np.empty((len(graphs), model.latent_dim), dtype=np.float32)
    found: list[Any] = [None] * len(graphs)
    for rows, batch in by_size(graphs, options.batch_size, pairs_at_once(model)):
        batch = batch.to(device_of(model))
        encoded = model.encoded(batch)
        latent = refined(model, batch, encoded, options.refine_steps)
        latents[rows] = latent.float().cpu().numpy()
        check_vectors(latents[rows], rows)
        results = _in_listed_order(encoded.rebuild(latent, at_size), batch)
        if options.searched_graphs > 1:
            results |= _searched(model, batch, latent, options)
        for place, row in enumerate(rows):
            found[row] = results[place]
    again = named([graph for graph, _ in found], model.space)
    return RoundTrip(again, [places for _, places in found], latents)


def reconstruct_good(
    model: GraphAutoencoder, items: list[Graph | str], options: CodecOptions
) -> tuple[list[Graph | str], RoundTrip]:
    """Reconstruct the graphs among the items; the other items say why a row has no graph.

    A graph whose vector is not finite is replaced by such a reason.
    """
    graphs = [item for item in items if isinstance(item, Graph)]
    try:
        return items, reconstruct(model, graphs, options)
    except BadVectorError:
        latents = encode(model, graphs, options, "null")
    items = without_bad_vectors(items, latents)
    graphs = [item for item in items if isinstance(item, Graph)]
    return items, reconstruct(model, graphs, options)


def _in_listed_order(
    ordered: GraphBatch, batch: GraphBatch
) -> dict[int, tuple[Graph, NDArray[np.int64]]]:
    """Decoded graphs, and where each input node went; column i of `ordered` plays input node i."""
    masks = ordered.node_mask.cpu().numpy()
    places = np.where(masks, np.cumsum(masks, axis=1) - 1, -1).astype(np.int64)
    sizes = batch.num_nodes.tolist()
    return {
        row: (graph, places[row, : sizes[row]]) for row, graph in enumerate(ordered.to_graphs())
    }


def _searched(
    model: GraphAutoencoder,
    batch: GraphBatch,
    latents: Float[Tensor, "B Z"],
    options: CodecOptions,
) -> dict[int, tuple[Graph, NDArray[np.int64]]]:
    """Graphs that a search finds from the latents alone, nodes in the order of the input."""
    found = verified_graphs(model, latents, model.logits_of(latents), options)
    verified = {place: graph for place, graph in enumerate(found) if graph is not None}
    if not verified:
        return {}
    positions, others = (
        canonical_positions(side.to("cpu")).numpy()
        for side in (batch[list(verified)], GraphBatch.from_graphs(list(verified.values())))
    )
    sizes = batch.num_nodes.tolist()
    return {
        place: _in_order(verified[place], mine[: sizes[place]], other)
        for place, mine, other in zip(verified, positions, others)
    }


def _in_order(
    found: Graph, positions: NDArray[np.int64], others: NDArray[np.int64]
) -> tuple[Graph, NDArray[np.int64]]:
    """Put the nodes of `found` in the order of the input nodes with the same canonical position."""
    is_matched = positions < found.num_nodes
    order = others[: found.num_nodes].argsort()[positions[is_matched]]
    rest = np.setdiff1d(np.arange(found.num_nodes), order)
    return found.permuted(np.concatenate([order, rest])), np.where(
        is_matched, np.cumsum(is_matched) - 1, -1
    )
