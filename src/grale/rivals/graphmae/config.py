"""Settings of GraphMAE (Hou et al. 2022); defaults are those published for molecules."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class GraphmaeConfig:
    """Shape of the encoder and what it has to guess."""

    hidden_dim: int = 300
    """Width of the layers and length of the embedding."""
    num_layers: int = 5
    mask_share: float = 0.25
    """Share of the nodes of a graph whose labels are hidden (published for graphs: 0.5)."""
    error_power: float = 1.0
    """Exponent of the scaled cosine error (alpha)."""

    def __post_init__(self) -> None:
        for name in ("hidden_dim", "num_layers"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1, got {getattr(self, name)}")
        if not 0 < self.mask_share <= 1:
            raise ValueError(f"mask_share must be above 0 and at most 1, got {self.mask_share}")
        if self.error_power < 1:
            raise ValueError(f"error_power must be at least 1, got {self.error_power}")
