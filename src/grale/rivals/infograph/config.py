"""Settings of InfoGraph (Sun et al. 2020).

Departures: layers are 102 wide (published: 32), so that the embedding is about as long as the 512
numbers it is compared with. Networks that compare nodes and graphs are as wide as the embedding: at
300 they would take most of the time.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class InfographConfig:
    """Shape of the encoder."""

    hidden_dim: int = 102
    """Width of a layer; the embedding holds all layers, one after the other."""
    num_layers: int = 5

    def __post_init__(self) -> None:
        for name in ("hidden_dim", "num_layers"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1, got {getattr(self, name)}")
