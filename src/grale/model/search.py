"""Decoding that checks itself: of the likeliest graphs, the one that embeds into the latent.

    found = the first G of the likeliest graphs of Z with encode(G) = Z

A graph has one embedding (decisions/003), so a graph whose embedding is Z is the one that was
encoded: equal graphs differ by 1e-6 of the length of Z, graphs that are one edit apart by some
1e-2 and more. Nothing is asked but Z and the model.

Departures: the paper takes the likeliest graph (decisions/009).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from grale.graphs.graph import Graph
from grale.model.candidates import likeliest_graphs
from grale.model.decoder import GraphLogits
from grale.model.inference import by_size, device_of

if TYPE_CHECKING:
    from grale.model.graph_autoencoder import GraphAutoencoder

TOLERANCE = 1e-3  # of the length of a latent; those stored in float16 pass, too
CHUNK = 16  # graphs of each row that are embedded together
BATCH = 256  # graphs that are embedded at once


def check_search(search: int) -> None:
    """Raise unless at least one graph is allowed."""
    if search < 1:
        raise ValueError(f"search must be at least 1, got {search}")


def embeds_into(
    model: GraphAutoencoder, graphs: Sequence[Graph], latents: Float[Tensor, "G Z"]
) -> Bool[Tensor, " G"]:
    """Whether each graph's embedding is its latent."""
    is_same = torch.zeros(len(graphs), dtype=torch.bool)
    for rows, batch in by_size(graphs, BATCH):
        wanted = latents[rows]
        distance = (model.embed(batch.to(device_of(model))) - wanted).norm(dim=1)
        is_same[rows] = (distance < TOLERANCE * wanted.norm(dim=1)).cpu()
    return is_same


def verified_graphs(
    model: GraphAutoencoder, latents: Float[Tensor, "B Z"], logits: GraphLogits, search: int
) -> list[Graph | None]:
    """Return for each row the graph that embeds into it, None if none of the likeliest does.

    A search of 1 looks at nothing: the likeliest graph is what one gets in either case.
    """
    if search == 1:
        return [None] * len(latents)
    directed = model.space.directed
    waiting = {row: _distinct(logits, row, directed) for row in range(len(latents))}
    found: list[Graph | None] = [None] * len(latents)
    tried = 0
    while waiting and tried < search:
        width = 1 if tried == 0 else min(CHUNK, search - tried)  # most are right at once
        tried += width
        drawn = [(row, graph) for row in waiting for graph in islice(waiting[row], width)]
        if not drawn:
            break
        rows = [row for row, _ in drawn]
        is_same = embeds_into(model, [graph for _, graph in drawn], latents[rows])
        for (row, graph), same in zip(drawn, is_same.tolist()):
            if same and row in waiting:
                found[row] = graph
                del waiting[row]
    return found


def _distinct(logits: GraphLogits, row: int, directed: bool) -> Iterator[Graph]:
    """Likeliest graphs of a row, each once."""
    seen = set()
    for graph in likeliest_graphs(logits, row, directed):
        key = graph.node_labels.tobytes(), graph.edges.tobytes(), graph.edge_labels.tobytes()
        if key not in seen:
            seen.add(key)
            yield graph
