"""Decoding that checks itself: find the likely graph whose embedding is the latent.

    found = the first G of the likeliest graphs of Z with encode(G) = Z

A graph has one embedding (decisions/003), so the graph that was encoded passes the test. A trained
model keeps other graphs from passing: embeddings of equal graphs differ by 2e-6 of the length of Z,
those of other graphs by 4e-2 and more (measured, decisions/009). Only Z and the model are needed.
Embeddings are compared in float32; lower precision makes them differ more.

Departures: the paper takes the likeliest graph.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import fields
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from jaxtyping import Bool, Float
from numpy.typing import NDArray
from torch import Tensor

from grale.codec.candidates import likeliest_graphs
from grale.codec.intake import (
    accept,
    by_size,
    check_latents,
    device_of,
    pairs_at_once,
    quietly,
)
from grale.codec.logits import GraphLogits
from grale.codec.options import CodecOptions
from grale.graphs.graph import Graph

if TYPE_CHECKING:
    from grale.codec.graph_autoencoder import GraphAutoencoder

TOLERANCE = 1e-3  # of the length of a latent; latents stored in float16 still pass
GRAPHS_PER_TURN = 16  # for each row whose graph is not found yet


@quietly
def verify(
    model: GraphAutoencoder, graphs: Sequence[Any], latents: NDArray[Any], batch_size: int
) -> NDArray[np.bool_]:
    """Compare embeddings; see `GraphAutoencoder.verify`."""
    rows = torch.tensor(check_latents(latents, model.latent_dim)).to(next(model.parameters()))
    if len(graphs) != len(rows):
        raise ValueError(f"got {len(graphs)} graphs for {len(rows)} latents; give one each")
    if len(graphs) == 0:
        return np.zeros(0, dtype=bool)
    return _embeds_into(model, accept(graphs, model.space), rows, batch_size).numpy()


def verified_graphs(
    model: GraphAutoencoder,
    latents: Float[Tensor, "B Z"],
    logits: GraphLogits,
    options: CodecOptions,
) -> list[Graph | None]:
    """Return for each row the graph whose embedding it is, or None if no likely graph is found.

    With `searched_graphs=1` there is no search: the likeliest graph is the answer anyway. Call it
    without gradients and with the model in evaluation mode.
    """
    found: list[Graph | None] = [None] * len(latents)
    search, batch_size = options.searched_graphs, options.batch_size
    if search == 1:
        return found
    if model.space.node_feature_dim or model.space.edge_feature_dim:
        raise ValueError(
            "search compares embeddings, which decoded features change a little; leave it out "
            "for a model with continuous features"
        )
    directed = model.space.directed
    drawn = list(enumerate(logits.most_likely(directed).to_graphs()))
    logits = GraphLogits(*(getattr(logits, field.name).cpu() for field in fields(logits)))
    others: dict[int, Iterator[Graph]] = {}
    tried = 1
    while drawn:
        rows = [row for row, _ in drawn]
        is_same = _embeds_into(model, [graph for _, graph in drawn], latents[rows], batch_size)
        for (row, graph), same in zip(drawn, is_same.tolist()):
            if same and found[row] is None:
                found[row] = graph
        if tried == 1:
            missing = (row for row, graph in enumerate(found) if graph is None)
            others = {row: islice(_distinct(logits, row, directed), 1, None) for row in missing}
        width = min(GRAPHS_PER_TURN, search - tried)
        tried += width
        waiting = [row for row in others if found[row] is None]
        drawn = [(row, graph) for row in waiting for graph in islice(others[row], width)]
    return found


def _embeds_into(
    model: GraphAutoencoder, graphs: Sequence[Graph], latents: Float[Tensor, "G Z"], batch_size: int
) -> Bool[Tensor, " G"]:
    """Whether each graph's embedding is its latent."""
    is_same = torch.zeros(len(graphs), dtype=torch.bool)
    for rows, batch in by_size(graphs, batch_size, pairs_at_once(model)):
        wanted = latents[rows].float()
        with torch.autocast(wanted.device.type, enabled=False):
            distance = (model.embed(batch.to(device_of(model))).float() - wanted).norm(dim=1)
        is_same[rows] = (distance <= TOLERANCE * wanted.norm(dim=1)).cpu()
    return is_same


def _distinct(logits: GraphLogits, row: int, directed: bool) -> Iterator[Graph]:
    """Likeliest graphs of a row, each once."""
    seen = set()
    for graph in likeliest_graphs(logits, row, directed):
        key = graph.node_labels.tobytes(), graph.edges.tobytes(), graph.edge_labels.tobytes()
        if key not in seen:
            seen.add(key)
            yield graph
