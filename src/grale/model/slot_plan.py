"""Which slot plays which input node (paper: T).

    PlanOfMatcher   T = matcher(X, X_hat), after decoding                  the paper's
    PlanOfPooling   T is the plan by which the pooling moved the nodes     (decisions/012)

A pooling says which of the two the loss and the reconstruction use.
"""

from __future__ import annotations

from typing import NamedTuple, Protocol, runtime_checkable

from jaxtyping import Float, Int
from torch import Tensor

from grale.model.matcher import Matcher
from grale.transport.assignment import assign
from grale.transport.sinkhorn import SinkhornResult


@runtime_checkable
class SlotPlan(Protocol):
    """The plan between the nodes of a batch and decoded slots."""

    def soft(self, slots: Float[Tensor, "B N d_n"]) -> SinkhornResult:
        """Plan for the loss."""

    def hard(self, slots: Float[Tensor, "B N d_n"]) -> Int[Tensor, "B N"]:
        """permutation[i] = j: which slot plays input node i; no slot plays two."""

    def rows(self, rows: list[int]) -> SlotPlan:
        """The same for some of the graphs."""


class PlanOfMatcher(NamedTuple):
    """The matcher compares the nodes with the slots once these are decoded."""

    matcher: Matcher
    nodes: Float[Tensor, "B N d_n"]

    def soft(self, slots: Float[Tensor, "B N d_n"]) -> SinkhornResult:
        """Plan for the loss."""
        return self.matcher(self.nodes, slots)

    def hard(self, slots: Float[Tensor, "B N d_n"]) -> Int[Tensor, "B N"]:
        """permutation[i] = j: which slot plays input node i."""
        return self.matcher.hard(self.nodes, slots)

    def rows(self, rows: list[int]) -> SlotPlan:
        """The same for some of the graphs."""
        return PlanOfMatcher(self.matcher, self.nodes[rows])


class PlanOfPooling(NamedTuple):
    """The plan is known before decoding; the slots are not read."""

    known: SinkhornResult

    def soft(self, slots: Float[Tensor, "B N d_n"]) -> SinkhornResult:
        """Return the plan of the pooling."""
        return self.known

    def hard(self, slots: Float[Tensor, "B N d_n"]) -> Int[Tensor, "B N"]:
        """permutation[i] = j: which slot node i was moved to."""
        return assign(self.known.log_plan)

    def rows(self, rows: list[int]) -> SlotPlan:
        """The same for some of the graphs."""
        return PlanOfPooling(SinkhornResult(*(part[rows] for part in self.known)))
