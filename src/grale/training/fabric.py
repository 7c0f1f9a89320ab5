"""Lightning Fabric, which runs a training on any device; it comes with the extra `train`."""

from __future__ import annotations

from typing import Literal

import torch

from grale.extras import need
from grale.nn.half import processor_multiplies_bfloat16
from grale.training.config import RunOptions

need("lightning", "training")

from lightning.fabric import Fabric  # noqa: E402
from lightning.fabric.utilities.exceptions import MisconfigurationException  # noqa: E402

__all__ = ["Fabric", "MisconfigurationException", "precision_of"]


def precision_of(options: RunOptions, multiplies_roughly: bool) -> Literal["32-true", "bf16-mixed"]:
    """Precision of a run; for "auto", see `RunOptions`."""
    if options.precision != "auto":
        return options.precision
    wanted = options.accelerator
    on_processor = wanted == "cpu" or (wanted == "auto" and not torch.accelerator.is_available())
    gains = multiplies_roughly and on_processor and processor_multiplies_bfloat16()
    return "bf16-mixed" if gains else "32-true"
