"""Decoder of GraphVAE (Simonovsky & Komodakis 2018: "Probabilistic Graph Decoder").

    hidden = MLP(z), with BatchNorm and ReLU
    A~ = sigmoid(Linear(hidden)),  E~ = softmax(Linear(hidden)),  F~ = softmax(Linear(hidden))

A~_aa says whether slot a exists, A~_ab whether there is an edge, E~_ab of which type it is.

Departures: in directed spaces, the heads predict full matrices instead of upper triangles.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import torch
from jaxtyping import Bool, Float, Int
from scipy.sparse.csgraph import minimum_spanning_tree
from torch import Tensor, nn

from grale.codec.logits import GraphLogits
from grale.graphs.permute import gather_edges, gather_nodes
from grale.graphs.space import GraphSpace
from grale.nn.attention import full_precision
from grale.rivals.graphvae.config import GraphVaeConfig

AT_HALF = 1e-30  # added to a logit: a probability of exactly one half counts as present
NEVER = -1e4  # score of a class that must not be chosen; finite, so that gaps stay finite


@dataclass(frozen=True)
class Prediction:
    """A~, E~ and F~ before activation, in full precision."""

    adjacency: Float[Tensor, "B M M"]
    """Existence of slots on the diagonal, of edges elsewhere; symmetric unless directed."""
    edge_label: Float[Tensor, "B M M n_e"]
    """Over the types 1 .. n_e; meaningless on the diagonal."""
    node_label: Float[Tensor, "B M n_0"]

    def reordered(self, permutation: Int[Tensor, "B M"]) -> Prediction:
        """Slot i of the result is slot `permutation[i]`."""
        return Prediction(
            gather_edges(self.adjacency, permutation),
            gather_edges(self.edge_label, permutation),
            gather_nodes(self.node_label, permutation),
        )

    def to_graph_logits(self) -> GraphLogits:
        """Scores whose best classes are the published point estimate.

        A slot exists if A~_aa >= 1/2. A pair scores 0 for "no edge". Its best type scores the logit
        of A~_ab, and any other type less, by its log-ratio to the best. So there is an edge, of the
        best type, if A~_ab >= 1/2. (The probabilities of the classes would give an edge only if
        A~_ab E~_ab > 1 - A~_ab for one of the types.)
        """
        behind = self.edge_label - self.edge_label.amax(dim=-1, keepdim=True)
        types = self.adjacency[..., None] + AT_HALF + behind
        existence = self.adjacency.diagonal(dim1=1, dim2=2) + AT_HALF
        no_node_feature, no_edge_feature = self.node_label[..., :0], self.edge_label[..., :0]
        return GraphLogits(
            existence,
            self.node_label,
            no_node_feature,
            torch.cat([torch.zeros_like(types[..., :1]), types], dim=-1),
            no_edge_feature,
        )


class GraphVaeDecoder(nn.Module):
    """Multi-layer perceptron and three parallel heads."""

    adam_weights: ClassVar = ("adjacency_head", "edge_label_head", "node_label_head")

    entry: Int[Tensor, "M M"]

    def __init__(self, space: GraphSpace, config: GraphVaeConfig) -> None:
        super().__init__()
        self.space = space
        widths = [config.latent_dim, *config.decoder_dims]
        self.hidden = nn.Sequential(
            *(
                nn.Sequential(
                    nn.Linear(in_dim, out_dim, bias=False),
                    nn.BatchNorm1d(out_dim),
                    nn.ReLU(),
                )
                for in_dim, out_dim in zip(widths, widths[1:])
            )
        )
        entry = _entries(space.max_nodes, space.directed)
        self.register_buffer("entry", entry, persistent=False)
        num_entries = _num_entries(space.max_nodes, space.directed)
        self.adjacency_head = nn.Linear(widths[-1], num_entries)
        self.edge_label_head = nn.Linear(widths[-1], num_entries * space.num_edge_labels)
        self.node_label_head = nn.Linear(widths[-1], space.max_nodes * space.num_node_labels)

    def forward(self, latents: Float[Tensor, "B Z"]) -> Prediction:
        """Decode rows of latents."""
        hidden = self.hidden(latents)
        edge_label = self.edge_label_head(hidden).unflatten(1, (-1, self.space.num_edge_labels))
        node_label = self.node_label_head(hidden).unflatten(1, (-1, self.space.num_node_labels))
        return Prediction(
            full_precision(self.adjacency_head(hidden))[:, self.entry],
            full_precision(edge_label)[:, self.entry],
            full_precision(node_label),
        )


def _num_entries(size: int, directed: bool) -> int:
    """Outputs of a head: one for each ordered or unordered pair of slots, (a, a) included."""
    return size * size if directed else size * (size + 1) // 2


def _entries(size: int, directed: bool) -> Int[Tensor, "M M"]:
    """Which output of a head belongs to (a, b): numbered along the upper triangle, mirrored."""
    if torch.get_default_device().type == "meta":  # only the shape is needed
        return torch.empty(size, size, dtype=torch.int64)
    if directed:
        return torch.arange(size * size).unflatten(0, (size, size))
    entry = torch.zeros(size, size, dtype=torch.int64)
    above, right = torch.triu_indices(size, size)
    entry[above, right] = torch.arange(len(above))
    entry[right, above] = entry[above, right]
    return entry


def connect(logits: GraphLogits, node_mask: Bool[Tensor, "B M"]) -> GraphLogits:
    """Make the most likely graph on the slots of `node_mask` connected, at the least cost in A~.

    "No edge" is ruled out on a maximum spanning tree of A~ over these slots, as published for
    molecules. Undirected graphs only.
    """
    edge_label = logits.edge_label.clone()
    chances = (edge_label[..., 1:].amax(dim=-1) - edge_label[..., 0]).sigmoid().double().cpu()
    for row, (mask, chance) in enumerate(zip(node_mask.cpu(), chances)):
        slots = mask.nonzero()[:, 0]
        costs = 2 - chance[slots][:, slots]  # scipy reads a cost of 0 as a missing pair
        tree = minimum_spanning_tree(costs.triu(1).numpy()).tocoo()
        first, second = (slots[torch.from_numpy(end).long()] for end in (tree.row, tree.col))
        edge_label[row, first, second, 0] = NEVER
        edge_label[row, second, first, 0] = NEVER
    return GraphLogits(
        logits.node_mask, logits.node_label, logits.node_feature, edge_label, logits.edge_feature
    )
