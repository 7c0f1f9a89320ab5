"""Any2Graph: an input in, a graph out, trained by PMFGW (Krzakala et al. 2024).

    (v, x_1 .. x_N) = Reader(input),  N + 1 queries, the first is a virtual node
    h_hat, F_hat, D_hat = Linear(x_i)
    u_i = MLP_3[x_i || v],    A_hat_ij = MLP_3(u_i + u_j),  -1 on the diagonal

Departures: adjacency alone, as published; in a space with several edge labels, every edge has the
first. The reader is that of all predictors that are compared.
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
from grale.rivals.any2graph.config import Any2GraphSettings
from grale.rivals.any2graph.loss import Targets, best_plan, pmfgw_terms

DIAGONAL = -1.0  # logit of an edge from a node to itself


class Any2Graph(AdjacencyPredictor):
    """Reader, linear heads for nodes, a small network for edges."""

    architecture = "any2graph"
    config_class = Any2GraphSettings
    adam_weights: ClassVar = ("node_heads",)

    def __init__(self, space: GraphSpace, config: Any2GraphSettings) -> None:
        super().__init__(space, config)
        dim, labels = config.reader.dim, space.num_node_labels
        self.node_sizes = [1, labels, labels]
        self.node_heads = nn.Linear(dim, sum(self.node_sizes))
        self.edge_nodes = three_layers(2 * dim, 2 * dim, dim)
        self.edge_pairs = three_layers(dim, max(dim // 2, 1), 1)

    def read(
        self, inputs: UInt8[Tensor, "B w"], turns: Int[Tensor, " B"] | None = None
    ) -> GraphLogits:
        """Heads of all slots and pairs of slots."""
        virtual, nodes = self.tokens_of(inputs, turns)
        mask, label, feature = self.node_heads(nodes).split(self.node_sizes, dim=-1)
        ends = self.edge_nodes(torch.cat([nodes, virtual.expand_as(nodes)], dim=-1))
        scores = self.edge_pairs(ends[:, :, None] + ends[:, None])[..., 0]
        is_diagonal = torch.eye(scores.shape[1], dtype=torch.bool, device=scores.device)
        edges = adjacency_logits(
            scores.masked_fill(is_diagonal, DIAGONAL), self.space.num_edge_classes
        )
        none = edges.new_zeros(*edges.shape[:3], 0)
        return GraphLogits(mask[..., 0], label, feature, edges, none)

    def logits_of(
        self, inputs: UInt8[Tensor, "B w"], num_nodes: Int[Tensor, " B"] | None = None
    ) -> GraphLogits:
        """Predict; sizes follow from the existence of the slots."""
        return self.read(inputs)

    def losses(
        self,
        graphs: GraphBatch,
        inputs: UInt8[Tensor, "B w"],
        noise: Float[Tensor, "B R"],
    ) -> dict[str, Float[Tensor, ""]]:
        """PMFGW, each unweighted term, and the steps of its solver."""
        config = self.config.config
        logits = self.read(inputs, noise[:, 0].long()).in_full_precision()
        targets = Targets.of(graphs, self.space.max_nodes, self.space.num_node_labels)
        solved = best_plan(targets, logits, config)
        terms = pmfgw_terms(targets, logits, solved.plan)
        steps = torch.tensor(float(len(solved.values) - 1))
        return {"loss": terms.per_graph(config).mean(), **terms.means(), "solver_steps": steps}


def three_layers(dim_in: int, hidden_dim: int, dim_out: int) -> nn.Module:
    """A network of three linear layers."""
    return nn.Sequential(
        nn.Linear(dim_in, hidden_dim), nn.ReLU(),
        nn.Linear(hidden_dim, hidden_dim), nn.ReLU(),
        nn.Linear(hidden_dim, dim_out),
    )  # fmt: skip
