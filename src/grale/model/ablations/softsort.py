"""PIGVAE's permuter in place of the Sinkhorn matcher (paper: "Ablation studies details").

    s_i  = <x_i, U>
    T_ij = softmax_j(-|s_i - sort(s)_j| / tau)

Departures: there is a minus sign inside the softmax, without which distant scores would attract.
Scores are first divided by the sum of all distances, so that tau does not depend on their scale
(the paper's grid of 1e-5 to 1e-2 is on that scale). Scores are sorted in descending order.
"""

from __future__ import annotations

from typing import ClassVar

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from grale.model.beyond.pair_costs import PairCosts
from grale.model.config import MatcherConfig
from grale.nn.attention import full_precision
from grale.transport.sinkhorn import SinkhornResult

SMALLEST = 1e-12  # keeps equal scores from dividing by zero


class SoftSortMatcher(nn.Module):
    """Input node i gets the slot at the rank of its score; the slots themselves are not read."""

    adam_weights: ClassVar = ("embed_in",)
    reads_slots: ClassVar = False

    def __init__(self, node_dim: int, config: MatcherConfig) -> None:
        super().__init__()
        self.config = config
        self.embed_in = nn.Linear(node_dim, 1, bias=False)

    def forward(
        self, nodes: Float[Tensor, "B N d_n"], slots: Float[Tensor, "B N d_n"]
    ) -> SinkhornResult:
        """Soft plan; its rows sum to one, its columns may not."""
        scores = self.embed_in(nodes)
        return _plan(self.log_kernel(scores, scores.sort(dim=1, descending=True).values))

    def hard(
        self, nodes: Float[Tensor, "B N d_n"], slots: Float[Tensor, "B N d_n"]
    ) -> Int[Tensor, "B N"]:
        """permutation[i] = j: which slot plays input node i."""
        scores = self.embed_in(nodes)[..., 0]
        return scores.argsort(dim=1, descending=True, stable=True).argsort(dim=1)

    def between_inputs(
        self,
        first: Float[Tensor, "B N d_n"],
        second: Float[Tensor, "B N d_n"],
        costs: PairCosts,
    ) -> SinkhornResult:
        """Soft plan between the nodes of two input graphs: equal scores attract."""
        return _plan(self.pair_kernel(self.embed_in(first), self.embed_in(second), costs))

    def pair_kernel(
        self, left: Float[Tensor, "B N 1"], right: Float[Tensor, "B N 1"], costs: PairCosts | None
    ) -> Float[Tensor, "B N N"]:
        """Scores of the nodes of two input graphs; `costs` are not used."""
        return self.log_kernel(left, right)

    def log_kernel(
        self, left: Float[Tensor, "B N 1"], right: Float[Tensor, "B N 1"]
    ) -> Float[Tensor, "B N N"]:
        """Minus the distance of two scores, divided by the sum of distances and the temperature."""
        cost = (full_precision(left) - full_precision(right).transpose(1, 2)).abs()
        total = cost.sum(dim=(1, 2), keepdim=True).clamp_min(SMALLEST)
        return -cost / total / self.config.temperature


def _plan(log_kernel: Float[Tensor, "B N N"]) -> SinkhornResult:
    log_plan = torch.log_softmax(log_kernel, dim=2)
    error = (log_plan.exp().sum(dim=1) - 1).abs().amax(dim=1)
    return SinkhornResult(log_plan, error)
