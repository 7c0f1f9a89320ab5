"""Decoder f: latent -> slots and graph (paper: appendix "Decoder").

    Z^L            = TransformerEncoder(Z)
    (F_Q^L, C_Q^L) = EvoformerDecoder(F_Q, C_Q, Z^L)        F_Q, C_Q learned queries
    h_hat = Sigmoid(Linear(F_Q^L)),  F_hat = Linear(F_Q^L),  C_hat = Linear(C_Q^L)
    X_hat = Linear(F_Q^L)

Departures: edge predictions of undirected graphs are averaged with their transpose; with
pooling=transport F_Q also has what the slot's own token says, and X_hat is not asked for.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from grale.graphs.batch import GraphBatch
from grale.graphs.space import GraphSpace
from grale.model.config import ModelConfig
from grale.model.encoder import evoformer_dims
from grale.model.featurizer import Featurizer
from grale.nn.attention import full_precision
from grale.nn.evoformer import EvoformerDecoder
from grale.nn.transformer import TransformerEncoder


@dataclass(frozen=True)
class GraphLogits:
    """G hat before activation, one entry per term of the loss."""

    node_mask: Float[Tensor, "B N"]
    """Existence score (paper: logit of h hat)."""
    node_label: Float[Tensor, "B N n_0"]
    node_feature: Float[Tensor, "B N n_d"]
    edge_label: Float[Tensor, "B N N n_c"]
    """Symmetric in (i, j) unless directed."""
    edge_feature: Float[Tensor, "B N N n_p"]

    def in_full_precision(self) -> GraphLogits:
        """Float32 where autocast has left something shorter."""
        return GraphLogits(*(full_precision(getattr(self, f.name)) for f in fields(self)))

    def most_likely(self, directed: bool, num_nodes: Int[Tensor, " B"] | None = None) -> GraphBatch:
        """Most likely graph: existing slots (one at least), best labels, no self-loops.

        With `num_nodes`, exactly as many slots as that, those with the highest scores.
        """
        rank = self.node_mask.argsort(dim=1, descending=True, stable=True).argsort(dim=1)
        node_mask = (self.node_mask > 0) | (rank == 0)
        if num_nodes is not None:
            node_mask = rank < num_nodes[:, None]
        pairs = node_mask[:, :, None] & node_mask[:, None, :]
        pairs = pairs & ~torch.eye(pairs.shape[1], dtype=torch.bool, device=pairs.device)
        return GraphBatch(
            node_mask,
            self.node_label.argmax(dim=-1) * node_mask,
            self.edge_label.argmax(dim=-1) * pairs,
            directed,
        )


class Decoded(NamedTuple):
    """What the decoder makes of a latent."""

    slots: Float[Tensor, "B N d_n"]
    """Node embeddings of the output (paper: X hat)."""
    logits: GraphLogits


class Decoder(nn.Module):
    """Transformer encoder over the tokens, then the Evoformer decoder over learned queries."""

    def __init__(self, space: GraphSpace, config: ModelConfig, featurizer: Featurizer) -> None:
        super().__init__()
        self.directed = space.directed
        size = space.max_nodes
        self.by_transport = config.pooling == "transport"
        if self.by_transport:
            self.widen = nn.Linear(config.token_dim, config.token_width)
            self.slot_input = nn.Linear(config.token_width, config.node_dim)
        self.tokens = TransformerEncoder(
            config.token_width,
            config.node_hidden_dim,
            config.num_heads,
            config.norm,
            config.num_layers,
        )
        self.node_queries = nn.Parameter(torch.randn(size, config.node_dim))
        self._add_stack(size, config)
        self.node_sizes = [
            1, space.num_node_labels, featurizer.feature_dim - space.num_node_labels
        ]  # fmt: skip
        self.edge_sizes = [space.num_edge_classes, featurizer.path_dim]
        reads_slots = config.matcher.kind == "sinkhorn" and not self.by_transport
        dim = config.node_dim
        self.slot_output = nn.Linear(dim, dim) if reads_slots else nn.Identity()
        self.node_heads = nn.Linear(config.node_dim, sum(self.node_sizes))
        self.edge_heads = nn.Linear(config.edge_dim, sum(self.edge_sizes))

    def _add_stack(self, size: int, config: ModelConfig) -> None:
        """Make the layers of `hidden` for `size` slots."""
        self.edge_queries = nn.Parameter(torch.randn(size, size, config.edge_dim))
        self.evoformer = EvoformerDecoder(
            evoformer_dims(config), config.token_width, config.num_layers
        )

    def hidden(
        self, tokens: Float[Tensor, "B K d_t"]
    ) -> tuple[Float[Tensor, "B N d_n"], Float[Tensor, "B N N d_e"]]:
        """Hidden representation (F_Q^L, C_Q^L) of the graph to come."""
        edges = self.edge_queries.expand(len(tokens), -1, -1, -1)
        return self.evoformer(self._first_slots(tokens), edges, tokens)

    def _first_slots(self, tokens: Float[Tensor, "B K d_t"]) -> Float[Tensor, "B N d_n"]:
        """F_Q, and what the token of each slot says where there is one."""
        if self.by_transport:
            return self.node_queries + self.slot_input(tokens)
        return self.node_queries.expand(len(tokens), -1, -1)

    def recompute_activations(self, wanted: bool) -> None:
        """Recompute layers in the backward pass, or not."""
        self.evoformer.recomputes = wanted

    def forward(self, latent: Float[Tensor, "B K D"]) -> Decoded:
        """Decode latents into slots and logits."""
        tokens = self.tokens(self.widen(latent) if self.by_transport else latent)
        nodes, edges = self.hidden(tokens)
        return Decoded(self.slot_output(nodes), self._logits(nodes, edges))

    def _logits(
        self, nodes: Float[Tensor, "B N d_n"], edges: Float[Tensor, "B N N d_e"]
    ) -> GraphLogits:
        mask, label, feature = self.node_heads(nodes).split(self.node_sizes, dim=-1)
        pairs = self.edge_heads(edges)
        if not self.directed:
            pairs = (pairs + pairs.transpose(1, 2)) / 2
        edge_label, edge_feature = pairs.split(self.edge_sizes, dim=-1)
        return GraphLogits(mask[..., 0], label, feature, edge_label, edge_feature)
