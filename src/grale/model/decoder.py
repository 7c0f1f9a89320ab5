"""Decoder f: latent -> slots and graph (paper: appendix "Decoder").

    Z^L            = TransformerEncoder(Z)
    (F_Q^L, C_Q^L) = EvoformerDecoder(F_Q, C_Q, Z^L)        F_Q, C_Q learned queries
    h_hat = Sigmoid(Linear(F_Q^L)),  F_hat = Linear(F_Q^L),  C_hat = Linear(C_Q^L)
    X_hat = Linear(F_Q^L)

Departures: edge predictions of undirected graphs are averaged with their transpose. With
pooling=transport, the slot's own token is added to F_Q, and X_hat is not needed.
"""

from __future__ import annotations

from typing import ClassVar, NamedTuple, Protocol, runtime_checkable

import torch
from jaxtyping import Float
from torch import Tensor, nn

from grale.codec.logits import GraphLogits
from grale.graphs.space import GraphSpace
from grale.model.backbone import Hidden, evoformer_dims
from grale.model.config import ModelConfig
from grale.model.featurizer import Featurizer
from grale.model.pooling import Unpooling
from grale.nn.evoformer import EvoformerDecoder
from grale.nn.transformer import TransformerEncoder


class Decoded(NamedTuple):
    """Output of the decoder."""

    slots: Float[Tensor, "B N d_n"]
    """Node embeddings of the output (paper: X hat)."""
    logits: GraphLogits
    hidden: Hidden
    """States of slots and pairs of slots (paper: F_Q^L, C_Q^L); the description pools them."""


@runtime_checkable
class DecoderStack(Protocol):
    """Layers that turn the first slots and the tokens into a hidden graph."""

    def __call__(self, slots: Float[Tensor, "B N d_n"], tokens: Float[Tensor, "B K d_t"]) -> Hidden:
        """Decode all slots, including those that will not exist."""

    def recompute_activations(self, wanted: bool) -> None:
        """Recompute layers in the backward pass, or not."""


class EvoformerStack(nn.Module):
    """Learned queries for pairs of slots, and the Evoformer decoder."""

    adam_weights: ClassVar = ("edge_queries",)
    growing_weights: ClassVar = ("edge_queries",)

    def __init__(self, config: ModelConfig, max_nodes: int) -> None:
        super().__init__()
        self.edge_queries = nn.Parameter(torch.randn(max_nodes, max_nodes, config.edge_dim))
        dims = evoformer_dims(config)
        self.layers = EvoformerDecoder(dims, config.token_width, config.num_layers)

    def forward(self, slots: Float[Tensor, "B N d_n"], tokens: Float[Tensor, "B K d_t"]) -> Hidden:
        """Hidden representation (F_Q^L, C_Q^L) of the decoded graph."""
        edges = self.edge_queries.expand(len(tokens), -1, -1, -1)
        return Hidden(*self.layers(slots, edges, tokens))

    def recompute_activations(self, wanted: bool) -> None:
        """Recompute layers in the backward pass, or not."""
        self.layers.recomputes = wanted


class Decoder(nn.Module):
    """Transformer encoder over the tokens, a stack over the slots, linear heads."""

    adam_weights: ClassVar = ("node_queries", "node_heads", "edge_heads")
    growing_weights: ClassVar = ("node_queries",)

    def __init__(
        self,
        space: GraphSpace,
        config: ModelConfig,
        featurizer: Featurizer,
        unpooling: Unpooling,
        stack: DecoderStack,
    ) -> None:
        super().__init__()
        self.directed = space.directed
        self.unpooling, self.stack = unpooling, stack
        self.tokens = TransformerEncoder(
            config.token_width,
            config.node_hidden_dim,
            config.num_heads,
            config.norm,
            config.num_layers,
        )
        self.node_queries = nn.Parameter(torch.randn(space.max_nodes, config.node_dim))
        self.node_sizes = [1, space.num_node_labels, featurizer.node_target_dim]
        self.edge_sizes = [space.num_edge_classes, featurizer.edge_target_dim]
        dim = config.node_dim
        self.slot_output = nn.Linear(dim, dim) if config.matches_slots else nn.Identity()
        self.node_heads = nn.Linear(config.node_dim, sum(self.node_sizes))
        self.edge_heads = nn.Linear(config.edge_dim, sum(self.edge_sizes))

    def forward(self, latent: Float[Tensor, "B K D"]) -> Decoded:
        """Decode latents into slots and logits."""
        tokens = self.tokens(self.unpooling.widen(latent))
        slots = self.unpooling.first_slots(self.node_queries, tokens)
        hidden = self.stack(slots, tokens)
        return Decoded(self.slot_output(hidden.nodes), self._logits(hidden), hidden)

    def recompute_activations(self, wanted: bool) -> None:
        """Recompute layers in the backward pass, or not."""
        self.stack.recompute_activations(wanted)

    def _logits(self, hidden: Hidden) -> GraphLogits:
        mask, label, feature = self.node_heads(hidden.nodes).split(self.node_sizes, dim=-1)
        pairs = self.edge_heads(hidden.pairs)
        if not self.directed:
            pairs = (pairs + pairs.transpose(1, 2)) / 2
        edge_label, edge_feature = pairs.split(self.edge_sizes, dim=-1)
        return GraphLogits(mask[..., 0], label, feature, edge_label, edge_feature)
