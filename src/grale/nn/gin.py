"""Layers of GIN and GINE (Xu et al. 2019; Hu et al. 2020), on torch_geometric.

    GIN    h_i <- MLP((1 + eps) h_i + sum_{j -> i} h_j)
    GINE   h_i <- MLP((1 + eps) h_i + sum_{j -> i} ReLU(h_j + e_ij))

GINE stands wherever messages are of more than one kind; e_ij is a learned row for each kind.
"""

from __future__ import annotations

from typing import ClassVar, NamedTuple

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn


class GinShape(NamedTuple):
    """Sizes of one layer."""

    dim: int
    hidden_dim: int
    out_dim: int
    num_kinds: int
    """Kinds of messages."""


def gin_convolution(shape: GinShape, train_eps: bool) -> nn.Module:
    """One convolution of torch_geometric; GINE's is called with the rows e_ij, too."""
    try:
        from torch_geometric.nn import GINConv, GINEConv
    except ImportError as error:
        raise ImportError("GIN layers need torch_geometric: pip install 'grale[pyg]'") from error
    network = nn.Sequential(
        nn.Linear(shape.dim, shape.hidden_dim),
        nn.ReLU(inplace=True),
        nn.Linear(shape.hidden_dim, shape.out_dim),
    )
    return (GINEConv if shape.num_kinds > 1 else GINConv)(network, train_eps=train_eps)


class GinLayer(nn.Module):
    """One convolution with eps = 0 and its own rows for the kinds of messages."""

    adam_weights: ClassVar = ("edge_kinds",)

    def __init__(self, shape: GinShape) -> None:
        super().__init__()
        self.convolution = gin_convolution(shape, train_eps=False)
        several = shape.num_kinds > 1
        self.edge_kinds = nn.Embedding(shape.num_kinds, shape.dim) if several else None

    def forward(
        self, nodes: Float[Tensor, "M d"], ends: Int[Tensor, "2 E"], kinds: Int[Tensor, " E"]
    ) -> Float[Tensor, "M d_out"]:
        """Pass messages along all edges once."""
        if self.edge_kinds is None:
            return self.convolution(nodes, ends)
        return self.convolution(nodes, ends, self.edge_kinds(kinds))


class GinEncoder(nn.Module):
    """Embedded labels, then layers of GIN with BatchNorm, and ReLU after all but the last.

    The MLP of a layer has one hidden layer, twice as wide as its input (Hu et al. 2020).
    """

    adam_weights: ClassVar = ("labels",)

    def __init__(self, num_labels: int, dim: int, num_layers: int, num_kinds: int) -> None:
        super().__init__()
        shape = GinShape(dim, 2 * dim, dim, num_kinds)
        self.labels = nn.Embedding(num_labels, dim)
        self.layers = nn.ModuleList(GinLayer(shape) for _ in range(num_layers))
        self.norms = nn.ModuleList(nn.BatchNorm1d(dim) for _ in range(num_layers))

    def forward(
        self, labels: Int[Tensor, " M"], ends: Int[Tensor, "2 E"], kinds: Int[Tensor, " E"]
    ) -> Float[Tensor, "L M d"]:
        """Node states after each of the layers."""
        nodes, states = self.labels(labels), list[Tensor]()
        for layer, norm in zip(self.layers, self.norms):
            nodes = norm(layer(nodes.relu() if states else nodes, ends, kinds))
            states.append(nodes)
        return torch.stack(states)


def sum_over_graphs(
    nodes: Float[Tensor, "M d"], owner: Int[Tensor, " M"], num_graphs: int
) -> Float[Tensor, "B d"]:
    """Sum of the states of each graph's nodes."""
    return nodes.new_zeros(num_graphs, nodes.shape[1]).index_add(0, owner, nodes)


def mean_over_graphs(
    nodes: Float[Tensor, "M d"], owner: Int[Tensor, " M"], num_graphs: int
) -> Float[Tensor, "B d"]:
    """Mean of the states of each graph's nodes."""
    counts = owner.bincount(minlength=num_graphs).clamp_min(1)
    return sum_over_graphs(nodes, owner, num_graphs) / counts[:, None]
