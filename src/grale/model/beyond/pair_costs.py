"""What it costs to match two graphs (paper: "Graph matching"; edit distance of a mapping).

    D_ij(T) = 1[F_i != F'_j] + sum_kl T_kl 1[C_ik != C'_jl]
    bound   = sum_ij T_ij (1[F_i != F'_j] + 1/2 sum_kl T_kl 1[C_ik != C'_jl])

D_ij is the gradient of the bound: the edits that matching i to j adds if all other nodes follow T.
The smaller graph is padded with null nodes, which have a special label and no edges. If T is a
permutation, the bound is the number of edits.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn.functional import one_hot

from grale.graphs.batch import GraphBatch


@dataclass(frozen=True)
class PairCosts:
    """Labels of pairs of graphs, ready for counting edits under plans."""

    nodes: Float[Tensor, "B N N"]
    """1 where two nodes have different labels."""
    first: Int[Tensor, "B N N"]
    """Edge labels of the first graphs."""
    second: Int[Tensor, "B N N"]
    num_edge_classes: int
    directed: bool

    @classmethod
    def of(cls, first: GraphBatch, second: GraphBatch, num_edge_classes: int) -> PairCosts:
        """Compare graph b of the first batch with graph b of the second; widths must be equal."""
        nodes = _node_classes(first)[:, :, None] != _node_classes(second)[:, None]
        edges = first.edge_labels, second.edge_labels
        return cls(nodes.float(), *edges, num_edge_classes, first.directed)

    @cached_property
    def by_class(self) -> tuple[Float[Tensor, "B n_c N N"], Float[Tensor, "B n_c N N"]]:
        """Edges of both sides, one layer per class, "no edge" included."""
        first, second = (
            one_hot(labels, self.num_edge_classes).movedim(3, 1).float()
            for labels in (self.first, self.second)
        )
        return first, second

    @property
    def layers(self) -> tuple[Int[Tensor, "B L N N"], Int[Tensor, "B L N N"]]:
        """Edge labels of both sides, as seen from the source and, if directed, from the target."""
        first, second = (
            torch.stack([labels, labels.transpose(1, 2)] if self.directed else [labels], dim=1)
            for labels in (self.first, self.second)
        )
        return first, second

    def of_edges(self, plan: Float[Tensor, "B N N"]) -> Float[Tensor, "B N N"]:
        """sum_kl T_kl 1[C_ik != C'_jl], in O(N^3) per class; over both directions if directed."""
        total = plan.sum(dim=(1, 2), keepdim=True)
        first, second = self.by_class
        spread = plan[:, None]
        kept = (first @ spread @ second.transpose(2, 3)).sum(dim=1)
        if not self.directed:
            return total - kept
        arriving = (first.transpose(2, 3) @ spread @ second).sum(dim=1)
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
