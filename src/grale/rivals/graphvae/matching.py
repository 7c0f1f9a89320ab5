"""Matching of GraphVAE (Simonovsky & Komodakis 2018: "Graph Matching"; Cho et al. 2014).

    S((i,j),(a,b)) = (E_ij . E~_ab) A_ij A~_ab A~_aa A~_bb    for i != j and a != b
    S((i,i),(a,a)) = (F_i . F~_a) A~_aa                       and 0 otherwise
    x_ia <- x_ia S((i,i),(a,a)) + sum_{j != i} max_{b != a} x_jb S((i,j),(a,b)),  x <- x / |x|

S contains A_ij, so only neighbours j count, and j sends the same message along all edges of one
label: an iteration costs at most O(|E| k^2) instead of O(k^4).

Max-pooling does not see how many neighbours share a slot, and it ignores isolated nodes, so the
best assignment may be tied. Nodes are first put into canonical order, so that the choice does not
depend on the order in which they are listed.

Departures: directed graphs are matched by the symmetric part of S, which has the same x^T S x.
"""

from __future__ import annotations

from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor
from torch.nn.functional import pad

from grale.graphs.batch import GraphBatch
from grale.graphs.canonical import canonical_positions
from grale.graphs.permute import inverse_permutation, permute_batch
from grale.rivals.graphvae.decoder import Prediction
from grale.transport.assignment import assign

NORM_FLOOR = 1e-300  # an x that has vanished stays zero


@dataclass(frozen=True)
class Similarity:
    """S between graphs and predictions, factored by edge labels."""

    nodes: Float[Tensor, "B N M"]
    """S((i,i),(a,a)); zero on padding."""
    pairs: Float[Tensor, "B n_c M M"]
    """S((i,j),(a,b)) of any i, j whose edge has the label; zero for label 0 and for a = b."""
    edge_labels: Int[Tensor, "B N N"]


@torch.no_grad()
def match(graphs: GraphBatch, prediction: Prediction, num_iterations: int) -> Int[Tensor, "B M"]:
    """Which slot plays which node; rows of padding get the remaining slots.

    The graphs must have as many columns as the prediction has slots.
    """
    position = canonical_positions(graphs)
    similarity = similarity_of(permute_batch(graphs, inverse_permutation(position)), prediction)
    return assign(max_pooling_matching(similarity, num_iterations)).gather(1, position)


def similarity_of(graphs: GraphBatch, prediction: Prediction) -> Similarity:
    """Compare every node with every slot, every edge label with every pair of slots.

    In double precision: x shrinks geometrically if a graph fits badly.
    """
    adjacency = prediction.adjacency.double().sigmoid()
    existence = adjacency.diagonal(dim1=1, dim2=2)
    labels = prediction.node_label.double().softmax(dim=-1) * existence[..., None]
    index = graphs.node_labels[:, :, None].expand(-1, -1, labels.shape[1])
    nodes = labels.transpose(1, 2).gather(1, index) * graphs.node_mask[..., None]
    both = existence[:, :, None] * existence[:, None, :]
    distinct = 1 - torch.eye(both.shape[1], dtype=both.dtype, device=both.device)
    types = prediction.edge_label.double().softmax(dim=-1)
    pairs = (types * (adjacency * both * distinct)[..., None]).movedim(-1, 1)
    return Similarity(nodes, pad(pairs, (0, 0, 0, 0, 1, 0)), graphs.edge_labels)


def max_pooling_matching(similarity: Similarity, num_iterations: int) -> Float[Tensor, "B N M"]:
    """Iterate `num_iterations` times from a uniform x; the x of each graph has norm 1.

    A sender is a node j together with the labels of an edge in both directions: its message
    max_b x_jb S((i,j),(a,b)) is the same for all neighbours i along such edges.
    """
    nodes, pairs, labels = similarity.nodes, similarity.pairs, similarity.edge_labels
    num_graphs, width, _ = nodes.shape
    graph, receiver, sender = ((labels > 0) | (labels > 0).transpose(1, 2)).nonzero(as_tuple=True)
    ahead, back = labels[graph, receiver, sender], labels[graph, sender, receiver]
    kinds, kind = torch.stack([graph, sender, ahead, back], dim=1).unique(
        dim=0, return_inverse=True
    )
    graph_of, sender_of, ahead_of, back_of = kinds.unbind(dim=1)
    weights = (pairs[graph_of, back_of] + pairs[graph_of, ahead_of].transpose(1, 2)) / 2
    from_row, to_row = graph_of * width + sender_of, graph * width + receiver
    x = torch.ones_like(nodes)
    for _ in range(num_iterations):
        messages = (weights * x.flatten(0, 1)[from_row, :, None]).amax(dim=1)
        x = (x * nodes).flatten(0, 1).index_add(0, to_row, messages[kind])
        x = x.unflatten(0, (num_graphs, width))
        x = x / x.flatten(1).norm(dim=1).clamp_min(NORM_FLOOR)[:, None, None]
    return x
