"""Reconstruction loss of GraphVAE (Simonovsky & Komodakis 2018: "Reconstruction Loss").

    - log p(A' | z) = mean_a BCE(A~_aa, A'_aa) + mean_{a != b} BCE(A~_ab, A'_ab)
    - log p(F | z)  = mean_i CE(F_i, F~'_i)        over the nodes of the graph
    - log p(E | z)  = mean_ij CE(E_ij, E~'_ij)     over its edges

A' = X A X^T is the graph in the order of the slots; F~' and E~' are predictions in the order of
the graph. Here, all of them are in the order of the graph, padded to the k slots.

Departures: a graph without edges has no third term.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn.functional import binary_cross_entropy_with_logits

from grale.codec.loss_terms import LossTermsPerGraph
from grale.graphs.batch import GraphBatch
from grale.rivals.graphvae.decoder import Prediction


@dataclass(frozen=True)
class ReconstructionTerms(LossTermsPerGraph):
    """The terms for each graph; all have weight 1."""

    existence: Float[Tensor, " B"]
    """Over all slots."""
    adjacency: Float[Tensor, " B"]
    """Over all pairs of slots."""
    node_label: Float[Tensor, " B"]
    edge_label: Float[Tensor, " B"]

    def total(self) -> Float[Tensor, " B"]:
        """- log p(G | z)."""
        return self.existence + self.adjacency + self.node_label + self.edge_label


def reconstruction_terms(graphs: GraphBatch, matched: Prediction) -> ReconstructionTerms:
    """Compare graphs, padded to the number of slots, with predictions in their order."""
    size = graphs.max_nodes
    dtype = matched.adjacency.dtype
    entropy = binary_cross_entropy_with_logits(
        matched.adjacency, _with_existence(graphs).to(dtype), reduction="none"
    )
    existence = entropy.diagonal(dim1=1, dim2=2).sum(dim=1)
    node_entropy = _cross_entropy(matched.node_label, graphs.node_labels) * graphs.node_mask
    edge_entropy = _cross_entropy(matched.edge_label, (graphs.edge_labels - 1).clamp_min(0))
    return ReconstructionTerms(
        existence=existence / size,
        adjacency=(entropy.sum(dim=(1, 2)) - existence) / max(size * (size - 1), 1),
        node_label=node_entropy.sum(dim=1) / graphs.num_nodes,
        edge_label=(edge_entropy * graphs.adjacency).sum(dim=(1, 2))
        / graphs.adjacency.sum(dim=(1, 2)).clamp_min(1),
    )


def _with_existence(graphs: GraphBatch) -> Tensor:
    """A, with A_ii = 1 for real nodes."""
    return graphs.adjacency | torch.diag_embed(graphs.node_mask)


def _cross_entropy(
    logits: Float[Tensor, "*shape n"], labels: Int[Tensor, "*shape"]
) -> Float[Tensor, "*shape"]:
    return -logits.log_softmax(dim=-1).gather(-1, labels[..., None])[..., 0]
