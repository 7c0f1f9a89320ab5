"""How well predictions reconstruct graphs (paper: appendix "Graph reconstruction metrics")."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from grale.graphs.graph import Graph


class ReconstructionReport(NamedTuple):
    """How well predictions reconstruct their targets, on average."""

    accuracy: float
    """Share of predictions isomorphic to their target (paper: GI Acc.)."""
    edit_distance: float
    """Mean upper bound on the edit distance, size errors included (paper: Edit. Dist.)."""
    size_accuracy: float
    """Share of predictions with the right number of nodes."""
    num_targets: int
    """Number of targets."""


def reconstruction_report(
    targets: Sequence[Graph], predictions: Sequence[Graph | None], distances: Sequence[int]
) -> ReconstructionReport:
    """Average over the targets.

    Parameters
    ----------
    targets
        The true graphs; at least one.
    predictions
        One per target; None where there is no prediction.
    distances
        Edit distances between targets and predictions; 0 exactly where they are isomorphic.
    """
    if len(targets) == 0:
        raise ValueError("a report on an empty list is undefined; give at least one target")
    same_size = [
        prediction is not None and prediction.num_nodes == target.num_nodes
        for target, prediction in zip(targets, predictions)
    ]
    return ReconstructionReport(
        accuracy=list(distances).count(0) / len(targets),
        edit_distance=sum(distances) / len(targets),
        size_accuracy=sum(same_size) / len(targets),
        num_targets=len(targets),
    )
