"""Terms of a loss, one number for each graph and term: their weighted sum, and their means."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor


@dataclass(frozen=True)
class LossTermsPerGraph:
    """Base of dataclasses whose fields are the terms; weights have the same names."""

    def per_graph(self, weights: Any) -> Float[Tensor, " B"]:
        """Weighted sum for each graph."""
        parts = [getattr(weights, f.name) * getattr(self, f.name) for f in fields(self)]
        return torch.stack(parts).sum(dim=0)

    def means(self) -> dict[str, Float[Tensor, ""]]:
        """Mean of each term over the batch, for logs."""
        return {f.name: getattr(self, f.name).detach().mean() for f in fields(self)}
