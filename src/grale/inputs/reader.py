"""The network from an input to a few vectors; predictors that are compared share it.

    tokens = TransformerEncoder(tokens of the image or of the fingerprint)
    out    = TransformerDecoder(learned queries, tokens)

As in DETR and Any2Graph; the paper uses "the same model for phi". Products are made in bfloat16
where the processor multiplies it (docs/speed.md).
"""

from __future__ import annotations

from typing import ClassVar

import torch
from jaxtyping import Bool, Float, Int, UInt8
from torch import Tensor, nn

from grale.inputs.bit_tokens import BitTokens
from grale.inputs.config import ReaderConfig
from grale.inputs.image_tokens import NUM_TURNS, ImageTokens
from grale.inputs.space import InputSpace
from grale.nn.attention import mask_bias
from grale.nn.half import fast_products
from grale.nn.transformer import TransformerDecoder, TransformerDecoderLayer, TransformerEncoder

TOKENS: dict[str, type[ImageTokens] | type[BitTokens]] = {
    "image": ImageTokens,
    "bits": BitTokens,
    "counts": BitTokens,
}


class InputEncoder(nn.Module):
    """Tokens of an input that have read each other."""

    def __init__(self, space: InputSpace, config: ReaderConfig) -> None:
        super().__init__()
        dim, heads = config.dim, config.num_heads
        self.tokens = TOKENS[space.kind](space, config)
        self.layers = TransformerEncoder(dim, 4 * dim, heads, "pre", config.num_layers)

    def forward(
        self, inputs: UInt8[Tensor, "B w"], turns: Int[Tensor, " B"] | None = None
    ) -> tuple[Float[Tensor, "B M d"], Bool[Tensor, "B M"] | None]:
        """Tokens, and which are real; None if all are."""
        with fast_products(inputs.device):
            tokens, is_real = self.tokens(inputs, turns)
            bias = None if is_real is None else mask_bias(is_real, tokens.dtype)
            return self.layers(tokens, bias).to(self.dtype), is_real

    @property
    def dtype(self) -> torch.dtype:
        """That of the weights, and of what comes out."""
        return next(self.parameters()).dtype

    def mean(
        self, inputs: UInt8[Tensor, "B w"], turns: Int[Tensor, " B"] | None = None
    ) -> Float[Tensor, "B d"]:
        """Mean of the real tokens: one vector for an input."""
        tokens, is_real = self(inputs, turns)
        if is_real is None:
            return tokens.mean(dim=1)
        weights = is_real.to(tokens) / is_real.sum(dim=1, keepdim=True)
        return torch.einsum("bm,bmd->bd", weights, tokens)


class Reader(nn.Module):
    """Learned queries that read the tokens of an input."""

    adam_weights: ClassVar = ("queries",)

    def __init__(self, space: InputSpace, config: ReaderConfig, num_queries: int) -> None:
        super().__init__()
        dim, heads = config.dim, config.num_heads
        self.encoder = InputEncoder(space, config)
        self.queries = nn.Parameter(torch.randn(num_queries, dim))
        layers = [
            TransformerDecoderLayer(dim, dim, 4 * dim, heads, "pre")
            for _ in range(config.num_layers)
        ]
        self.layers = TransformerDecoder(layers, dim, "pre")

    def forward(
        self, inputs: UInt8[Tensor, "B w"], turns: Int[Tensor, " B"] | None = None
    ) -> Float[Tensor, "B Q d"]:
        """One vector per query."""
        tokens, is_real = self.encoder(inputs, turns)
        bias = None if is_real is None else mask_bias(is_real, tokens.dtype)[:, 0]
        with fast_products(inputs.device):
            found = self.layers(self.queries.expand(len(inputs), -1, -1), tokens, bias)
        return found.to(self.queries.dtype)


def draw_turns(
    space: InputSpace, config: ReaderConfig, count: int, generator: torch.Generator
) -> Float[Tensor, "B 1"]:
    """How each image of a training step is turned, as numbers; 0 if nothing is."""
    if not (space.is_image and config.turns):
        return torch.zeros(count, 1)
    return torch.randint(NUM_TURNS, (count, 1), generator=generator).float()
