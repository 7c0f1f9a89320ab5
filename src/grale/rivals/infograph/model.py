"""InfoGraph: mutual information between nodes and their graph (Sun et al. 2020).

    h_i = CONCAT[h_i^1, ..., h_i^L],   H(G) = sum_{i in G} h_i       L layers of GIN
    s_iG = phi(h_i) . psi(H(G))                                      for all nodes and graphs
    loss = mean_{i not in G} [softplus(-s_iG) + s_iG - log 2]
         - mean_{i in G}     [log 2 - softplus(-s_iG)]

phi and psi are networks of three layers beside a linear one. The loss is minus the Jensen-Shannon
estimate of the mutual information; negatives are the other graphs of the batch.

Departures: no prior on the embeddings (an option of the original that is off there, too). Messages
carry embedded edge labels (GINE). BatchNorm stands before the ReLU of a layer instead of after it,
as in the other encoders here.
"""

from __future__ import annotations

from math import log

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn.functional import softplus

from grale.codec.graph_embedder import GraphEmbedder
from grale.graphs.batch import GraphBatch
from grale.graphs.flat import FlatGraphs, flatten, num_message_kinds
from grale.graphs.space import GraphSpace
from grale.nn.gin import GinEncoder, sum_over_graphs
from grale.rivals.infograph.config import InfographConfig


class InfoGraph(GraphEmbedder):
    """Encoder trained to know which nodes belong to which graph."""

    architecture = "infograph"
    config_class = InfographConfig
    groups_by_size = False  # negatives are other graphs, of any size

    def __init__(self, space: GraphSpace, config: InfographConfig) -> None:
        super().__init__(space, config)
        self.encoder = GinEncoder(
            space.num_node_labels, config.hidden_dim, config.num_layers, num_message_kinds(space)
        )
        self.local_network = Beside(self.latent_dim)
        self.global_network = Beside(self.latent_dim)

    @property
    def latent_dim(self) -> int:
        """Length of one embedding row."""
        return self.config.num_layers * self.config.hidden_dim

    def vectors_of(self, graphs: GraphBatch) -> Float[Tensor, "B Z"]:
        """Sums of the node states of each layer, one after the other."""
        flat = flatten(graphs, self.space.num_edge_labels)
        return sum_over_graphs(self._nodes(flat), flat.owner, flat.num_graphs)

    def losses(
        self,
        graphs: GraphBatch,
        noise: Float[Tensor, "B 0"],
        properties: Float[Tensor, "B p"] | None = None,
    ) -> dict[str, Float[Tensor, ""]]:
        """Loss, and how often a node scores highest with its own graph."""
        flat = flatten(graphs, self.space.num_edge_labels)
        nodes = self._nodes(flat)
        whole = sum_over_graphs(nodes, flat.owner, flat.num_graphs)
        scores = self.local_network(nodes) @ self.global_network(whole).T
        found = (scores.detach().argmax(dim=1) == flat.owner).float().mean()
        return {"loss": node_graph_loss(scores, flat.owner), "found": found}

    def draw_noise(self, count: int, generator: torch.Generator) -> Float[Tensor, "B 0"]:
        """Nothing is random."""
        return torch.empty(count, 0, device=generator.device)

    def _nodes(self, flat: FlatGraphs) -> Float[Tensor, "M Z"]:
        states = self.encoder(flat.labels, flat.ends, flat.kinds).relu()
        return torch.cat(list(states), dim=1)


class Beside(nn.Module):
    """Three layers, each with its ReLU, and a linear one beside them."""

    def __init__(self, dim: int) -> None:
        super().__init__()
        layers = [part for _ in range(3) for part in (nn.Linear(dim, dim), nn.ReLU())]
        self.block, self.shortcut = nn.Sequential(*layers), nn.Linear(dim, dim)

    def forward(self, states: Float[Tensor, "M d"]) -> Float[Tensor, "M d"]:
        """Apply both and add."""
        return self.block(states) + self.shortcut(states)


def node_graph_loss(scores: Float[Tensor, "M B"], owner: Int[Tensor, " M"]) -> Float[Tensor, ""]:
    """Minus the Jensen-Shannon estimate; `owner` says which graph is the positive of each node."""
    num_nodes, num_graphs = scores.shape
    if num_graphs < 2:
        raise ValueError("a batch of one graph has no negatives; use batches of at least 2")
    is_own = owner[:, None] == torch.arange(num_graphs, device=owner.device)
    agree = log(2) - softplus(-scores)
    differ = softplus(-scores) + scores - log(2)
    positive = (agree * is_own).sum() / num_nodes
    negative = (differ * ~is_own).sum() / (num_nodes * (num_graphs - 1))
    return negative - positive
