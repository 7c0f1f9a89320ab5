"""The stack below the pooling: graph -> states of nodes and of pairs (paper: appendix "Encoder").

    (F^1, C^1) = Linear(F + Noise), Linear(C)
    (F^L, C^L) = EvoformerEncoder(F^1, C^1)

The batch is padded to its largest graph only.
"""

from __future__ import annotations

from typing import ClassVar, NamedTuple, Protocol, runtime_checkable

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn.functional import embedding

from grale.model.config import ModelConfig
from grale.model.featurizer import Featurizer, GraphInputs
from grale.nn.attention import mask_bias
from grale.nn.evoformer import EvoformerDims, EvoformerEncoder


class Hidden(NamedTuple):
    """Hidden representation of a graph."""

    nodes: Float[Tensor, "B n d_n"]
    """Paper: F^L."""
    pairs: Float[Tensor, "B n n d_p"]
    """Paper: C^L."""


@runtime_checkable
class Backbone(Protocol):
    """The part of an encoder that reads the graph."""

    pair_dim: int
    """Width of the state of a pair."""

    def __call__(self, inputs: GraphInputs) -> Hidden:
        """Read featurized graphs."""

    def nodes_only(self, inputs: GraphInputs) -> Float[Tensor, "B n d_n"]:
        """F^L alone, for less."""

    def weights_of_nodes(self) -> list[nn.Parameter]:
        """Weights that :meth:`nodes_only` depends on."""


class EvoformerBackbone(nn.Module):
    """First linear layers and the Evoformer encoder."""

    adam_weights: ClassVar = ("node_input", "edge_input", "value_input")

    def __init__(self, featurizer: Featurizer, config: ModelConfig) -> None:
        super().__init__()
        self.pair_dim = config.edge_dim
        self.node_input = nn.Linear(featurizer.feature_dim, config.node_dim)
        self.edge_input = EdgeInput(featurizer, config.edge_dim)
        self.evoformer = EvoformerEncoder(evoformer_dims(config), config.layers_of_encoder)
        count = featurizer.space.node_feature_dim
        self.value_input = nn.Linear(count, config.node_dim, bias=False) if count else None
        self.dropout = nn.Dropout(config.dropout) if config.dropout else nn.Identity()

    def forward(self, inputs: GraphInputs) -> Hidden:
        """Read featurized graphs."""
        return Hidden(*self.evoformer(*self._first_states(inputs)))

    def nodes_only(self, inputs: GraphInputs) -> Float[Tensor, "B n d_n"]:
        """F^L alone, for less."""
        return self.evoformer.nodes_only(*self._first_states(inputs))

    def weights_of_nodes(self) -> list[nn.Parameter]:
        """All weights except those with which the last layer updates edges."""
        first = [*self.node_input.parameters(), *self.edge_input.parameters()]
        if self.value_input is not None:
            first += self.value_input.parameters()
        return [*first, *self.evoformer.weights_of_nodes()]

    def _first_states(self, inputs: GraphInputs) -> tuple[Tensor, Tensor, Tensor]:
        """F^1, C^1 and the bias that hides padding."""
        nodes = self.node_input(inputs.node_feats + inputs.noise)
        if self.value_input is not None:
            assert inputs.node_values is not None  # a space with features has them
            nodes = nodes + self.value_input(inputs.node_values.to(nodes.dtype))
        nodes, edges = self.dropout(nodes), self.dropout(self.edge_input(inputs))
        return nodes, edges, mask_bias(inputs.graphs.node_mask, nodes.dtype)


class EdgeInput(nn.Module):
    """Linear[CONCAT[F_i, F_j, ONE-HOT(A_ij), PE(SP_ij)]] without the concatenation.

    A linear layer of a concatenation is a sum of linear layers: two per node, and one row
    of a small table per (edge label, path length).
    """

    def __init__(self, featurizer: Featurizer, edge_dim: int) -> None:
        super().__init__()
        self.source = nn.Linear(featurizer.feature_dim, edge_dim)
        self.target = nn.Linear(featurizer.feature_dim, edge_dim, bias=False)
        self.edge_label = nn.Parameter(torch.empty(featurizer.space.num_edge_classes, edge_dim))
        path_dim = featurizer.path_dim
        self.path = nn.Linear(path_dim, edge_dim, bias=False) if path_dim else None
        nn.init.normal_(self.edge_label, std=0.5)
        count = featurizer.space.edge_feature_dim
        self.value = nn.Linear(count, edge_dim, bias=False) if count else None

    def forward(self, inputs: GraphInputs) -> Float[Tensor, "B N N d_e"]:
        """First edge state C^1."""
        num_paths = len(inputs.path_table)
        table = self.edge_label[:, None].expand(-1, num_paths, -1)
        if self.path is not None:
            table = table + self.path(inputs.path_table)
        code = inputs.graphs.edge_labels * num_paths + inputs.path_code
        source, target = self.source(inputs.node_feats), self.target(inputs.node_feats)
        edges = embedding(code, table.flatten(0, 1)) + source[:, :, None] + target[:, None]
        if self.value is None:
            return edges
        assert inputs.edge_values is not None  # a space with features has them
        return edges + self.value(inputs.edge_values.to(edges.dtype))


def evoformer_dims(config: ModelConfig) -> EvoformerDims:
    """Widths of both Evoformer stacks."""
    return EvoformerDims(
        node_dim=config.node_dim,
        node_hidden_dim=config.node_hidden_dim,
        edge_dim=config.edge_dim,
        edge_hidden_dim=config.edge_hidden_dim,
        num_heads=config.num_heads,
        outer_dim=config.outer_dim,
        norm=config.norm,
    )
