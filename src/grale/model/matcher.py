"""Matching input nodes to slots (paper: appendix "Matcher").

    affinity_ij = exp(-|MLP_in(x_i) - MLP_out(x_hat_j)|)
    plan        = Sinkhorn(affinity) in training, Hungarian at test time

Departures: besides the paper's distance (read as L1), there is one on the unit sphere. Its range is
bounded, so that Sinkhorn converges (decisions/002).
"""

from __future__ import annotations

from typing import ClassVar, Protocol, runtime_checkable

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn
from torch.nn.functional import normalize

from grale.extras import is_installed
from grale.graphs.permute import permutation_to_plan
from grale.model.beyond.pair_costs import PairCosts
from grale.model.config import MatcherConfig
from grale.nn.attention import full_precision
from grale.transport.assignment import assign
from grale.transport.sinkhorn import NARROW, SinkhornResult, sinkhorn

TIE_BREAK = 1e-7  # far above the rounding of float64, far below differences that mean something
NEVER = 1e-12  # zero entries of a hard plan, so that their logarithm is finite
ROUND_SWEEPS, ROUND_GRAD_SWEEPS = 10, 3  # of Sinkhorn, between two rounds
FLOAT64_SPAN = 600.0  # exp(-600) is still a number
SPHERE_DIAMETER = 4.0  # largest squared distance of two vectors of length one


@runtime_checkable
class Matcher(Protocol):
    """Matches slots with nodes, and the nodes of one graph with those of another."""

    config: MatcherConfig
    reads_slots: ClassVar[bool]
    """Whether decoded slots take part, or their ranks alone."""

    def __init__(self, node_dim: int, config: MatcherConfig) -> None:
        """Make the layers for nodes of this width."""

    @property
    def embed_in(self) -> nn.Module:
        """Layers from the nodes of an input graph to the embeddings that are compared."""

    def __call__(
        self, nodes: Float[Tensor, "B N d_n"], slots: Float[Tensor, "B N d_n"]
    ) -> SinkhornResult:
        """Soft plan for training."""

    def hard(
        self, nodes: Float[Tensor, "B N d_n"], slots: Float[Tensor, "B N d_n"]
    ) -> Int[Tensor, "B N"]:
        """permutation[i] = j: which slot plays input node i."""

    def pair_kernel(
        self, left: Float[Tensor, "B N d"], right: Float[Tensor, "B N d"], costs: PairCosts | None
    ) -> Float[Tensor, "B N N"]:
        """Log-scores of the nodes of two input graphs."""

    def between_inputs(
        self,
        first: Float[Tensor, "B N d_n"],
        second: Float[Tensor, "B N d_n"],
        costs: PairCosts,
    ) -> SinkhornResult:
        """Soft plan between the nodes of two input graphs."""


def hard_plan(
    matcher: Matcher, nodes: Float[Tensor, "B N d_n"], slots: Float[Tensor, "B N d_n"]
) -> SinkhornResult:
    """Hard assignment of a matcher as a plan with finite logarithms."""
    plan = permutation_to_plan(matcher.hard(nodes, slots)).to(nodes)
    return SinkhornResult(plan.clamp_min(NEVER).log(), plan.new_zeros(plan.shape[0]))


