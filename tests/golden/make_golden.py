"""Remake the golden embeddings of a shipped model: python tests/golden/make_golden.py NAME.

They are the rows of `encode` for the first 50 graphs of GOLDEN_SEED, in float32. Remake them only
when the weights change; a test reproduces them to 1e-5.
"""

from __future__ import annotations

import sys
from pathlib import Path

import torch
from safetensors.torch import save_file

import grale
from grale.data.coloring import COLORING_VARIANTS, generate_coloring

GOLDEN_SEED, NUM_GOLDEN = 50, 50


def golden_graphs() -> list[grale.Graph]:
    return generate_coloring(NUM_GOLDEN, COLORING_VARIANTS["coloring10"], GOLDEN_SEED)


if __name__ == "__main__":
    name = sys.argv[1]
    latents = torch.from_numpy(grale.load(name).encode(golden_graphs()))
    save_file({"latents": latents}, Path(__file__).parent / f"{name}.safetensors")
