"""What a decoder predicts, before activation (paper: G hat = (h hat, F hat, C hat))."""

from __future__ import annotations

from dataclasses import dataclass, fields

import torch
from jaxtyping import Float, Int
from torch import Tensor

from grale.graphs.batch import GraphBatch
from grale.nn.attention import full_precision


@dataclass(frozen=True)
class GraphLogits:
    """G hat before activation, one entry per term of the loss."""

    node_mask: Float[Tensor, "B N"]
    """Existence score (paper: logit of h hat)."""
    node_label: Float[Tensor, "B N n_0"]
    node_feature: Float[Tensor, "B N n_d"]
    edge_label: Float[Tensor, "B N N n_c"]
    """Symmetric in (i, j) unless directed."""
    edge_feature: Float[Tensor, "B N N n_p"]

    def in_full_precision(self) -> GraphLogits:
        """The same in float32, where autocast has left less."""
        return GraphLogits(*(full_precision(getattr(self, f.name)) for f in fields(self)))

    def most_likely(self, directed: bool, num_nodes: Int[Tensor, " B"] | None = None) -> GraphBatch:
        """Most likely graph: existing slots (at least one), best labels, no self-loops.

        With `num_nodes`, exactly that many slots: those with the highest scores.
        """
        rank = self.node_mask.argsort(dim=1, descending=True, stable=True).argsort(dim=1)
        node_mask = (self.node_mask > 0) | (rank == 0)
        if num_nodes is not None:
            node_mask = rank < num_nodes[:, None]
        pairs = node_mask[:, :, None] & node_mask[:, None, :]
        pairs = pairs & ~torch.eye(pairs.shape[1], dtype=torch.bool, device=pairs.device)
        return GraphBatch(
            node_mask,
            self.node_label.argmax(dim=-1) * node_mask,
            self.edge_label.argmax(dim=-1) * pairs,
            directed,
        )


IMPOSSIBLE = -1e4  # logit of an edge label that a model never predicts; finite, for arithmetic


def adjacency_logits(
    scores: Float[Tensor, "B N N"], num_classes: int
) -> Float[Tensor, "B N N {num_classes}"]:
    """Logits of edge labels from one score per pair: "no edge" 0, label 1 the score, no others."""
    others = scores.new_full((*scores.shape, num_classes - 2), IMPOSSIBLE)
    return torch.cat([torch.stack([torch.zeros_like(scores), scores], dim=-1), others], dim=-1)
