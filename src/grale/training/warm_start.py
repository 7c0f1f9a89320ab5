"""Start from the weights of another model, perhaps of smaller graphs or with fewer tokens.

Only the queries of the slots depend on the largest graph: a model of 20 nodes that starts from one
of 10 gets its first 10 slots and everything else; the other slots keep their random start. In the
same way, only the queries of the latent depend on the number of tokens. Each part lists these
weights in `growing_weights`. With pooling by transport, only the layers into and out of a token
depend on its width; these are in `token_weights`, and start at random if the width differs.

Departures: not in the paper (a curriculum over sizes, docs/reproducing.md).
"""

from __future__ import annotations

import torch
from torch import nn

from grale.training.optimizer import weights_named

HEADS = "heads."  # of the description: if the other model has none, they start at random


def take_weights(model: nn.Module, other: nn.Module) -> None:
    """Copy the weights of `other` into `model`; every weight must have a counterpart."""
    given = dict(other.named_parameters())
    growing = weights_named(model, "growing_weights")
    of_tokens = weights_named(model, "token_weights")
    with torch.no_grad():
        for name, weight in model.named_parameters():
            if name not in given and name.startswith(HEADS):
                continue
            if name not in given:
                raise ValueError(f"cannot start from that model: it has no weight {name}")
            taken = given.pop(name)
            if name in of_tokens and taken.shape != weight.shape:
                continue
            is_part = name in growing and taken.shape[0] <= weight.shape[0]
            if taken.shape[-1] != weight.shape[-1] or not (is_part or taken.shape == weight.shape):
                raise ValueError(
                    f"cannot start from that model: {name} is {tuple(taken.shape)} there and "
                    f"{tuple(weight.shape)} here; use one of the same widths, with no more nodes "
                    "or tokens"
                )
            weight[tuple(slice(size) for size in taken.shape)] = taken
    given = {name: weight for name, weight in given.items() if not name.startswith(HEADS)}
    if given:
        raise ValueError(f"cannot start from that model: {min(given)} has no counterpart here")
