"""What the loop tells of a step."""

from __future__ import annotations

from dataclasses import dataclass

from grale.training.objective import Validation


@dataclass(frozen=True)
class StepReport:
    """Result of the last step."""

    step: int
    progress: float
    """Share of the run that is done."""
    values: dict[str, float]
    """Loss, its parts, and the marginal error."""
    graphs_per_second: float
    validation: Validation | None = None
