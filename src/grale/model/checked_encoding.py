"""Encoding that checks itself: of several draws of the noise, the first that decodes.

    Z = encoder(phi(x), noise d),  d the least for which the likeliest graph of Z is x

The noise that tells like nodes apart may be any; which it is decides whether a graph with many
like nodes comes back. Whoever encodes has the graph at hand and can look (decisions/011). Each
draw follows canonical positions, so Z still depends on the graph alone, not on its order.

Departures: the paper takes one draw.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from jaxtyping import Float
from torch import Tensor

from grale.graphs.batch import GraphBatch
from grale.metrics.isomorphism import is_isomorphic

if TYPE_CHECKING:
    from grale.model.graph_autoencoder import GraphAutoencoder


class Checked(NamedTuple):
    """Latents of a batch and the draw behind each."""

    latents: Float[Tensor, "B Z"]
    draws: list[int]
    """0 also for graphs that no draw gives back."""


def check_draws(draws: int) -> None:
    """Raise unless at least one draw is allowed."""
    if draws < 1:
        raise ValueError(f"draws must be at least 1, got {draws}")


def embed_checked(model: GraphAutoencoder, batch: GraphBatch, draws: int) -> Checked:
    """Embed under one draw after the other, those graphs that did not come back so far.

    Call it without gradients, the model in evaluation mode. A single draw is not checked.
    """
    latents, used = model.embed(batch), [0] * len(batch)
    if draws == 1:
        return Checked(latents, used)
    waiting = _not_given_back(model, batch, latents)
    for draw in range(1, draws):
        if not waiting:
            break
        others = batch[waiting]
        found = model.embed(others, draw)
        failed = _not_given_back(model, others, found)
        good = sorted(set(range(len(waiting))) - set(failed))
        rows = [waiting[place] for place in good]
        latents[rows] = found[good]
        for row in rows:
            used[row] = draw
        waiting = [waiting[place] for place in failed]
    return Checked(latents, used)


def _not_given_back(
    model: GraphAutoencoder, batch: GraphBatch, latents: Float[Tensor, "B Z"]
) -> list[int]:
    """Rows whose likeliest graph is another than the one that was encoded."""
    decoded = model.logits_of(latents).most_likely(model.space.directed).to_graphs()
    pairs = zip(batch.to_graphs(), decoded)
    return [row for row, (graph, again) in enumerate(pairs) if not is_isomorphic(graph, again)]
