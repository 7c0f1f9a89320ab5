"""Evoformer encoder and decoder (paper: appendix "Encoder", "Decoder" and their figures).

    encoder layer:  X <- FFB(bSAB(X, C));          C <- FFB(tSAB(OPB(C, X)))
    decoder layer:  X <- FFB(CAB(bSAB(X, C), Z));  C <- FFB(CAB(tSAB(OPB(C, X)), Z))

The norm is placed by `Residual`.
"""

from __future__ import annotations

from dataclasses import dataclass

from jaxtyping import Float
from torch import Tensor, nn

from grale.nn.attention import EdgeBiasedAttention
from grale.nn.cross_attention import AttendToFew
from grale.nn.feedforward import FeedForward
from grale.nn.outer_product import OuterProduct
from grale.nn.recompute import RecomputingStack
from grale.nn.residual import Norm, Residual, SideResidual, final_norm
from grale.nn.triangle import TriangleAttention


@dataclass(frozen=True, kw_only=True)
class EvoformerDims:
    """Widths shared by all layers of an Evoformer stack."""

    node_dim: int
    node_hidden_dim: int | None
    edge_dim: int
    edge_hidden_dim: int | None
    num_heads: int
    outer_dim: int
    norm: Norm


class NodeUpdate(nn.Module):
    """Nodes read the edges: the first half of an encoder layer."""

    def __init__(self, dims: EvoformerDims) -> None:
        super().__init__()
        node, norm = dims.node_dim, dims.norm
        attention = EdgeBiasedAttention(node, dims.edge_dim, dims.num_heads)
        self.node_attention = Residual(attention, node, norm)
        self.node_feedforward = Residual(FeedForward(node, dims.node_hidden_dim), node, norm)

    def update_nodes(
        self,
        nodes: Float[Tensor, "B N d_n"],
        edges: Float[Tensor, "B N N d_e"],
        mask: Float[Tensor, "B 1 1 N"] | None = None,
    ) -> Float[Tensor, "B N d_n"]:
        """Update the nodes; `mask` comes from :func:`grale.nn.attention.mask_bias`."""
        return self.node_feedforward(self.node_attention(nodes, edges, mask))


class NodeAndEdgeUpdate(NodeUpdate):
    """The blocks that layers of both stacks have."""

    def __init__(self, dims: EvoformerDims) -> None:
        super().__init__(dims)
        node, edge, norm = dims.node_dim, dims.edge_dim, dims.norm
        self.outer_product = SideResidual(
            OuterProduct(node, edge, dims.outer_dim), edge, node, norm
        )
        self.triangle = Residual(TriangleAttention(edge, dims.num_heads), edge, norm)
        self.edge_feedforward = Residual(FeedForward(edge, dims.edge_hidden_dim), edge, norm)


class EvoformerEncoderLayer(NodeAndEdgeUpdate):
    """Nodes read the edges, then edges read the nodes and their neighbouring edges."""

    def forward(
        self,
        nodes: Float[Tensor, "B N d_n"],
        edges: Float[Tensor, "B N N d_e"],
        mask: Float[Tensor, "B 1 1 N"] | None = None,
    ) -> tuple[Float[Tensor, "B N d_n"], Float[Tensor, "B N N d_e"]]:
        """Update nodes and edges; `mask` comes from :func:`grale.nn.attention.mask_bias`."""
        nodes = self.update_nodes(nodes, edges, mask)
        edges = self.outer_product(edges, nodes)
        edges = self.edge_feedforward(self.triangle(edges, mask))
        return nodes, edges


class EvoformerDecoderLayer(NodeAndEdgeUpdate):
    """An encoder layer with two more blocks that read the latent tokens."""

    def __init__(self, dims: EvoformerDims, token_dim: int) -> None:
        super().__init__(dims)
        node, edge = dims.node_dim, dims.edge_dim
        self.node_cross = Residual(AttendToFew(node, token_dim, dims.num_heads), node, dims.norm)
        self.edge_cross = Residual(AttendToFew(edge, token_dim, dims.num_heads), edge, dims.norm)

    def forward(
        self,
        nodes: Float[Tensor, "B N d_n"],
        edges: Float[Tensor, "B N N d_e"],
        tokens: Float[Tensor, "B K D"],
    ) -> tuple[Float[Tensor, "B N d_n"], Float[Tensor, "B N N d_e"]]:
        """Update node and edge slots from each other and from the tokens."""
        nodes = self.node_cross(self.node_attention(nodes, edges), tokens)
        nodes = self.node_feedforward(nodes)
        edges = self.triangle(self.outer_product(edges, nodes))
        edges = self.edge_cross(edges.flatten(1, 2), tokens).view_as(edges)
        return nodes, self.edge_feedforward(edges)


