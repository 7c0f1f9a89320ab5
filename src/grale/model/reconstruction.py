"""Graphs through the autoencoder and back, their nodes in the order of the input.

Departures: with a search, graphs are found by their embedding (decisions/009); latents may be
refined until they decode (decisions/011).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from grale.graphs.batch import GraphBatch
from grale.graphs.canonical import canonical_positions
from grale.graphs.graph import Graph
from grale.model.inference import accept, by_size, device_of, quietly
from grale.model.refined_encoding import check_refine, embed_refined
from grale.model.search import check_search, verified_graphs

if TYPE_CHECKING:
    from grale.model.graph_autoencoder import GraphAutoencoder


class Reconstructed(NamedTuple):
    """Reconstructed graphs and where each input node went."""

    graphs: list[Graph]
    mappings: list[NDArray[np.int64]]
    """mappings[g][i] is the node of graphs[g] that plays input node i, or -1."""


@quietly
def reconstruct(
    model: GraphAutoencoder,
    items: Sequence[Any],
    batch_size: int,
    at_size: bool = False,
    search: int = 1,
    refine: int = 0,
) -> Reconstructed:
    """Reconstruct each item, its nodes in the input's order where matched.

    With `at_size` the model is told the number of nodes, as in the measure of Any2Graph. With a
    `search` above 1 so many likeliest graphs, of any size, are tried for one that embeds into the
    latent. With `refine`, latents that do not decode are moved by so many steps at most.
    """
    check_search(search)
    check_refine(refine)
    if search > 1 and refine > 0:
        raise ValueError("a search looks for embeddings, which refined latents are not; choose one")
    graphs = accept(items, model.space)
    results: list[Any] = [None] * len(graphs)
    for rows, batch in by_size(graphs, batch_size):
        batch = batch.to(device_of(model))
        latents = embed_refined(model, batch, refine) if refine else None
        ordered = model.rebuild(batch, at_size, latents)
        masks = ordered.node_mask.cpu().numpy()
        for row, graph, mask in zip(rows, ordered.to_graphs(), masks):
            places = np.where(mask, np.cumsum(mask) - 1, -1)[: graphs[row].num_nodes]
            results[row] = (graph, places.astype(np.int64))
        if search > 1:
            for place, found in _searched(model, batch, search, batch_size).items():
                results[rows[place]] = found
    return Reconstructed([graph for graph, _ in results], [places for _, places in results])


def _searched(
    model: GraphAutoencoder, batch: GraphBatch, search: int, batch_size: int
) -> dict[int, tuple[Graph, NDArray[np.int64]]]:
    """Graphs that the search finds from the latents alone, in the order of the input's nodes."""
    latents = model.embed(batch)
    found = verified_graphs(model, latents, model.logits_of(latents), search, batch_size)
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
    """List the nodes of `found` as those of the input with the same canonical positions are."""
    is_matched = positions < found.num_nodes
    order = others[: found.num_nodes].argsort()[positions[is_matched]]
    rest = np.setdiff1d(np.arange(found.num_nodes), order)
    return found.permuted(np.concatenate([order, rest])), np.where(
        is_matched, np.cumsum(is_matched) - 1, -1
    )
