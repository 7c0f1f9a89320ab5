"""Settings of Any2Graph (Krzakala et al. 2024, "Experimental setting")."""

from __future__ import annotations

from dataclasses import dataclass, field

from grale.inputs.config import ReaderConfig
from grale.inputs.space import InputSpace


@dataclass(frozen=True, kw_only=True)
class Any2GraphConfig:
    """Weights of the loss, all 1 as published, and limits of its solver."""

    mask: float = 1.0
    """Weight of existence (original: alpha_h)."""
    node_label: float = 1.0
    """Weight of the labels (original: alpha_F)."""
    node_feature: float = 1.0
    """Weight of the diffused labels (original: alpha_fd); 0 for none."""
    edge: float = 1.0
    """Weight of the edges (original: alpha_A)."""
    num_steps: int = 20
    """Steps of the solver (original: 20, or 30 for GDB13)."""
    tolerance: float = 1e-5
    """The solver stops when the value falls by less."""

    def __post_init__(self) -> None:
        for name in ("mask", "node_label", "node_feature", "edge", "tolerance"):
            if getattr(self, name) < 0:
                raise ValueError(f"{name} must not be negative, got {getattr(self, name)}")
        if self.num_steps < 1:
            raise ValueError(f"num_steps must be at least 1, got {self.num_steps}")


@dataclass(frozen=True, kw_only=True)
class Any2GraphSettings:
    """Everything that a file of weights does not say."""

    inputs: InputSpace
    reader: ReaderConfig = field(default_factory=ReaderConfig)
    config: Any2GraphConfig = field(default_factory=Any2GraphConfig)
