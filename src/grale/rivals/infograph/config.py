"""Settings of InfoGraph (Sun et al. 2020).

Departures: layers are 300 wide as those of the other encoders here (published: 32).
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class InfographConfig:
    """Shape of the encoder."""

    hidden_dim: int = 300
    """Width of a layer; the embedding holds all layers, one after the other."""
    num_layers: int = 5

    def __post_init__(self) -> None:
        for name in ("hidden_dim", "num_layers"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1, got {getattr(self, name)}")
