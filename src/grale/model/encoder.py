"""Encoder g: graph -> node embeddings and latent (paper: appendix "Encoder").

    (F^L, C^L) = backbone(F + Noise, C)
    X_i        = Linear(F^L_i) if node i exists, a learned vector u otherwise
    Z          = pooling(X, C^L)

X is padded to N with u. The paper's pooling is a Transformer decoder over the pairs.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor, nn

from grale.graphs.space import GraphSpace
from grale.model.backbone import Backbone
from grale.model.config import ModelConfig
from grale.model.featurizer import GraphInputs
from grale.model.matcher import Matcher
from grale.model.pooling import Pooling
from grale.model.slot_plan import SlotPlan


class Encoded(NamedTuple):
    """Output of the encoder."""

    nodes: Float[Tensor, "B N d_n"]
    """Node embeddings, padded to max_nodes (paper: X)."""
    latent: Float[Tensor, "B K D"]
    """Graph embedding (paper: Z)."""
    plan: SlotPlan
    """Which slot plays which node (paper: T)."""


class Encoder(nn.Module):
    """A backbone, node embeddings, and a pooling into the latent."""

    def __init__(
        self, space: GraphSpace, config: ModelConfig, backbone: Backbone, pooling: Pooling
    ) -> None:
        super().__init__()
        self.max_nodes = space.max_nodes
        self.backbone = backbone
        self.node_output = nn.Linear(config.node_dim, config.node_dim)
        self.padding = nn.Parameter(torch.randn(config.node_dim))
        self.pooling = pooling

    def forward(self, inputs: GraphInputs, matcher: Matcher) -> Encoded:
        """Encode featurized graphs; some poolings call the matcher."""
        hidden = self.backbone(inputs)
        nodes = self.padded(self.node_output(hidden.nodes), inputs)
        latent, plan = self.pooling(nodes, hidden.pairs, inputs.graphs, matcher)
        return Encoded(nodes, latent, plan)

    def nodes(self, inputs: GraphInputs) -> Float[Tensor, "B N d_n"]:
        """Node embeddings alone (paper: X), padded to max_nodes."""
        return self.padded(self.node_output(self.backbone.nodes_only(inputs)), inputs)

    def weights_of_nodes(self) -> list[nn.Parameter]:
        """Weights that :meth:`nodes` depends on."""
        return [self.padding, *self.backbone.weights_of_nodes(), *self.node_output.parameters()]

    def padded(
        self, nodes: Float[Tensor, "B n d_n"], inputs: GraphInputs
    ) -> Float[Tensor, "B N d_n"]:
        """Node embeddings, with the learned vector u where there is no node."""
        nodes = torch.where(inputs.graphs.node_mask[..., None], nodes, self.padding.to(nodes.dtype))
        missing = self.max_nodes - nodes.shape[1]
        return torch.cat([nodes, self.padding.to(nodes).expand(nodes.shape[0], missing, -1)], dim=1)
