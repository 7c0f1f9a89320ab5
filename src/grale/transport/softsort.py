"""SoftSort: a relaxation of sorting (Prillo and Eisenschlos 2020; paper: "PIGVAE", "Matcher").

    P_rj = Softmax_j(-|sort(s)_r - s_j| / temperature)          sort: largest first

Rows are ranks and sum to one; columns are items. The smaller the temperature, the closer P is to
the permutation that sorts. The largest entry of a row is at the item of that rank, so the sorting
permutation is also the best assignment of ranks to items under P.

Departures: the paper's formula lacks the minus sign.
"""

from __future__ import annotations

import torch
from jaxtyping import Float
from torch import Tensor


def soft_sort(scores: Float[Tensor, "B N"], temperature: float) -> Float[Tensor, "B N N"]:
    """P[r, j] is the share of item j at rank r; rank 0 is the largest score.

    Computed in float32 or better.

    >>> soft_sort(torch.tensor([[1.0, 3.0, 2.0]]), temperature=0.01)[0].round().tolist()
    [[0.0, 1.0, 0.0], [0.0, 0.0, 1.0], [1.0, 0.0, 0.0]]
    """
    if temperature <= 0:
        raise ValueError(f"temperature must be above 0, got {temperature}")
    scores = scores.float() if scores.dtype.itemsize < 4 else scores
    ranked = scores.sort(dim=1, descending=True).values
    distances = (ranked[:, :, None] - scores[:, None, :]).abs()
    return torch.softmax(-distances / temperature, dim=2)
