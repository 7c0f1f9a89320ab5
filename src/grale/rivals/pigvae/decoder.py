"""Decoder of PIGVAE: latent and ranks -> graph (Winter et al. 2021, "Decoder").

    M           = layers(Linear(z), PE'_i, PE'_j)          PE' = P PE, sinusoidal in the rank
    F_hat_i     = Linear(m_ii)
    C_hat_ij    = Linear(m_ij), zero on the diagonal, averaged with its transpose
    n_hat       = MLP(z)                                   standardised

The layers do not see the order of the nodes, so permuting PE permutes the graph.

Departures: edge logits of directed graphs are not averaged. The number of nodes is standardised by
N alone, (n - (N + 1) / 2) / (N / 4); the original uses the mean and deviation of its data.
"""

from __future__ import annotations

from typing import ClassVar

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from torch.nn.functional import pad

from grale.codec.logits import GraphLogits
from grale.graphs.space import GraphSpace
from grale.nn.attention import full_precision
from grale.nn.positions import path_encoding
from grale.rivals.pigvae.config import PigvaeConfig
from grale.rivals.pigvae.layers import MessageStack, node_states

SURE = 10.0
"""Logit of the existence of a node: the model predicts how many there are, not which."""


class PigvaeDecoder(nn.Module):
    """Message layers over the encoded ranks of the nodes."""

    adam_weights: ClassVar = ("node_head", "edge_head")

    position_table: Float[Tensor, "N p"]

    def __init__(self, space: GraphSpace, config: PigvaeConfig) -> None:
        super().__init__()
        self.space = space
        table = path_encoding(space.max_nodes, config.position_dim)[: space.max_nodes]
        self.register_buffer("position_table", table, persistent=False)
        self.latent = nn.Linear(config.latent_dim, config.message_dim)
        self.stack = MessageStack(config.message_dim, config.position_dim, config)
        self.node_head = nn.Linear(config.message_dim, space.num_node_labels)
        self.edge_head = nn.Linear(config.message_dim, space.num_edge_classes)

    def forward(
        self,
        latents: Float[Tensor, "B Z"],
        permutation: Float[Tensor, "B N N"],
        node_mask: Bool[Tensor, "B N"],
    ) -> GraphLogits:
        """Logits in the order of the nodes; `permutation` is node x rank, soft or hard."""
        table = self.position_table[: node_mask.shape[1]]
        positions = permutation.to(table.dtype) @ table
        messages = self.stack(self.latent(latents)[:, None, None], positions, node_mask)
        edges = self.edge_head(messages)
        if not self.space.directed:
            edges = (edges + edges.transpose(1, 2)) / 2
        others = ~torch.eye(edges.shape[1], dtype=torch.bool, device=edges.device)
        pairs = node_mask[:, :, None] & node_mask[:, None, :] & others
        nodes = self.node_head(node_states(messages)) * node_mask[..., None]
        exists = torch.where(node_mask, SURE, -SURE).to(nodes.dtype)
        edges = edges * pairs[..., None]
        return GraphLogits(exists, nodes, nodes[..., :0], edges, edges[..., :0])

    def in_rank_order(
        self, latents: Float[Tensor, "B Z"], num_nodes: Int[Tensor, " B"]
    ) -> GraphLogits:
        """Logits of graphs of these sizes, node r at rank r, padded to max_nodes."""
        width = int(num_nodes.max())
        ranks = torch.eye(width, dtype=latents.dtype, device=latents.device)
        node_mask = torch.arange(width, device=latents.device) < num_nodes[:, None]
        logits = self(latents, ranks.expand(len(latents), -1, -1), node_mask)
        extra = self.space.max_nodes - width
        node_label = pad(logits.node_label, (0, 0, 0, extra))
        edge_label = pad(logits.edge_label, (0, 0, 0, extra, 0, extra))
        return GraphLogits(
            pad(logits.node_mask, (0, extra), value=-SURE),
            node_label,
            node_label[..., :0],
            edge_label,
            edge_label[..., :0],
        )


class SizeHead(nn.Module):
    """Network of three layers from the latent to the standardised number of nodes."""

    def __init__(self, space: GraphSpace, config: PigvaeConfig) -> None:
        super().__init__()
        self.max_nodes = space.max_nodes
        dim = config.latent_dim
        self.net = nn.Sequential(
            nn.Linear(dim, dim), nn.ReLU(), nn.Dropout(config.dropout), nn.LayerNorm(dim),
            nn.Linear(dim, dim), nn.ReLU(), nn.Dropout(config.dropout), nn.LayerNorm(dim),
            nn.Linear(dim, 1),
        )  # fmt: skip

    def forward(self, latents: Float[Tensor, "B Z"]) -> Float[Tensor, " B"]:
        """Predict the standardised number."""
        return full_precision(self.net(latents)[:, 0])

    def standardised(self, num_nodes: Int[Tensor, " B"]) -> Float[Tensor, " B"]:
        """Subtract the mean of sizes uniform up to N, and divide by roughly their deviation."""
        return (num_nodes - (self.max_nodes + 1) / 2) / (self.max_nodes / 4)

    def count(self, latents: Float[Tensor, "B Z"]) -> Int[Tensor, " B"]:
        """Predict how many nodes there are: at least one, at most N."""
        number = self(latents) * (self.max_nodes / 4) + (self.max_nodes + 1) / 2
        return number.round().long().clamp(1, self.max_nodes)
