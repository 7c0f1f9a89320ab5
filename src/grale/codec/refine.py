"""Encoding that checks itself: move a latent until it decodes (decisions/011).

    Z_0 = g(x),   Z_k+1 = Z_k - step along grad_Z L_OT(phi*(x), f(Z_k), T_k),   until f(Z_k) is x

The encoder guesses in one pass what the decoder needs. If the guess does not decode, the training
loss says in which direction to move it. Steps are Adam's, with a share of the row's mean slope in
the denominator: entries without a slope stay, so that rounding errors decide nothing.

Departures: the paper takes the encoder's guess.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import torch
from jaxtyping import Float
from torch import Tensor

from grale.codec.encoded_batch import EncodedBatch
from grale.graphs.batch import GraphBatch
from grale.graphs.graph import Graph
from grale.metrics.isomorphism import is_isomorphic

if TYPE_CHECKING:
    from grale.codec.graph_autoencoder import GraphAutoencoder

ENOUGH_STEPS = 128  # for nearly every graph, with the shipped models
STEP = 0.06  # of the root mean square of a latent
MEAN_DECAY, SQUARE_DECAY = 0.9, 0.95
DAMPING = 0.1  # of the root mean square of a row's slopes


def refined(
    model: GraphAutoencoder, batch: GraphBatch, start: EncodedBatch, steps: int
) -> Float[Tensor, "B Z"]:
    """Latents of a batch; those that do not decode are moved until they do, at most `steps` times.

    Call it without gradients and with the model in evaluation mode.
    """
    if steps == 0:
        return start.latents
    if start.compare is None:
        raise ValueError(f"{model.architecture} cannot refine latents; leave `refine` out")
    latents, graphs = start.latents.clone(), batch.to_graphs()
    directed = model.space.directed
    decoded = model.logits_of(latents).most_likely(directed).to_graphs()
    waiting = _other_than(graphs, decoded)
    unit = STEP * latents.square().mean(dim=1, keepdim=True).sqrt()
    mean, square = torch.zeros_like(latents), torch.zeros_like(latents)
    for step in range(1, steps + 1):
        if not waiting:
            break
        moving = latents[waiting].requires_grad_()
        with torch.enable_grad():
            logits, losses = start.compare(moving, waiting)
            (slope,) = torch.autograd.grad(losses.sum(), moving)
        decoded = logits.most_likely(directed).to_graphs()
        failed = _other_than([graphs[row] for row in waiting], decoded)
        slope, waiting = slope[failed], [waiting[place] for place in failed]
        mean[waiting] = MEAN_DECAY * mean[waiting] + (1 - MEAN_DECAY) * slope
        square[waiting] = SQUARE_DECAY * square[waiting] + (1 - SQUARE_DECAY) * slope.square()
        latents[waiting] -= unit[waiting] * _direction(mean[waiting], square[waiting], step)
    return latents


def _direction(
    mean: Float[Tensor, "R Z"], square: Float[Tensor, "R Z"], step: int
) -> Float[Tensor, "R Z"]:
    """Adam's direction, damped; both averages are corrected for their start at zero."""
    mean = mean / (1 - MEAN_DECAY**step)
    size = (square / (1 - SQUARE_DECAY**step)).sqrt()
    usual = size.square().mean(dim=1, keepdim=True).sqrt()
    return mean / (size + DAMPING * usual).clamp(min=torch.finfo(mean.dtype).tiny)


def _other_than(graphs: list[Graph], decoded: list[Graph]) -> list[int]:
    """Rows whose decoded graph differs."""
    pairs = enumerate(zip(graphs, decoded))
    return [row for row, (graph, again) in pairs if not is_isomorphic(graph, again)]
