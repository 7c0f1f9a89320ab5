"""A graph neural network in place of the Evoformer encoder (paper: "Ablation studies details").

    F^{l+1} = F^l + GIN(Norm(F^l), A)
    C^L_ij  = CONCAT[F^L_i, F^L_j]

Departures: layers are residual with LayerNorm before each, as in all other stacks. Bare GIN layers
hardly train here: they memorise two of eight graphs while these memorise all eight. If there is
more than one edge label, the labels enter the messages (GINE), since the paper's adjacency matrix
would hide them; a directed edge counts as two labels, one for each direction.
"""

from __future__ import annotations

from typing import ClassVar

import torch
from jaxtyping import Float
from torch import Tensor, nn

from grale.graphs.flat import flatten, num_message_kinds, padded
from grale.model.backbone import Hidden
from grale.model.config import ModelConfig
from grale.model.featurizer import Featurizer, GraphInputs
from grale.nn.gin import GinShape, gin_convolution

NUM_LAYERS = 4


class GinBackbone(nn.Module):
    """Layers of message passing; the state of a pair is the states of its two nodes."""

    adam_weights: ClassVar = ("node_input", "edge_kinds")

    def __init__(self, featurizer: Featurizer, config: ModelConfig) -> None:
        super().__init__()
        self.space, dim = featurizer.space, config.node_dim
        if self.space.node_feature_dim or self.space.edge_feature_dim:
            raise ValueError("encoder=gin takes no continuous features; use evoformer")
        self.pair_dim = 2 * dim
        num_kinds = num_message_kinds(self.space)
        shape = GinShape(dim, dim, dim, num_kinds)
        self.node_input = nn.Linear(featurizer.feature_dim, dim)
        self.gin = nn.ModuleList(gin_convolution(shape, True) for _ in range(NUM_LAYERS))
        self.norms = nn.ModuleList(nn.LayerNorm(dim) for _ in range(NUM_LAYERS))
        self.edge_kinds = nn.Embedding(num_kinds, dim) if num_kinds > 1 else None

    def forward(self, inputs: GraphInputs) -> Hidden:
        """Hidden representation (F^L, C^L) of the graph."""
        nodes = self.nodes_only(inputs)
        sources, targets = torch.broadcast_tensors(nodes[:, :, None], nodes[:, None])
        return Hidden(nodes, torch.cat([sources, targets], dim=-1))

    def nodes_only(self, inputs: GraphInputs) -> Float[Tensor, "B N d_n"]:
        """F^L: messages among the real nodes of all graphs, one graph after the other."""
        mask = inputs.graphs.node_mask
        nodes = self.node_input(inputs.node_feats + inputs.noise)[mask]
        flat = flatten(inputs.graphs, self.space.num_edge_labels)
        features = () if self.edge_kinds is None else (self.edge_kinds(flat.kinds),)
        for layer, norm in zip(self.gin, self.norms):
            nodes = nodes + layer(norm(nodes), flat.ends, *features)
        return padded(nodes, mask)

    def weights_of_nodes(self) -> list[nn.Parameter]:
        """All of them."""
        return list(self.parameters())
