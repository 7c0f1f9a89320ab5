"""Training steps and evaluations in float32 and in bfloat16: a prior, and readers of inputs.

    OMP_NUM_THREADS=1 python benchmarks/half_products.py

The two alternate in one run; the best of several counts, in processor time. Says first whether this
processor multiplies bfloat16; where it does not, products in it are slow.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import torch
from torch import Tensor

from grale.inputs.config import ReaderConfig
from grale.inputs.reader import Reader
from grale.inputs.space import InputSpace
from grale.nn import half
from grale.prior.config import Condition, PriorSettings, TokenSpace
from grale.prior.velocity import VelocityNetwork

LATENTS, INPUTS, REPEATS = 128, 64, 6
TOKENS = TokenSpace(num_tokens=32, token_dim=16, on_sphere=True)  # those of `molecules`
CONDITIONS = tuple(Condition(name=name) for name in ("size", "logP", "QED", "TPSA"))
READER = ReaderConfig(dim=128, num_layers=3, channels=(32, 64))  # of configs/predict.yaml
SET_BITS = 0.02


def main() -> None:
    """Print two lines for each network, with the ratio."""
    found = half.processor_multiplies_bfloat16()
    print(f"this processor multiplies bfloat16: {found}")
    half.processor_multiplies_bfloat16 = lambda: False  # type: ignore[assignment]  # said below
    torch.manual_seed(0)
    images, bits = InputSpace(kind="image", size=32), InputSpace(kind="bits", size=2_048)
    pixels = torch.randint(0, 256, (INPUTS, images.num_bytes), dtype=torch.uint8)
    places = (torch.rand(INPUTS, bits.num_bytes) < SET_BITS).to(torch.uint8)
    readers = {"images": (images, pixels), "fingerprints": (bits, places)}
    _compare(f"prior, {LATENTS} latents", _velocity())
    for name, (space, inputs) in readers.items():
        reader = Reader(space, READER, TOKENS.num_tokens)
        _compare(f"reader, {INPUTS} {name}", lambda reader=reader, inputs=inputs: reader(inputs))


def _velocity() -> Callable[[], Tensor]:
    network = VelocityNetwork(PriorSettings(tokens=TOKENS, conditions=CONDITIONS))
    x = torch.randn(LATENTS, TOKENS.num_tokens, TOKENS.token_dim)
    when, told = torch.rand(LATENTS), torch.randn(LATENTS, len(CONDITIONS))
    return lambda: network(x, when, told)


def _compare(name: str, run: Callable[[], Tensor]) -> None:
    def draw(is_half: bool) -> None:
        with torch.no_grad(), torch.autocast("cpu", torch.bfloat16, enabled=is_half):
            run()

    def learn(is_half: bool) -> None:
        with torch.autocast("cpu", torch.bfloat16, enabled=is_half):
            made = run()
        made.float().square().mean().backward()

    for kind, step in (("training step", learn), ("evaluation", draw)):
        seconds = {is_half: float("inf") for is_half in (False, True)}
        for _ in range(REPEATS):
            for is_half in seconds:
                seconds[is_half] = min(seconds[is_half], _timed(step, is_half))
        full, rough = seconds[False], seconds[True]
        print(f"{name}, {kind}: {full:.3f} s, bfloat16 {rough:.3f} s, {full / rough:.1f} times")


def _timed(step: Callable[[bool], None], is_half: bool) -> float:
    begin = time.process_time()
    step(is_half)
    return time.process_time() - begin


if __name__ == "__main__":
    main()
