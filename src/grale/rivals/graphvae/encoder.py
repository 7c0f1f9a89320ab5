"""Encoder of GraphVAE (Simonovsky & Komodakis 2018: "Encoder"; convolutions: the same, 2017).

    h_i      <- ReLU(BatchNorm(h_i + 1/|N(i)| sum_{j in N(i)} Theta[E_ij] h_j))
    pooled    = sum_i sigmoid(gate(h_i)) * value(h_i)
    mu, log sigma^2 = Linear(pooled)

Theta[E_ij] is the output of a linear layer on the one-hot edge label: a matrix per label.

Departures: if a convolution changes the number of channels, its identity connection is a linear
map. In directed graphs, incoming and outgoing edges have separate matrices. A convolution has no
bias: the batch normalisation after it has one.
"""

from __future__ import annotations

from typing import ClassVar

import torch
from jaxtyping import Bool, Float
from torch import Tensor, nn
from torch.nn.functional import one_hot, relu

from grale.graphs.batch import GraphBatch
from grale.graphs.space import GraphSpace
from grale.nn.attention import full_precision
from grale.nn.gaussian import GaussianLatent
from grale.rivals.graphvae.config import Aggregation, GraphVaeConfig


class EdgeConditionedConvolution(nn.Module):
    """Identity connection plus messages of the neighbours, with one matrix per relation."""

    def __init__(self, in_dim: int, out_dim: int, num_relations: int) -> None:
        super().__init__()
        self.num_relations = num_relations
        self.filters = nn.Linear(in_dim, num_relations * out_dim, bias=False)
        self.identity: nn.Module = nn.Identity()
        if in_dim != out_dim:
            self.identity = nn.Linear(in_dim, out_dim, bias=False)

    def forward(
        self, nodes: Float[Tensor, "B N d"], relations: Float[Tensor, "B N R N"]
    ) -> Float[Tensor, "B N d_out"]:
        """Entry (i, r, j) of `relations` weighs the message from j to i along relation r."""
        messages = self.filters(nodes).unflatten(-1, (self.num_relations, -1))
        return self.identity(nodes) + torch.einsum("birj,bjrd->bid", relations, messages)


class RealNodeNorm(nn.BatchNorm1d):
    """Batch normalisation over the real nodes of a batch; zero on padding."""

    def forward(  # type: ignore[override]  # also takes the mask
        self, nodes: Float[Tensor, "B N d"], node_mask: Bool[Tensor, "B N"]
    ) -> Float[Tensor, "B N d"]:
        """Normalise the rows of real nodes."""
        real = super().forward(nodes[node_mask])
        return real.new_zeros(nodes.shape).masked_scatter(node_mask[..., None], real)


class GraphVaeEncoder(nn.Module):
    """Convolutions, gated pooling, and a linear layer to the posterior."""

    adam_weights: ClassVar = ("convolutions.0",)

    def __init__(self, space: GraphSpace, config: GraphVaeConfig) -> None:
        super().__init__()
        self.space, self.aggregation = space, config.aggregation
        num_relations = space.num_edge_labels * (2 if space.directed else 1)
        width, num_convolutions = config.encoder_dim, config.num_convolutions
        self.convolutions = nn.ModuleList(
            EdgeConditionedConvolution(
                width if layer else space.num_node_labels, width, num_relations
            )
            for layer in range(num_convolutions)
        )
        self.norms = nn.ModuleList(RealNodeNorm(width) for _ in range(num_convolutions))
        pool_dim = config.pool_dim or config.latent_dim
        self.gate = nn.Linear(config.encoder_dim, pool_dim)
        self.value = nn.Linear(config.encoder_dim, pool_dim)
        self.posterior = nn.Linear(pool_dim, 2 * config.latent_dim)

    def forward(self, graphs: GraphBatch) -> GaussianLatent:
        """Encode a batch of any width."""
        dtype = self.posterior.weight.dtype
        nodes = one_hot(graphs.node_labels, self.space.num_node_labels).to(dtype)
        relations = relations_of(graphs, self.space.num_edge_labels, self.aggregation).to(dtype)
        for convolution, norm in zip(self.convolutions, self.norms):
            nodes = relu(norm(convolution(nodes, relations), graphs.node_mask))
        gated = self.gate(nodes).sigmoid() * self.value(nodes)
        pooled = (gated * graphs.node_mask[..., None]).sum(dim=1)
        mean, log_variance = full_precision(self.posterior(pooled)).chunk(2, dim=1)
        return GaussianLatent(mean, log_variance)


def relations_of(
    graphs: GraphBatch, num_edge_labels: int, aggregation: Aggregation
) -> Float[Tensor, "B N R N"]:
    """Entry (i, r, j): 1 where j is a neighbour of i along r; divided by |N(i)| for the mean.

    Relations are the edge labels; in directed graphs, first those of j -> i, then those of i -> j.
    """
    outgoing = one_hot(graphs.edge_labels, num_edge_labels + 1)[..., 1:].transpose(2, 3).float()
    relations = outgoing
    if graphs.directed:
        relations = torch.cat([outgoing.transpose(1, 3), outgoing], dim=2)
    if aggregation == "mean":
        relations = relations / relations.sum(dim=(2, 3), keepdim=True).clamp_min(1)
    return relations
