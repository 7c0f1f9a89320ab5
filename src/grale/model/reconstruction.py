"""Graphs through the autoencoder and back, their nodes in the order of the input.

Departures: with a search, graphs are found by their embedding (decisions/009); with several draws
of the noise, the encoder takes one that decodes (decisions/011).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from grale.graphs.batch import GraphBatch
from grale.graphs.canonical import canonical_positions
from grale.graphs.graph import Graph
from grale.model.checked_encoding import check_draws, embed_checked
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
    draws: int = 1,
) -> Reconstructed:
    """Reconstruct each item, its nodes in the input's order where matched.

    With `at_size` the model is told the number of nodes, as in the measure of Any2Graph. With a
    `search` above 1 so many likeliest graphs, of any size, are tried for one that embeds into the
    latent. With several `draws` the latent is one that decodes, if there is one among so many.
    """
    check_search(search)
    check_draws(draws)
    graphs = accept(items, model.space)
    results: list[Any] = [None] * len(graphs)
    for rows, batch in by_size(graphs, batch_size):
        batch = batch.to(device_of(model))
        draw_of = [0] * len(rows) if draws == 1 else embed_checked(model, batch, draws).draws
        for draw in sorted(set(draw_of)):
            chosen = [place for place, other in enumerate(draw_of) if other == draw]
            part = batch if len(chosen) == len(rows) else batch[chosen]
            for place, found in zip(chosen, _rebuilt(model, part, at_size, draw)):
                results[rows[place]] = found
            if search > 1 and draw == 0:  # what another draw gives back needs no search
                for place, found in _searched(model, part, search, batch_size).items():
                    results[rows[chosen[place]]] = found
    return Reconstructed([graph for graph, _ in results], [places for _, places in results])


def _rebuilt(
    model: GraphAutoencoder, batch: GraphBatch, at_size: bool, draw: int
) -> Iterator[tuple[Graph, NDArray[np.int64]]]:
    """Graphs that the model gives back, and where each input node went."""
    ordered = model.rebuild(batch, at_size, draw)
    sizes = batch.num_nodes.tolist()
    for graph, mask, size in zip(ordered.to_graphs(), ordered.node_mask.cpu().numpy(), sizes):
        yield graph, np.where(mask, np.cumsum(mask) - 1, -1)[:size].astype(np.int64)


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
