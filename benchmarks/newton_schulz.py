"""Muon's orthogonalisation in float32 and in bfloat16: time, and how far the two are apart.

    OMP_NUM_THREADS=1 python benchmarks/newton_schulz.py

Shapes are those of a prior (192 wide) and of `molecules` (96 and 48 wide). The two alternate in one
run; the best of several counts, in processor time.
"""

from __future__ import annotations

import time

import torch

from grale.nn.half import processor_multiplies_bfloat16
from grale.training.muon import newton_schulz

SHAPES = ((24, 192, 192), (6, 768, 192), (6, 192, 768), (60, 96, 96), (30, 96, 384), (60, 48, 48))
REPEATS = 8


def main() -> None:
    """Print a line for each shape."""
    print(f"this processor multiplies bfloat16: {processor_multiplies_bfloat16()}")
    for shape in SHAPES:
        matrices = torch.randn(shape, generator=torch.Generator().manual_seed(0))
        matrices /= matrices.flatten(1).norm(dim=1)[:, None, None]
        seconds = {torch.float32: float("inf"), torch.bfloat16: float("inf")}
        found = {}
        for _ in range(REPEATS):
            for dtype in seconds:
                begin = time.process_time()
                found[dtype] = newton_schulz(matrices.to(dtype)).float()
                seconds[dtype] = min(seconds[dtype], time.process_time() - begin)
        full, half = (1e3 * each for each in seconds.values())
        apart = (found[torch.bfloat16] - found[torch.float32]).norm() / found[torch.float32].norm()
        count, rows, columns = shape
        print(
            f"{count} of {rows} x {columns}: {full:.1f} ms, bfloat16 {half:.1f} ms, "
            f"{full / half:.1f} times; {apart:.1%} apart"
        )


if __name__ == "__main__":
    main()
