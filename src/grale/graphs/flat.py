"""A batch as one graph of many pieces: real nodes only, edges as a list, as message passing wants.

A message goes along an edge from its source to its target and knows its kind: the label of the
edge. An undirected edge carries a message each way. A directed edge does so too, since what comes
after a node matters to it as well, but the message that goes back is of another kind.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor

from grale.graphs.batch import GraphBatch
from grale.graphs.space import GraphSpace


class FlatGraphs(NamedTuple):
    """The real nodes of a batch, one graph after the other, and the messages between them."""

    labels: Int[Tensor, " M"]
    ends: Int[Tensor, "2 E"]
    """Source and target of each message."""
    kinds: Int[Tensor, " E"]
    """From 0 to `num_message_kinds` - 1."""
    owner: Int[Tensor, " M"]
    """Row of the batch that each node belongs to."""
    num_graphs: int


def flatten(graphs: GraphBatch, num_edge_labels: int) -> FlatGraphs:
    """List the real nodes and the messages of a batch."""
    row, source, target = graphs.edge_labels.nonzero(as_tuple=True)
    kinds = graphs.edge_labels[row, source, target] - 1
    place = graphs.node_mask.flatten().cumsum(dim=0) - 1
    ends = place[torch.stack([source, target]) + row * graphs.max_nodes]
    if graphs.directed:
        ends = torch.cat([ends, ends.flip(0)], dim=1)
        kinds = torch.cat([kinds, kinds + num_edge_labels])
    owner = graphs.node_mask.nonzero()[:, 0]
    return FlatGraphs(graphs.node_labels[graphs.node_mask], ends, kinds, owner, len(graphs))


def num_message_kinds(space: GraphSpace) -> int:
    """How many kinds of messages the graphs of a space have."""
    return space.num_edge_labels * (2 if space.directed else 1)


def padded(nodes: Float[Tensor, "M d"], node_mask: Bool[Tensor, "B N"]) -> Float[Tensor, "B N d"]:
    """States of real nodes back in their places, zero on padding."""
    empty = nodes.new_zeros(*node_mask.shape, nodes.shape[1])
    return empty.masked_scatter(node_mask[..., None], nodes)
