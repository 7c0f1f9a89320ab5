"""Sinusoidal encodings of small integers (paper: PE of shortest paths, appendix "Featurizer")."""

from __future__ import annotations

import math

import torch
from jaxtyping import Float
from torch import Tensor


def path_encoding(max_nodes: int, dim: int) -> Float[Tensor, "P d"]:
    """Sinusoidal encoding of lengths 0 .. max_nodes - 1, and a zero row for "no path"."""
    if dim == 0:
        return torch.zeros(max_nodes + 1, 0)
    if torch.get_default_device().type == "meta":  # only the shape is needed
        return torch.empty(max_nodes + 1, dim)
    lengths = torch.arange(max_nodes)[:, None]
    rates = torch.exp(torch.arange(0, dim, 2) * (-math.log(10_000.0) / dim))
    waves = torch.cat([torch.sin(lengths * rates), torch.cos(lengths * rates)], dim=1)
    return torch.cat([waves, torch.zeros(1, dim)])
