"""Poolings: states of nodes and pairs -> latent tokens, and the way back (appendix "Encoder").

    attention   Z = TransformerDecoder(Z_Q, flatten(C^L))                     the paper's
    transport   nodes and pairs are moved to the slots by the matcher's plan (decisions/012)

A pooling is one class and its counterpart in the decoder, here or in another file, and one line in
`parts.py`.
"""

from __future__ import annotations

from typing import ClassVar, NamedTuple, Protocol, runtime_checkable

import torch
from jaxtyping import Float
from torch import Tensor, nn

from grale.graphs.batch import GraphBatch
from grale.model.config import ModelConfig
from grale.model.matcher import Matcher
from grale.nn.attention import MASKED
from grale.nn.transformer import TransformerDecoder, TransformerDecoderLayer
from grale.transport.sinkhorn import SinkhornResult


class Pooled(NamedTuple):
    """A latent, and the plan behind it if there is one."""

    latent: Float[Tensor, "B K D"]
    plan: SinkhornResult | None


@runtime_checkable
class Pooling(Protocol):
    """How nodes and pairs become tokens."""

    def __call__(
        self,
        nodes: Float[Tensor, "B N d_n"],
        pairs: Float[Tensor, "B n n d_p"],
        graphs: GraphBatch,
        matcher: Matcher,
    ) -> Pooled:
        """Pool a batch; `nodes` are padded to max_nodes, `pairs` are not."""

    def recompute_activations(self, wanted: bool) -> None:
        """Recompute layers in the backward pass, or not."""


@runtime_checkable
class Unpooling(Protocol):
    """How a decoder starts from tokens."""

    def widen(self, latent: Float[Tensor, "B K D"]) -> Float[Tensor, "B K d_t"]:
        """Tokens at the width of the decoder's layers."""

    def first_slots(
        self, queries: Float[Tensor, "N d_n"], tokens: Float[Tensor, "B K d_t"]
    ) -> Float[Tensor, "B N d_n"]:
        """First state of each slot (paper: F_Q)."""


class AttentionPooling(nn.Module):
    """Learned queries read all pairs of nodes by cross-attention."""

    adam_weights: ClassVar = ("queries",)
    growing_weights: ClassVar = ("queries",)

    def __init__(self, config: ModelConfig, max_nodes: int, pair_dim: int) -> None:
        super().__init__()
        self.queries = nn.Parameter(torch.randn(config.num_tokens, config.token_width))
        layers = [
            TransformerDecoderLayer(
                config.token_dim,
                pair_dim,
                config.node_hidden_dim,
                config.num_heads,
                config.norm,
            )
            for _ in range(config.layers_of_encoder)
        ]
        self.layers = TransformerDecoder(layers, config.token_dim, config.norm)

    def forward(
        self,
        nodes: Float[Tensor, "B N d_n"],
        pairs: Float[Tensor, "B n n d_p"],
        graphs: GraphBatch,
        matcher: Matcher,
    ) -> Pooled:
        """Read the pairs; node embeddings and matcher are not used."""
        padding = torch.zeros_like(pairs[..., 0]).masked_fill(~graphs.edge_mask, MASKED)
        queries = self.queries.expand(nodes.shape[0], -1, -1)
        return Pooled(self.layers(queries, pairs.flatten(1, 2), padding.flatten(1)[:, None]), None)

    def recompute_activations(self, wanted: bool) -> None:
        """Do nothing: these layers store little."""


class AttentionUnpooling(nn.Module):
    """Tokens are left as they are; slots start from the learned queries alone."""

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()

    def widen(self, latent: Float[Tensor, "B K D"]) -> Float[Tensor, "B K d_t"]:
        """Return the tokens unchanged."""
        return latent

    def first_slots(
        self, queries: Float[Tensor, "N d_n"], tokens: Float[Tensor, "B K d_t"]
    ) -> Float[Tensor, "B N d_n"]:
        """F_Q for each graph."""
        return queries.expand(tokens.shape[0], -1, -1)
