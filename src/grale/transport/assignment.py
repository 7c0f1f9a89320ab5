"""Exact hard assignment, used instead of Sinkhorn at test time (paper: appendix "Matcher")."""

from __future__ import annotations

import numpy as np
import torch
from jaxtyping import Float, Int
from scipy.optimize import linear_sum_assignment
from torch import Tensor


def assign(scores: Float[Tensor, "B N N"]) -> Int[Tensor, "B N"]:
    """permutation[i] = j such that the sum of scores[i, permutation[i]] is largest.

    >>> assign(torch.tensor([[[0.0, 5.0], [4.0, 6.0]]])).tolist()
    [[1, 0]]
    """
    matrices = scores.detach().cpu().double().numpy()
    columns = [linear_sum_assignment(matrix, maximize=True)[1] for matrix in matrices]
    return torch.from_numpy(np.stack(columns)).to(scores.device)
