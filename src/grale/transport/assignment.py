"""Exact hard assignment, used instead of Sinkhorn at test time (paper: appendix "Matcher")."""

from __future__ import annotations

import numpy as np
import torch
from jaxtyping import Float, Int
from scipy.optimize import linear_sum_assignment
from torch import Tensor


def assign(scores: Float[Tensor, "B N N"], tie_break: float = 0.0) -> Int[Tensor, "B N"]:
    """permutation[i] = j such that the sum of scores[i, permutation[i]] is largest.

    `tie_break`, times i j / N^2, is added to the scores: rows that tie get columns in their order.

    >>> assign(torch.tensor([[[0.0, 5.0], [4.0, 6.0]]])).tolist()
    [[1, 0]]
    >>> assign(torch.zeros(1, 3, 3), tie_break=1e-7).tolist()
    [[0, 1, 2]]
    """
    matrices = scores.detach().cpu().double().numpy()
    places = np.arange(matrices.shape[1]) / max(matrices.shape[1], 1)
    order = tie_break * np.outer(places, places)
    columns = [linear_sum_assignment(matrix + order, maximize=True)[1] for matrix in matrices]
    return torch.from_numpy(np.stack(columns)).to(scores.device)
