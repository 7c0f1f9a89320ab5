"""Set-based loss of Relationformer (Shit et al. 2022), without positions.

    sigma = argmin sum_i - p_sigma(i)(label_i)              Hungarian, over the slots
    loss  = 2 CE(labels, the other slots "empty") + CE(edges of matched pairs)

Boxes and their terms are left out: these graphs have none. Edges do not take part in the matching.
"""

from __future__ import annotations

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor
from torch.nn.functional import cross_entropy

from grale.graphs.batch import GraphBatch
from grale.rivals.relationformer.config import RelationformerConfig
from grale.transport.assignment import assign


@torch.no_grad()
def matched_slots(graphs: GraphBatch, labels: Float[Tensor, "B N l"]) -> Int[Tensor, "B N"]:
    """permutation[i] = j: which slot plays node i, by the probability of its label alone.

    Columns of `graphs` and slots are equally many; padded nodes get the slots that are left.
    """
    probs = labels.softmax(dim=-1)
    index = graphs.node_labels[:, :, None].expand(-1, -1, probs.shape[1])
    scores = probs.transpose(1, 2).gather(1, index)  # (i, j): slot j at the label of node i
    return assign(scores * graphs.node_mask[..., None])


def label_loss(
    graphs: GraphBatch,
    labels: Float[Tensor, "B N l"],
    permutation: Int[Tensor, "B N"],
    config: RelationformerConfig,
) -> Float[Tensor, ""]:
    """Weighted cross-entropy over all slots; the last label is "empty"."""
    empty = labels.shape[-1] - 1
    wanted = torch.where(graphs.node_mask, graphs.node_labels, empty)
    played = torch.empty_like(wanted).scatter_(1, permutation, wanted)
    weights = labels.new_full((labels.shape[-1],), config.object_weight)
    weights[empty] = config.empty_weight
    return cross_entropy(labels.flatten(0, 1), played.flatten(), weights)


def chosen_pairs(
    graphs: GraphBatch, order: Float[Tensor, "B N N"], config: RelationformerConfig
) -> Bool[Tensor, "B N N"]:
    """Pairs i < k of real nodes that a step looks at: edges first, each kind by `order`."""
    rows, columns = torch.triu_indices(graphs.max_nodes, graphs.max_nodes, 1)
    is_real = graphs.edge_mask[:, rows, columns]
    is_edge = graphs.adjacency[:, rows, columns] & is_real
    place = _ranks(order[:, rows, columns], is_edge)
    edges = is_edge & (place < config.most_edges)
    free = config.most_pairs - edges.sum(dim=1, keepdim=True)
    others = is_real & ~is_edge
    chosen = edges | (others & (_ranks(order[:, rows, columns], others) < free))
    found = torch.zeros_like(graphs.adjacency)
    found[:, rows, columns] = chosen
    return found


def edge_loss(
    graphs: GraphBatch,
    scores: Float[Tensor, "B N N"],
    permutation: Int[Tensor, "B N"],
    chosen: Bool[Tensor, "B N N"],
) -> Float[Tensor, ""]:
    """Cross-entropy of "edge or not" over the chosen pairs; `scores` are of slots."""
    batch = torch.arange(len(graphs), device=scores.device)[:, None, None]
    moved = scores[batch, permutation[:, :, None], permutation[:, None]]
    entropy = torch.nn.functional.binary_cross_entropy_with_logits(
        moved, graphs.adjacency.to(moved), reduction="none"
    )
    return (entropy * chosen).sum() / chosen.sum().clamp(min=1)


def _ranks(order: Float[Tensor, "B P"], is_in: Bool[Tensor, "B P"]) -> Int[Tensor, "B P"]:
    """Place of each entry among those that are in, by ascending order; others come last."""
    return torch.where(is_in, order, torch.inf).argsort(dim=1, stable=True).argsort(dim=1)
