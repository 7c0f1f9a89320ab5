"""Encoder g: graph -> node embeddings and latent (paper: appendix "Encoder").

    (F^1, C^1) = Linear(F + Noise), Linear(C)
    (F^L, C^L) = EvoformerEncoder(F^1, C^1)
    X_i        = Linear(F^L_i) if node i exists, a learned vector u otherwise
    Z          = TransformerDecoder(Z_Q, flatten(C^L))

The batch is encoded at its own width, then X is padded to N with u.

Departures: none.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor, nn
from torch.nn.functional import embedding

from grale.graphs.space import GraphSpace
from grale.model.config import ModelConfig
from grale.model.featurizer import Featurizer, GraphInputs
from grale.nn.attention import MASKED, mask_bias
from grale.nn.evoformer import EvoformerDims, EvoformerEncoder
from grale.nn.transformer import TransformerDecoder, TransformerDecoderLayer
from grale.transport.sinkhorn import SinkhornResult


class Encoded(NamedTuple):
    """What the encoder says of a batch."""

    nodes: Float[Tensor, "B N d_n"]
    """Node embeddings, padded to max_nodes (paper: X)."""
    latent: Float[Tensor, "B K D"]
    """Graph embedding (paper: Z)."""
    plan: SinkhornResult | None = None
    """Which slot plays which node, where the encoder has asked the matcher (decisions/012)."""


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

    def forward(
        self, inputs: GraphInputs, path_table: Float[Tensor, "P n_p"]
    ) -> Float[Tensor, "B N N d_e"]:
        """First edge state C^1."""
        table = self.edge_label[:, None].expand(-1, len(path_table), -1)
        if self.path is not None:
            table = table + self.path(path_table)
        code = inputs.graphs.edge_labels * len(path_table) + inputs.path_code
        source, target = self.source(inputs.node_feats), self.target(inputs.node_feats)
        return embedding(code, table.flatten(0, 1)) + source[:, :, None] + target[:, None]


class Encoder(nn.Module):
    """Evoformer encoder, then pooling of the edges by a Transformer decoder."""

    def __init__(self, space: GraphSpace, config: ModelConfig) -> None:
        super().__init__()
        self.space = space
        self.featurizer = Featurizer(space, config.featurizer)
        self.node_input = nn.Linear(self.featurizer.feature_dim, config.node_dim)
        pair_dim = self._add_stack(config)
        self.node_output = nn.Linear(config.node_dim, config.node_dim)
        self.padding = nn.Parameter(torch.randn(config.node_dim))
        self.queries = nn.Parameter(torch.randn(config.num_tokens, config.token_width))
        self._add_pooling(config, pair_dim)

    def _add_stack(self, config: ModelConfig) -> int:
        """Make the layers of `hidden`; return the width of what it says of a pair."""
        self.edge_input = EdgeInput(self.featurizer, config.edge_dim)
        self.evoformer = EvoformerEncoder(evoformer_dims(config), encoder_layers(config))
        return config.edge_dim

    def _add_pooling(self, config: ModelConfig, pair_dim: int) -> None:
        """Make the layers that read the latent from the pairs."""
        layers = [
            TransformerDecoderLayer(
                config.token_dim,
                pair_dim,
                config.node_hidden_dim,
                config.num_heads,
                config.norm,
            )
            for _ in range(encoder_layers(config))
        ]
        self.pool = TransformerDecoder(layers, config.token_dim, config.norm)

    def hidden(
        self, inputs: GraphInputs
    ) -> tuple[Float[Tensor, "B N d_n"], Float[Tensor, "B N N d_e"]]:
        """Hidden representation (F^L, C^L) of the graph."""
        return self.evoformer(*self._first_states(inputs))

    def hidden_nodes(self, inputs: GraphInputs) -> Float[Tensor, "B N d_n"]:
        """F^L alone, for less."""
        return self.evoformer.nodes_only(*self._first_states(inputs))

    def _first_states(self, inputs: GraphInputs) -> tuple[Tensor, Tensor, Tensor]:
        """F^1, C^1 and the bias that hides padding."""
        nodes = self.node_input(inputs.node_feats + inputs.noise)
        edges = self.edge_input(inputs, self.featurizer.path_table)
        return nodes, edges, mask_bias(inputs.graphs.node_mask, nodes.dtype)

    def nodes(self, inputs: GraphInputs) -> Float[Tensor, "B N d_n"]:
        """Node embeddings alone (paper: X), padded to max_nodes."""
        return self._padded(self.node_output(self.hidden_nodes(inputs)), inputs)

    def recompute_activations(self, wanted: bool) -> None:
        """Recompute layers in the backward pass, or not."""
        self.evoformer.recomputes = wanted

    def forward(self, inputs: GraphInputs, matcher: nn.Module | None = None) -> Encoded:
        """Encode featurized graphs; this encoder does not ask the matcher."""
        graphs = inputs.graphs
        nodes, edges = self.hidden(inputs)
        padding = torch.zeros_like(edges[..., 0]).masked_fill(~graphs.edge_mask, MASKED)
        queries = self.queries.expand(len(graphs), -1, -1)
        latent = self.pool(queries, edges.flatten(1, 2), padding.flatten(1)[:, None])
        return Encoded(self._padded(self.node_output(nodes), inputs), latent)

    def _padded(
        self, nodes: Float[Tensor, "B n d_n"], inputs: GraphInputs
    ) -> Float[Tensor, "B N d_n"]:
        nodes = torch.where(inputs.graphs.node_mask[..., None], nodes, self.padding.to(nodes.dtype))
        missing = self.space.max_nodes - nodes.shape[1]
        return torch.cat([nodes, self.padding.to(nodes).expand(len(nodes), missing, -1)], dim=1)


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


def encoder_layers(config: ModelConfig) -> int:
    """Layers of each of the encoder's two stacks."""
    return config.encoder_layers or config.num_layers
