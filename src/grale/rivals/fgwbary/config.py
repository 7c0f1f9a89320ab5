"""Settings of FGWBary (Brogat-Motte et al. 2022, "Experiments")."""

from __future__ import annotations

from dataclasses import dataclass, field

from grale.inputs.config import ReaderConfig
from grale.inputs.space import InputSpace


@dataclass(frozen=True, kw_only=True)
class FgwbaryConfig:
    """Templates, and how barycentres are computed."""

    num_templates: int = 10
    structure: float = 0.5
    """Weight of edges against labels (original and POT: alpha)."""
    num_rounds: int = 5
    """Updates of a barycentre."""
    hidden_dim: int = 100
    """Width of the two hidden layers from an input to the weights of the templates."""
    num_neighbours: int = 20
    """Without templates: training graphs with the largest weights that are kept."""
    ridge: float = 1e-3
    """Without templates: regularisation of the kernel ridge (original: eta)."""

    def __post_init__(self) -> None:
        for name in ("num_templates", "num_rounds", "hidden_dim", "num_neighbours"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1, got {getattr(self, name)}")
        if not 0 <= self.structure <= 1:
            raise ValueError(f"structure must be in [0, 1], got {self.structure}")
        if self.ridge <= 0:
            raise ValueError(f"ridge must be above 0, got {self.ridge}")


@dataclass(frozen=True, kw_only=True)
class FgwbarySettings:
    """Everything that a file of weights does not say."""

    inputs: InputSpace
    reader: ReaderConfig = field(default_factory=ReaderConfig)
    config: FgwbaryConfig = field(default_factory=FgwbaryConfig)
