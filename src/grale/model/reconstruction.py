"""Graphs through the autoencoder and back, their nodes in the order of the input.

Departures: with a search, graphs are found by their embedding (decisions/009).
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
) -> Reconstructed:
    """Reconstruct each item, its nodes in the input's order where matched.

    With `at_size` the model is told the number of nodes, as in the measure of Any2Graph. With a
    `search` above 1 so many likeliest graphs are tried for one that embeds into the latent.
    """
    check_search(search)
    graphs = accept(items, model.space)
    results: list[Any] = [None] * len(graphs)
    for rows, batch in by_size(graphs, batch_size):
        batch = batch.to(device_of(model))
        ordered = model.rebuild(batch, at_size)
        masks = ordered.node_mask.cpu().numpy()
        verified = _searched(model, batch, search)
        for row, graph, mask, found in zip(rows, ordered.to_graphs(), masks, verified):
            if found is None:
                places = np.where(mask, np.cumsum(mask) - 1, -1)[: graphs[row].num_nodes]
                results[row] = (graph, places.astype(np.int64))
            else:
                results[row] = _in_order_of(graphs[row], found)
    return Reconstructed([graph for graph, _ in results], [places for _, places in results])


def _searched(model: GraphAutoencoder, batch: GraphBatch, search: int) -> list[Graph | None]:
    """Graphs that the search finds from the latents alone."""
    if search == 1:
        return [None] * len(batch)  # without encoding once more
    latents = model.embed(batch)
    return verified_graphs(model, latents, model.logits_of(latents), search)


def _in_order_of(graph: Graph, found: Graph) -> tuple[Graph, NDArray[np.int64]]:
    """List the nodes of `found` as those of `graph` with the same canonical positions are."""
    positions, others = (
        canonical_positions(GraphBatch.from_graphs([side]))[0].numpy() for side in (graph, found)
    )
    order = others.argsort()[positions[positions < found.num_nodes]]
    order = np.concatenate([order, np.setdiff1d(np.arange(found.num_nodes), order)])
    matched = positions < found.num_nodes
    return found.permuted(order), np.where(matched, np.cumsum(matched) - 1, -1)
