"""What it costs to match two graphs (paper: "Graph matching"; edit distance of a mapping).

    D_ij(T) = 1[F_i != F'_j] + sum_kl T_kl 1[C_ik != C'_jl]
    bound   = sum_ij T_ij (1[F_i != F'_j] + 1/2 sum_kl T_kl 1[C_ik != C'_jl])

D_ij is the gradient of the bound: the edits that sending i to j brings if all others go by T.
Graphs are padded to the larger of the two with null nodes, which have a label of their own and no
edges; at a permutation the bound is the number of edits.

Departures: none.
"""

from __future__ import annotations

from dataclasses import dataclass

from jaxtyping import Float
from torch import Tensor
from torch.nn.functional import one_hot

from grale.graphs.batch import GraphBatch


@dataclass(frozen=True)
class PairCosts:
    """Labels of pairs of graphs, ready for counting edits under plans."""

    nodes: Float[Tensor, "B N N"]
    """1 where two nodes have different labels."""
    first: Float[Tensor, "B n_c N N"]
    """Edges of the first graphs, a layer per class, "no edge" included."""
    second: Float[Tensor, "B n_c N N"]
    directed: bool

    @classmethod
    def of(cls, first: GraphBatch, second: GraphBatch, num_edge_classes: int) -> PairCosts:
        """Compare graph b of the first batch with graph b of the second, of the same width."""
        nodes = _node_classes(first)[:, :, None] != _node_classes(second)[:, None]
        edges = (
            one_hot(graphs.edge_labels, num_edge_classes).movedim(3, 1).float()
            for graphs in (first, second)
        )
        return cls(nodes.float(), *edges, first.directed)

    def of_edges(self, plan: Float[Tensor, "B N N"]) -> Float[Tensor, "B N N"]:
        """sum_kl T_kl 1[C_ik != C'_jl], in O(N^3) per class; over both directions if directed."""
        total = plan.sum(dim=(1, 2), keepdim=True)
        spread = plan[:, None]
        kept = (self.first @ spread @ self.second.transpose(2, 3)).sum(dim=1)
        if not self.directed:
            return total - kept
        arriving = (self.first.transpose(2, 3) @ spread @ self.second).sum(dim=1)
        return 2 * total - kept - arriving

    def per_pair(self, plan: Float[Tensor, "B N N"]) -> Float[Tensor, "B N N"]:
        """D(T)."""
        return self.nodes + self.of_edges(plan)

    def bound(self, plan: Float[Tensor, "B N N"]) -> Float[Tensor, " B"]:
        """Edits of each pair of graphs under a plan."""
        return (plan * (self.nodes + self.of_edges(plan) / 2)).sum(dim=(1, 2))


def _node_classes(graphs: GraphBatch) -> Tensor:
    """Labels from 1; 0 for null nodes."""
    return (graphs.node_labels + 1) * graphs.node_mask
