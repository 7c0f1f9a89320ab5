"""The loss as one module of tensors in, tensors out: what is distributed, compiled and autocast.

Departures: none.
"""

from __future__ import annotations

from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from grale.graphs.batch import GraphBatch
from grale.model.autoencoder import GRALE


class Objective(nn.Module):
    """L_GRALE of a batch, with its terms for the log."""

    def __init__(self, model: GRALE) -> None:
        super().__init__()
        self.model = model

    def forward(
        self,
        node_mask: Bool[Tensor, "B N"],
        node_labels: Int[Tensor, "B N"],
        edge_labels: Int[Tensor, "B N N"],
        noise: Float[Tensor, "B M n_f"],
    ) -> dict[str, Float[Tensor, ""]]:
        """Total under "loss", each unweighted term under its name, and the marginal error."""
        graphs = GraphBatch(node_mask, node_labels, edge_labels, self.model.space.directed)
        result = self.model(graphs, noise)
        return {
            "loss": result.terms.total(self.model.config.loss),
            **result.terms.means(),
            "marginal_error": result.marginal_error.max(),
        }
