"""Relationformer for graphs with labels only (Shit et al. 2022).

    (r, o_1 .. o_N) = Reader(input),  N object tokens and a relation token
    label_i = Linear(o_i), one of the labels or "empty"
    edge_ij = MLP_3[o_i || r || o_j]

In training, a pair is shown in one order or the other; prediction takes the mean of both.

Departures: no positions and no boxes. The first layer of the network of a pair is a sum of three
products, one per node or token, which is the same map. The original predicts edge classes; here
adjacency alone, as in Any2Graph's comparison.
"""

from __future__ import annotations

from typing import ClassVar

import torch
from jaxtyping import Float, Int, UInt8
from torch import Tensor, nn

from grale.codec.logits import GraphLogits, adjacency_logits
from grale.graphs.batch import GraphBatch
from grale.graphs.space import GraphSpace
from grale.rivals.adjacency_predictor import AdjacencyPredictor
from grale.rivals.relationformer.config import RelationformerSettings
from grale.rivals.relationformer.loss import chosen_pairs, edge_loss, label_loss, matched_slots


class RelationHead(nn.Module):
    """MLP_3[o_i || r || o_j] for all ordered pairs."""

    def __init__(self, dim: int, hidden_dim: int) -> None:
        super().__init__()
        self.source = nn.Linear(dim, hidden_dim)
        self.relation = nn.Linear(dim, hidden_dim, bias=False)
        self.target = nn.Linear(dim, hidden_dim, bias=False)
        self.rest = nn.Sequential(
            nn.ReLU(), nn.Linear(hidden_dim, hidden_dim), nn.ReLU(), nn.Linear(hidden_dim, 1)
        )

    def forward(
        self, objects: Float[Tensor, "B N d"], relation: Float[Tensor, "B 1 d"]
    ) -> Float[Tensor, "B N N"]:
        """Entry (i, j): the pair in this order."""
        first = self.source(objects) + self.relation(relation)
        return self.rest(first[:, :, None] + self.target(objects)[:, None])[..., 0]


class Relationformer(AdjacencyPredictor):
    """Reader, a linear head for labels, a network for pairs."""

    architecture = "relationformer"
    config_class = RelationformerSettings
    adam_weights: ClassVar = ("label_head",)

    def __init__(self, space: GraphSpace, config: RelationformerSettings) -> None:
        super().__init__(space, config)
        dim = config.reader.dim
        self.num_draws = space.max_nodes**2  # they choose pairs and their order
        self.label_head = nn.Linear(dim, space.num_node_labels + 1)
        self.relation_head = RelationHead(dim, config.config.hidden_dim)

    def read(
        self, inputs: UInt8[Tensor, "B w"], turns: Int[Tensor, " B"] | None = None
    ) -> tuple[Float[Tensor, "B N l"], Float[Tensor, "B N N"]]:
        """Logits of labels, the last one "empty", and scores of ordered pairs."""
        relation, objects = self.tokens_of(inputs, turns)
        return self.label_head(objects), self.relation_head(objects, relation)

    def logits_of(
        self, inputs: UInt8[Tensor, "B w"], num_nodes: Int[Tensor, " B"] | None = None
    ) -> GraphLogits:
        """A slot exists if some label is more likely than "empty"."""
        labels, scores = self.read(inputs)
        known, empty = labels[..., :-1], labels[..., -1]
        edges = adjacency_logits((scores + scores.transpose(1, 2)) / 2, self.space.num_edge_classes)
        none = labels.new_zeros(*labels.shape[:2], 0)
        mask = known.amax(dim=-1) - empty
        return GraphLogits(mask, known, none, edges, edges.new_zeros(*edges.shape[:3], 0))

    def losses(
        self,
        graphs: GraphBatch,
        inputs: UInt8[Tensor, "B w"],
        noise: Float[Tensor, "B R"],
    ) -> dict[str, Float[Tensor, ""]]:
        """Total, and each unweighted term."""
        config, slots = self.config.config, self.space.max_nodes
        graphs = graphs.padded_to(slots)
        labels, scores = self.read(inputs, noise[:, 0].long())
        order = noise[:, 1:].unflatten(1, (slots, slots))
        is_swapped = order.tril(-1).transpose(1, 2) > 0.5
        is_swapped = is_swapped | is_swapped.transpose(1, 2)
        shown = torch.where(is_swapped, scores.transpose(1, 2), scores)
        permutation = matched_slots(graphs, labels)
        by_label = label_loss(graphs, labels, permutation, config)
        by_edge = edge_loss(graphs, shown, permutation, chosen_pairs(graphs, order, config))
        return {
            "loss": config.label * by_label + config.edge * by_edge,
            "node_label": by_label.detach(),
            "edge": by_edge.detach(),
        }
