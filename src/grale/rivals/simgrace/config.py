"""Settings of SimGRACE (Xia et al. 2022); defaults are those published for molecules."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class SimgraceConfig:
    """Shape of the encoder and the contrast that it learns from."""

    hidden_dim: int = 300
    """Width of the layers and length of the embedding."""
    num_layers: int = 5
    perturbation: float = 1.0
    """Size of the noise on the weights, in deviations of each tensor of weights (eta)."""
    temperature: float = 0.1
    """Divides cosine similarities (published for small graphs: 0.2)."""

    def __post_init__(self) -> None:
        for name in ("hidden_dim", "num_layers"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1, got {getattr(self, name)}")
        if self.perturbation < 0:
            raise ValueError(f"perturbation must be at least 0, got {self.perturbation}")
        if self.temperature <= 0:
            raise ValueError(f"temperature must be above 0, got {self.temperature}")
