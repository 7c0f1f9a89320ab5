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
from jaxtyping import Float, Int
from torch import Tensor, nn

from grale.graphs.batch import GraphBatch
from grale.model.backbone import Hidden
from grale.model.config import ModelConfig
from grale.model.featurizer import Featurizer, GraphInputs

NUM_LAYERS = 4


class GinBackbone(nn.Module):
    """Layers of message passing; the state of a pair is the states of its two nodes."""

    adam_weights: ClassVar = ("node_input", "edge_kinds")

    def __init__(self, featurizer: Featurizer, config: ModelConfig) -> None:
        super().__init__()
        self.space, dim = featurizer.space, config.node_dim
        self.pair_dim = 2 * dim
        self.num_kinds = self.space.num_edge_labels * (2 if self.space.directed else 1)
        self.node_input = nn.Linear(featurizer.feature_dim, dim)
        self.gin = nn.ModuleList(_layer(dim, self.num_kinds) for _ in range(NUM_LAYERS))
        self.norms = nn.ModuleList(nn.LayerNorm(dim) for _ in range(NUM_LAYERS))
        self.edge_kinds = nn.Embedding(self.num_kinds, dim) if self.num_kinds > 1 else None

    def forward(self, inputs: GraphInputs) -> Hidden:
        """Hidden representation (F^L, C^L) of the graph."""
        nodes = self.nodes_only(inputs)
        sources, targets = torch.broadcast_tensors(nodes[:, :, None], nodes[:, None])
        return Hidden(nodes, torch.cat([sources, targets], dim=-1))

    def nodes_only(self, inputs: GraphInputs) -> Float[Tensor, "B N d_n"]:
        """F^L: messages among the nodes of all graphs, one graph after the other."""
        nodes = self.node_input(inputs.node_feats + inputs.noise)
        flat = nodes.flatten(0, 1)
        ends, kinds = self._edges(inputs.graphs)
        features = () if self.edge_kinds is None else (self.edge_kinds(kinds),)
        for layer, norm in zip(self.gin, self.norms):
            flat = flat + layer(norm(flat), ends, *features)
        return flat.view_as(nodes)

    def weights_of_nodes(self) -> list[nn.Parameter]:
        """All of them."""
        return list(self.parameters())

    def _edges(self, graphs: GraphBatch) -> tuple[Int[Tensor, "2 E"], Int[Tensor, " E"]]:
        """Ends and kind of each message in the batch, one graph after the other."""
        row, source, target = graphs.edge_labels.nonzero(as_tuple=True)
        kinds = graphs.edge_labels[row, source, target] - 1
        ends = torch.stack([source, target]) + row * graphs.max_nodes
        if not self.space.directed:
            return ends, kinds
        back = kinds + self.space.num_edge_labels
        return torch.cat([ends, ends.flip(0)], dim=1), torch.cat([kinds, back])

    def recompute_activations(self, wanted: bool) -> None:
        """Do nothing: these layers store little."""


def _layer(dim: int, num_kinds: int) -> nn.Module:
    try:
        from torch_geometric.nn import GINConv, GINEConv
    except ImportError as error:
        raise ImportError("encoder=gin needs torch_geometric: pip install 'grale[pyg]'") from error
    network = nn.Sequential(nn.Linear(dim, dim), nn.ReLU(inplace=True), nn.Linear(dim, dim))
    return (GINEConv if num_kinds > 1 else GINConv)(network, train_eps=True)
