"""A batch that is encoded once, then decoded or compared as often as needed."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from jaxtyping import Float
from torch import Tensor

from grale.codec.logits import GraphLogits
from grale.graphs.batch import GraphBatch

Rebuild = Callable[[Float[Tensor, "B Z"], bool], GraphBatch]
"""Decodes latents of all rows; column i plays input node i. True: use the true sizes."""
Compare = Callable[[Float[Tensor, "R Z"], list[int]], tuple[GraphLogits, Float[Tensor, " R"]]]
"""Decodes latents of some rows into logits and the loss of each row, with gradients."""


class EncodedBatch(NamedTuple):
    """Latents of a batch, and the way back to its graphs."""

    latents: Float[Tensor, "B Z"]
    """The encoder's."""
    rebuild: Rebuild
    compare: Compare | None = None
    """None for models whose loss is not a function of the latent."""
