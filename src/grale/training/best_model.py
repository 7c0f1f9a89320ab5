"""Early stopping: the weights with the best score on held-out graphs.

A run that returns its best weights stops when no evaluation has been better for a while, or when
two in a row cannot be better: all held-out graphs exact.
"""

from __future__ import annotations

from collections.abc import Callable

from grale.codec.graph_autoencoder import GraphAutoencoder
from grale.training.objective import Validation

PERFECT_IN_A_ROW = 2


class BestModel:
    """The best model so far; does nothing if `patience` is 0."""

    def __init__(self, patience: int, num_processes: int = 1) -> None:
        if patience and num_processes > 1:  # only the first of them evaluates
            raise ValueError(f"patience={patience} needs one process, got {num_processes}")
        self.patience = patience
        self.model: GraphAutoencoder | None = None
        self.score: tuple[float, ...] | None = None
        self.since, self.perfect = 0, 0

    def gives_up_after(self, scores: Validation, model: Callable[[], GraphAutoencoder]) -> bool:
        """Look at one more evaluation of `model()`; say whether training should stop."""
        if not self.patience:
            return False
        score = _rank(scores)
        self.perfect = self.perfect + 1 if scores.scores.get("exact") == 1 else 0
        if self.score is None or score >= self.score:
            self.since = 0 if self.score is None or score > self.score else self.since + 1
            self.model, self.score = model(), score
        else:
            self.since += 1
        return self.since >= self.patience or self.perfect >= PERFECT_IN_A_ROW


def _rank(scores: Validation) -> tuple[float, ...]:
    """Exact graphs first, then few edits; a loss if the model has no decoder."""
    found = scores.scores
    if "exact" in found:
        return found["exact"], -float(found["edit_distance"])
    return (-found["edit_distance" if "edit_distance" in found else "held_out_loss"],)
