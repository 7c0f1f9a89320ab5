"""What Any2Graph and Relationformer have in common, beside what every predictor has."""

from __future__ import annotations

from typing import Any, ClassVar

from jaxtyping import Float, Int, UInt8
from torch import Tensor

from grale.codec.graph_predictor import GraphPredictor
from grale.graphs.space import GraphSpace
from grale.inputs.reader import Reader


class AdjacencyPredictor(GraphPredictor):
    """Predicts undirected graphs without edge labels, from one token per node and one for all."""

    groups_by_size: ClassVar = False
    predicts_edge_labels: ClassVar = False

    def __init__(self, space: GraphSpace, config: Any) -> None:
        super().__init__(space, config)
        if space.directed:
            raise ValueError(f"{type(self).__name__} predicts undirected graphs")
        self.reader = Reader(config.inputs, config.reader, space.max_nodes + 1)

    def tokens_of(
        self, inputs: UInt8[Tensor, "B w"], turns: Int[Tensor, " B"] | None
    ) -> tuple[Float[Tensor, "B 1 d"], Float[Tensor, "B N d"]]:
        """The token of the whole graph, and those of the nodes."""
        common, nodes = self.reader(inputs, turns).split([1, self.space.max_nodes], dim=1)
        return common, nodes
