"""FGWBary with learned templates (Brogat-Motte et al. 2022, "neural network").

    l(x)  = Softmax(MLP(mean token of the reader's encoder)),   two hidden layers
    G_hat = argmin_G sum_s l_s(x) FGW(G, G_s),                  templates G_s learned
    loss  = FGW(G_hat, G*)

Departures: the original is told the number of nodes, here in training and wherever `num_nodes` is
given. So that it can answer without, a size per template is learned beside, and weighted by l.
"""

from __future__ import annotations

from typing import ClassVar

import torch
from jaxtyping import Float, Int, UInt8
from torch import Tensor, nn
from torch.nn.functional import one_hot, pad

from grale.codec.graph_predictor import GraphPredictor
from grale.codec.logits import IMPOSSIBLE, GraphLogits, adjacency_logits
from grale.graphs.batch import GraphBatch
from grale.graphs.space import GraphSpace
from grale.inputs.reader import InputEncoder
from grale.rivals.fgwbary.barycentre import Attributed, barycentre, best_plan, fgw_distance
from grale.rivals.fgwbary.config import FgwbarySettings

HALF = 0.5  # an edge of the barycentre counts from here on


class FGWBary(GraphPredictor):
    """Weights of templates from an input, and the barycentre of the templates."""

    architecture = "fgwbary"
    config_class = FgwbarySettings
    groups_by_size = False
    needs_size = True
    predicts_edge_labels = False
    adam_weights: ClassVar = ("edges", "nodes", "sizes")

    def __init__(self, space: GraphSpace, config: FgwbarySettings) -> None:
        super().__init__(space, config)
        if space.directed:
            raise ValueError("FGWBary predicts undirected graphs")
        count, size = config.config.num_templates, space.max_nodes
        width, hidden = config.reader.dim, config.config.hidden_dim
        self.encoder = InputEncoder(config.inputs, config.reader)
        self.weigh = nn.Sequential(
            nn.Linear(width, hidden), nn.ReLU(),
            nn.Linear(hidden, hidden), nn.ReLU(),
            nn.Linear(hidden, count),
        )  # fmt: skip
        self.edges = nn.Parameter(torch.rand(count, size, size))
        self.nodes = nn.Parameter(torch.rand(count, size, space.num_node_labels))
        self.sizes = nn.Parameter(torch.full((count,), size / 2))

    def templates(self) -> list[Attributed]:
        """Templates with symmetric edges between 0 and 1, and none from a node to itself."""
        edges = ((self.edges + self.edges.transpose(1, 2)) / 2).clamp(0, 1)
        edges = edges * (1 - torch.eye(edges.shape[1], device=edges.device))
        return [Attributed(*parts) for parts in zip(edges, self.nodes)]

    def weights_of(
        self, inputs: UInt8[Tensor, "B w"], turns: Int[Tensor, " B"] | None = None
    ) -> Float[Tensor, "B S"]:
        """Weight of each template; they sum to one."""
        return self.weigh(self.encoder.mean(inputs, turns)).softmax(dim=-1)

    def logits_of(
        self, inputs: UInt8[Tensor, "B w"], num_nodes: Int[Tensor, " B"] | None = None
    ) -> GraphLogits:
        """Barycentres, as logits whose likeliest graph is the rounded barycentre."""
        weights, templates = self.weights_of(inputs), self.templates()
        if num_nodes is None:
            sizes = (weights @ self.sizes).round().clamp(1, self.space.max_nodes)
            num_nodes = sizes.long()
        config = self.config.config
        found = [
            barycentre(size, templates, row, config.structure, config.num_rounds).graph
            for size, row in zip(num_nodes.tolist(), weights)
        ]
        return logits_of_graphs(found, self.space)

    def losses(
        self,
        graphs: GraphBatch,
        inputs: UInt8[Tensor, "B w"],
        noise: Float[Tensor, "B R"],
    ) -> dict[str, Float[Tensor, ""]]:
        """Mean FGW distance, and the squared error of the size."""
        config, templates = self.config.config, self.templates()
        weights = self.weights_of(inputs, noise[:, 0].long())
        errors = []
        for row, target in zip(weights, attributed(graphs, self.space.num_node_labels)):
            size = len(target.nodes)
            made = barycentre(size, templates, row, config.structure, config.num_rounds).graph
            plan = best_plan(made, target, config.structure)
            errors.append(fgw_distance(made, target, plan, config.structure))
        distance = torch.stack(errors).mean()
        size_error = (weights.detach() @ self.sizes - graphs.num_nodes).square().mean()
        return {
            "loss": distance + size_error,
            "distance": distance.detach(),
            "size": size_error.detach(),
        }


def attributed(graphs: GraphBatch, num_labels: int) -> list[Attributed]:
    """Graphs without their padding: adjacency and one-hot labels."""
    return [
        Attributed(adjacency[:size, :size].float(), one_hot(labels[:size], num_labels).float())
        for adjacency, labels, size in zip(
            graphs.adjacency, graphs.node_labels, graphs.num_nodes.tolist()
        )
    ]


def logits_of_graphs(graphs: list[Attributed], space: GraphSpace) -> GraphLogits:
    """Scores whose likeliest graphs are the given ones: best labels, edges from HALF on."""
    slots = space.max_nodes
    masks, nodes, edges = [], [], []
    for graph in graphs:
        free = slots - len(graph.nodes)
        masks.append(pad(torch.ones(len(graph.nodes)), (0, free), value=IMPOSSIBLE))
        nodes.append(pad(graph.nodes, (0, 0, 0, free)))
        edges.append(pad(graph.edges - HALF, (0, free, 0, free), value=IMPOSSIBLE))
    labels = torch.stack(nodes)
    scores = adjacency_logits(torch.stack(edges), space.num_edge_classes)
    none = labels.new_zeros(len(graphs), slots, 0)
    on_pairs = labels.new_zeros(len(graphs), slots, slots, 0)
    return GraphLogits(torch.stack(masks).to(labels), labels, none, scores, on_pairs)
