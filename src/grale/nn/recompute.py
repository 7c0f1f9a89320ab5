"""Layers that are recomputed in the backward pass: less memory, more time."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn
from torch.utils.checkpoint import checkpoint


class RecomputingStack(nn.Module):
    """A stack that can keep the inputs of its layers alone, and recompute the rest."""

    recomputes = False

    def run_layer(self, layer: nn.Module, *inputs: Any) -> Any:
        """Run one layer of the stack."""
        if self.recomputes and torch.is_grad_enabled():
            return checkpoint(layer, *inputs, use_reentrant=False)
        return layer(*inputs)
