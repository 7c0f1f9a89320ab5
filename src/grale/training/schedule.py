"""Learning rate over a run, as a share of its peak (paper: "a warm-up phase, and cosine").

Departures: the trapezoid (constant, then linear to zero) is an option (decisions/006). With a time
budget, the warm-up takes at most a tenth of it.
"""

from __future__ import annotations

import math

from grale.training.config import OptimizerConfig

WARMUP_SHARE = 0.1  # of a time budget, at most


def rate_share(
    step: int, progress: float, config: OptimizerConfig, has_budget: bool = False
) -> float:
    """Share of the peak learning rate at `step`, when `progress` of the run is done.

    Progress is step / max_steps, or the share of the time budget if that is larger. With a budget,
    nobody knows how many steps there will be: warm-up ends after a tenth of it at the latest.

    >>> config = OptimizerConfig(warmup_steps=10, schedule="trapezoid", decay_share=0.5)
    >>> [rate_share(s, s / 100, config) for s in (0, 9, 50, 75, 100)]
    [0.1, 1.0, 1.0, 0.5, 0.0]
    >>> slow = OptimizerConfig(warmup_steps=4_000, schedule="trapezoid")
    >>> [rate_share(100, done, slow, has_budget=True) for done in (0.05, 0.1, 0.5)]
    [0.5, 1.0, 1.0]
    """
    warmup = min(1.0, (step + 1) / config.warmup_steps) if config.warmup_steps else 1.0
    done = min(max(progress, 0.0), 1.0)
    if has_budget:
        warmup = max(warmup, min(1.0, done / WARMUP_SHARE))
    if config.schedule == "cosine":
        return warmup * 0.5 * (1 + math.cos(math.pi * done))
    return warmup * min(1.0, (1 - done) / config.decay_share)