class EvoformerEncoder(RecomputingStack):
    """A stack of encoder layers."""

    def __init__(self, dims: EvoformerDims, num_layers: int) -> None:
        super().__init__()
        self.layers = nn.ModuleList(EvoformerEncoderLayer(dims) for _ in range(num_layers))
        self.node_norm = final_norm(dims.node_dim, dims.norm)
        self.edge_norm = final_norm(dims.edge_dim, dims.norm)

    def forward(
        self,
        nodes: Float[Tensor, "B N d_n"],
        edges: Float[Tensor, "B N N d_e"],
        mask: Float[Tensor, "B 1 1 N"] | None = None,
    ) -> tuple[Float[Tensor, "B N d_n"], Float[Tensor, "B N N d_e"]]:
        """Hidden representation (F^L, C^L) of the graph."""
        for layer in self.layers:
            nodes, edges = self.run_layer(layer, nodes, edges, mask)
        return self.node_norm(nodes), self.edge_norm(edges)

    def nodes_only(
        self,
        nodes: Float[Tensor, "B N d_n"],
        edges: Float[Tensor, "B N N d_e"],
        mask: Float[Tensor, "B 1 1 N"] | None = None,
    ) -> Float[Tensor, "B N d_n"]:
        """F^L alone: the last layer does not update the edges."""
        *layers, last = self.layers
        for layer in layers:
            nodes, edges = self.run_layer(layer, nodes, edges, mask)
        assert isinstance(last, EvoformerEncoderLayer)
        return self.node_norm(last.update_nodes(nodes, edges, mask))

    def weights_of_nodes(self) -> list[nn.Parameter]:
        """Weights that :meth:`nodes_only` depends on: not those of the last update of edges."""
        last = self.layers[-1]
        assert isinstance(last, EvoformerEncoderLayer)
        idle = (last.outer_product, last.triangle, last.edge_feedforward, self.edge_norm)
        idle_weights = {id(weight) for part in idle for weight in part.parameters()}
        return [weight for weight in self.parameters() if id(weight) not in idle_weights]


class EvoformerReadout(RecomputingStack):
    """A stack of encoder layers that returns nodes only: the last one has only its first half."""

    def __init__(self, dims: EvoformerDims, num_layers: int) -> None:
        super().__init__()
        self.layers = nn.ModuleList(EvoformerEncoderLayer(dims) for _ in range(num_layers - 1))
        self.last = NodeUpdate(dims)
        self.norm = final_norm(dims.node_dim, dims.norm)

    def forward(
        self, nodes: Float[Tensor, "B N d_n"], edges: Float[Tensor, "B N N d_e"]
    ) -> Float[Tensor, "B N d_n"]:
        """Nodes that have read each other and the edges."""
        for layer in self.layers:
            nodes, edges = self.run_layer(layer, nodes, edges)
        return self.norm(self.last.update_nodes(nodes, edges))


class EvoformerDecoder(RecomputingStack):
    """A stack of decoder layers."""

    def __init__(self, dims: EvoformerDims, token_dim: int, num_layers: int) -> None:
        super().__init__()
        self.layers = nn.ModuleList(
            EvoformerDecoderLayer(dims, token_dim) for _ in range(num_layers)
        )
        self.node_norm = final_norm(dims.node_dim, dims.norm)
        self.edge_norm = final_norm(dims.edge_dim, dims.norm)

    def forward(
        self,
        nodes: Float[Tensor, "B N d_n"],
        edges: Float[Tensor, "B N N d_e"],
        tokens: Float[Tensor, "B K D"],
    ) -> tuple[Float[Tensor, "B N d_n"], Float[Tensor, "B N N d_e"]]:
        """Graph (F_Q^L, C_Q^L) decoded from the tokens."""
        for layer in self.layers:
            nodes, edges = self.run_layer(layer, nodes, edges, tokens)
        return self.node_norm(nodes), self.edge_norm(edges)
