"""Learning rate over a run, as a share of its peak (paper: "a warm-up phase, and cosine").

Departures: the trapezoid (constant, then linear to zero) is an option (decisions/006).
"""

from __future__ import annotations

import math

from grale.training.config import OptimizerConfig


def rate_share(step: int, progress: float, config: OptimizerConfig) -> float:
    """Share of the peak learning rate at `step`, when `progress` of the run is done.

    Progress is step / max_steps, or the share of the time budget if that is larger.

    >>> config = OptimizerConfig(warmup_steps=10, schedule="trapezoid", decay_share=0.5)
    >>> [rate_share(s, s / 100, config) for s in (0, 9, 50, 75, 100)]
    [0.1, 1.0, 1.0, 0.5, 0.0]
    """
    warmup = min(1.0, (step + 1) / config.warmup_steps) if config.warmup_steps else 1.0
    done = min(max(progress, 0.0), 1.0)
    if config.schedule == "cosine":
        return warmup * 0.5 * (1 + math.cos(math.pi * done))
    return warmup * min(1.0, (1 - done) / config.decay_share)
