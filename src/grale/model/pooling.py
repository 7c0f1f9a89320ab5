"""Poolings: states of nodes and pairs -> latent tokens, and the way back (appendix "Encoder").

    attention   Z = TransformerDecoder(Z_Q, flatten(C^L))                     the paper's
    transport   nodes and pairs are moved to the slots by the matcher's plan (decisions/012)

A pooling is one class and its counterpart in the decoder, here or in another file, and one line in
`choices.py`.
"""

from __future__ import annotations

from typing import ClassVar, NamedTuple, Protocol, runtime_checkable

import torch
from jaxtyping import Float
from torch import Tensor, nn

from grale.graphs.batch import GraphBatch
from grale.model.config import ModelConfig
from grale.model.matcher import Matcher
from grale.model.slot_plan import PlanOfMatcher, SlotPlan
from grale.nn.attention import MASKED
from grale.nn.transformer import TransformerDecoder, TransformerDecoderLayer


class Pooled(NamedTuple):
    """A latent, and which slot will play which node."""

    latent: Float[Tensor, "B K D"]
    plan: SlotPlan


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


@runtime_checkable
class Unpooling(Protocol):
    """How a decoder starts from tokens."""

    is_matched: ClassVar[bool]
    """Whether the matcher compares the decoded slots with the nodes."""

    def __init__(self, config: ModelConfig) -> None:
        """Make the layers."""

    @staticmethod
    def token_width(config: ModelConfig) -> int:
        """Width of the tokens in the decoder's layers."""

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
        self.queries = nn.Parameter(torch.randn(config.num_tokens, config.token_dim))
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
        """Read the pairs; the matcher compares nodes with slots after decoding."""
        padding = torch.zeros_like(pairs[..., 0]).masked_fill(~graphs.edge_mask, MASKED)
        queries = self.queries.expand(nodes.shape[0], -1, -1)
        latent = self.layers(queries, pairs.flatten(1, 2), padding.flatten(1)[:, None])
        return Pooled(latent, PlanOfMatcher(matcher, nodes))


class AttentionUnpooling(nn.Module):
    """Tokens are left as they are; slots start from the learned queries alone."""

    is_matched: ClassVar = True

    def __init__(self, config: ModelConfig) -> None:
        super().__init__()

    @staticmethod
    def token_width(config: ModelConfig) -> int:
        """Width of the tokens in the decoder's layers."""
        return config.token_dim

    def widen(self, latent: Float[Tensor, "B K D"]) -> Float[Tensor, "B K d_t"]:
        """Return the tokens unchanged."""
        return latent

    def first_slots(
        self, queries: Float[Tensor, "N d_n"], tokens: Float[Tensor, "B K d_t"]
    ) -> Float[Tensor, "B N d_n"]:
        """F_Q for each graph."""
        return queries.expand(tokens.shape[0], -1, -1)
