"""Settings of Relationformer (Shit et al. 2022, "Loss function"), for graphs with labels only."""

from __future__ import annotations

from dataclasses import dataclass, field

from grale.inputs.config import ReaderConfig
from grale.inputs.space import InputSpace


@dataclass(frozen=True, kw_only=True)
class RelationformerConfig:
    """Weights of the loss, and which pairs of nodes it looks at."""

    label: float = 2.0
    """Weight of the labels, in the matching and in the loss."""
    edge: float = 1.0
    empty_weight: float = 0.2
    """Weight of the label "empty" in the cross-entropy."""
    object_weight: float = 0.8
    """Weight of all other labels."""
    most_edges: int = 20
    """Edges of a graph that a step looks at."""
    most_pairs: int = 40
    """Pairs of nodes of a graph that a step looks at, edges included."""
    hidden_dim: int = 256
    """Width of the network of a pair."""

    def __post_init__(self) -> None:
        for name in ("label", "edge", "empty_weight", "object_weight"):
            if getattr(self, name) < 0:
                raise ValueError(f"{name} must not be negative, got {getattr(self, name)}")
        if not 1 <= self.most_edges <= self.most_pairs:
            raise ValueError(
                f"most_edges={self.most_edges} must be between 1 and most_pairs={self.most_pairs}"
            )
        if self.hidden_dim < 1:
            raise ValueError(f"hidden_dim must be at least 1, got {self.hidden_dim}")


@dataclass(frozen=True, kw_only=True)
class RelationformerSettings:
    """Everything that a file of weights does not say."""

    inputs: InputSpace
    reader: ReaderConfig = field(default_factory=ReaderConfig)
    config: RelationformerConfig = field(default_factory=RelationformerConfig)