class SinkhornMatcher(nn.Module):
    """Two one-hidden-layer networks, a distance, and Sinkhorn."""

    reads_slots: ClassVar = True

    def __init__(self, node_dim: int, config: MatcherConfig) -> None:
        super().__init__()
        self.config = config
        self.embed_in = _network(node_dim, config.embedding_dim)
        self.embed_out = _network(node_dim, config.embedding_dim)

    @property
    def is_narrow(self) -> bool:
        """Whether all kernels of this matcher have a small range, whatever its weights."""
        on_sphere = self.config.affinity == "sphere"
        return on_sphere and SPHERE_DIAMETER / self.config.temperature < NARROW

    def forward(
        self, nodes: Float[Tensor, "B N d_n"], slots: Float[Tensor, "B N d_n"]
    ) -> SinkhornResult:
        """Soft plan for training; in float32, even under mixed precision."""
        kernel = self.log_kernel(self.embed_in(nodes), self.embed_out(slots))
        return self._plan(kernel, self.is_narrow)

    def hard(
        self, nodes: Float[Tensor, "B N d_n"], slots: Float[Tensor, "B N d_n"]
    ) -> Int[Tensor, "B N"]:
        """permutation[i] = j: which slot plays input node i; nodes that tie, in their order."""
        return assign(self.log_kernel(self.embed_in(nodes), self.embed_out(slots)), TIE_BREAK)

    def between_inputs(
        self,
        first: Float[Tensor, "B N d_n"],
        second: Float[Tensor, "B N d_n"],
        costs: PairCosts,
    ) -> SinkhornResult:
        """Soft plan between the nodes of two input graphs.

        Both pass through MLP_in: equal graphs then match exactly (decisions/005).
        """
        kernel = self.pair_kernel(self.embed_in(first), self.embed_in(second), costs)
        return self._plan(kernel, _spans_little(kernel) if self.config.rounds else self.is_narrow)

    def pair_kernel(
        self, left: Float[Tensor, "B N d"], right: Float[Tensor, "B N d"], costs: PairCosts | None
    ) -> Float[Tensor, "B N N"]:
        """Scores of the nodes of two input graphs, after the rounds (decisions/008)."""
        learned = kernel = self.log_kernel(left, right)
        if costs is None or self.config.rounds == 0:
            return learned
        if not torch.is_grad_enabled() and self._can_run_compiled(learned):
            return self._compiled_rounds(learned, costs)
        with torch.autocast(kernel.device.type, enabled=False):
            taped = ROUND_GRAD_SWEEPS if torch.is_grad_enabled() else 1
            for number in range(1, self.config.rounds + 1):
                plan = sinkhorn(kernel, ROUND_SWEEPS, taped, _spans_little(kernel)).log_plan.exp()
                weight = self.config.edit_weight * number / self.config.rounds
                kernel = learned - weight * costs.per_pair(plan)
        return kernel

    def _can_run_compiled(self, learned: Float[Tensor, "B N N"]) -> bool:
        """Whether this is a CPU with numba, and exponentials of all scores fit into float64."""
        if learned.device.type != "cpu" or not is_installed("numba"):
            return False
        most_edits = 1 + 2 * learned.shape[1]  # of one pair of nodes, if directed
        return _span(learned) + self.config.edit_weight * most_edits < FLOAT64_SPAN

    def _compiled_rounds(
        self, learned: Float[Tensor, "B N N"], costs: PairCosts
    ) -> Float[Tensor, "B N N"]:
        """Run the rounds in numba: ten times faster than many small products."""
        from grale.transport.rounds import graduate  # loads numba, needed for matching only

        config = self.config
        parts = (learned.double(), costs.nodes.double(), *costs.layers)
        arrays = (part.contiguous().numpy() for part in parts)
        weight = config.edit_weight
        found = graduate(*arrays, costs.num_edge_classes, config.rounds, ROUND_SWEEPS, weight)
        return torch.from_numpy(found).to(learned)

    def _plan(self, kernel: Float[Tensor, "B N N"], is_narrow: bool) -> SinkhornResult:
        config = self.config
        with torch.autocast(kernel.device.type, enabled=False):
            return sinkhorn(kernel, config.num_sweeps, config.grad_sweeps, is_narrow)

    def log_kernel(
        self, left: Float[Tensor, "B N d"], right: Float[Tensor, "B N d"]
    ) -> Float[Tensor, "B N N"]:
        """Scores of pairs of embedded nodes: minus their distance over the temperature."""
        with torch.autocast(left.device.type, enabled=False):
            cost = AFFINITIES[self.config.affinity](full_precision(left), full_precision(right))
            return -cost / self.config.temperature


def _spans_little(log_kernel: Float[Tensor, "B N N"]) -> bool:
    """Whether sweeps may use the kernel itself; on accelerators the question would cost a wait."""
    if log_kernel.device.type != "cpu":
        return False
    return _span(log_kernel) < NARROW


def _span(log_kernel: Float[Tensor, "B N N"]) -> float:
    """Largest difference between two scores of a pair of graphs."""
    flat = log_kernel.detach().flatten(1)
    return float((flat.amax(dim=1) - flat.amin(dim=1)).max())


def pairwise_l1(
    left: Float[Tensor, "B N d"], right: Float[Tensor, "B M d"]
) -> Float[Tensor, "B N M"]:
    """Entry (i, j) is the L1 distance between left[i] and right[j]."""
    return torch.cdist(left, right, p=1.0)


def pairwise_on_sphere(
    left: Float[Tensor, "B N d"], right: Float[Tensor, "B M d"]
) -> Float[Tensor, "B N M"]:
    """Squared distance of two rows scaled to length one: between 0 and 4."""
    cosine = normalize(left, dim=-1) @ normalize(right, dim=-1).transpose(1, 2)
    return 2 - 2 * cosine


AFFINITIES = {"l1": pairwise_l1, "sphere": pairwise_on_sphere}


def _network(node_dim: int, embedding_dim: int) -> nn.Sequential:
    return nn.Sequential(
        nn.Linear(node_dim, node_dim), nn.ReLU(), nn.Linear(node_dim, embedding_dim)
    )
