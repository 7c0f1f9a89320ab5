"""Products in bfloat16, where the device multiplies it faster than float32.

Many processors do since 2020 (AVX-512 BF16, AMX). Products have 8 bits of precision then; sums,
norms and softmax stay in float32. That is enough to train and to draw from a plain Transformer
(decisions/015) and for the optimiser's Newton-Schulz (decisions/006), and not for densities, for
exact reconstruction, or where products are small: converting takes as long as multiplying there.
"""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from functools import cache

import torch

INSTRUCTIONS = ("avx512_bf16", "amx_bf16")


@cache
def processor_multiplies_bfloat16() -> bool:
    """Whether this processor has instructions for products of bfloat16."""
    tell = getattr(torch.cpu, "get_capabilities", None)  # not in every version of torch
    known: dict[str, object] = {} if tell is None else tell()
    return any(bool(known.get(name)) for name in INSTRUCTIONS)


def is_faster(device: torch.device) -> bool:
    """Whether large products of bfloat16 are faster than of float32 there; processors only."""
    return device.type == "cpu" and processor_multiplies_bfloat16()


def fast_products(device: torch.device) -> AbstractContextManager[object]:
    """Context in which a network on `device` multiplies in bfloat16, if that is faster there."""
    return torch.autocast("cpu", torch.bfloat16) if is_faster(device) else nullcontext()
