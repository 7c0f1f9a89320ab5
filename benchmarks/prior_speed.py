"""A training step of a prior, and an evaluation to draw from it, in float32 and in bfloat16.

    OMP_NUM_THREADS=1 python benchmarks/prior_speed.py

The two alternate in one run; the best of several counts, in processor time. Says first whether this
processor multiplies bfloat16; where it does not, products in it are slow.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import torch

from grale.nn.half import processor_multiplies_bfloat16
from grale.prior.config import Condition, PriorSettings, TokenSpace
from grale.prior.velocity import VelocityNetwork

ROWS, REPEATS = 128, 6
TOKENS = TokenSpace(num_tokens=32, token_dim=16, on_sphere=True)  # those of `molecules`
CONDITIONS = tuple(Condition(name=name) for name in ("size", "logP", "QED", "TPSA"))


def main() -> None:
    """Print a line for each of the two, with the ratio."""
    torch.manual_seed(0)
    network = VelocityNetwork(PriorSettings(tokens=TOKENS, conditions=CONDITIONS))
    x = torch.randn(ROWS, TOKENS.num_tokens, TOKENS.token_dim)
    when, told = torch.rand(ROWS), torch.randn(ROWS, len(CONDITIONS))

    def draw(is_half: bool) -> None:
        with torch.no_grad(), torch.autocast("cpu", torch.bfloat16, enabled=is_half):
            network(x, when, told)

    def learn(is_half: bool) -> None:
        with torch.autocast("cpu", torch.bfloat16, enabled=is_half):
            velocity = network(x, when, told)
        (velocity.float() - x).square().mean().backward()

    print(f"this processor multiplies bfloat16: {processor_multiplies_bfloat16()}")
    for name, step in (("training step", learn), ("evaluation", draw)):
        seconds = {is_half: float("inf") for is_half in (False, True)}
        for _ in range(REPEATS):
            for is_half in seconds:
                seconds[is_half] = min(seconds[is_half], _timed(step, is_half))
        full, half = seconds[False], seconds[True]
        print(f"{name} of {ROWS}: {full:.3f} s, bfloat16 {half:.3f} s, {full / half:.1f} times")


def _timed(step: Callable[[bool], None], is_half: bool) -> float:
    begin = time.process_time()
    step(is_half)
    return time.process_time() - begin


if __name__ == "__main__":
    main()
