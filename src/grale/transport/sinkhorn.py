"""Sinkhorn projection in the log domain (paper: algorithm "Sinkhorn Projection").

    v = -logsumexp_i(log_kernel_ij + u_i)          column normalisation
    u = -logsumexp_j(log_kernel_ij + v_j)          row normalisation
    plan = exp(log_kernel + u 1^T + 1 v^T)

Departures: a sweep ends on the rows so that no input node loses its mass (decisions/002); the
paper's ends on the columns. Most sweeps may run without gradients (decisions/004).
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from jaxtyping import Float
from torch import Tensor


class SinkhornResult(NamedTuple):
    """A plan and how far it is from bistochastic."""

    log_plan: Float[Tensor, "B N N"]
    marginal_error: Float[Tensor, " B"]
    """Largest deviation of a row or column sum from 1."""


NARROW = 60.0
"""Kernels of log-kernels that span less than this can be swept directly: float32 holds exp(60)."""


def sinkhorn(
    log_kernel: Float[Tensor, "B N N"],
    num_sweeps: int,
    grad_sweeps: int | None = None,
    is_narrow: bool = False,
) -> SinkhornResult:
    """Scale rows and columns of exp(log_kernel) until each sums to one.

    Parameters
    ----------
    log_kernel
        Logarithm of the affinities; any finite values.
    num_sweeps
        Sweeps over columns and rows; fixed, so that the graph of operations is static.
    grad_sweeps
        How many of the last sweeps are differentiated; None unrolls them all, as the paper
        does. The sweeps before them only find the fixed point; there, a few steps are enough
        for the gradient (one-step differentiation, cited in the paper's conclusion).
    is_narrow
        Promise that the entries of a log-kernel differ by less than NARROW. Sweeps without
        gradients then use the kernel itself, two small products each: several times faster.

    Examples
    --------
    >>> plan = sinkhorn(torch.zeros(1, 2, 2), num_sweeps=1).log_plan.exp()
    >>> plan.tolist()
    [[[0.5, 0.5], [0.5, 0.5]]]
    """
    if num_sweeps < 1:
        raise ValueError(f"num_sweeps must be at least 1, got {num_sweeps}")
    taped = num_sweeps if grad_sweeps is None else min(grad_sweeps, num_sweeps)
    if taped < 1:
        raise ValueError(f"grad_sweeps must be at least 1, got {grad_sweeps}")
    log_kernel = log_kernel.float() if log_kernel.dtype.itemsize < 4 else log_kernel
    with torch.no_grad():
        find = _narrow_row_scale if is_narrow else _row_scale
        row_scale = find(log_kernel, num_sweeps - taped)
    column_scale = row_scale.transpose(1, 2)
    for _ in range(taped):
        row_scale, column_scale = _sweep(log_kernel, row_scale)
    log_plan = log_kernel + row_scale + column_scale
    return SinkhornResult(log_plan, marginal_error(log_plan.exp()))


def _row_scale(log_kernel: Tensor, num_sweeps: int) -> Tensor:
    row_scale = torch.zeros_like(log_kernel[:, :, :1])
    for _ in range(num_sweeps):
        row_scale, _ = _sweep(log_kernel, row_scale)
    return row_scale


def _narrow_row_scale(log_kernel: Tensor, num_sweeps: int) -> Tensor:
    """Evaluate :func:`_row_scale` in the plain domain, for log-kernels of small range."""
    peak = log_kernel.amax(dim=(1, 2), keepdim=True)
    kernel = (log_kernel - peak).exp()
    flipped = kernel.transpose(1, 2)
    scale = torch.ones_like(kernel[:, :, :1])
    for _ in range(num_sweeps):
        scale = (kernel @ (flipped @ scale).reciprocal_()).reciprocal_()
    return scale.log()


def _sweep(log_kernel: Tensor, row_scale: Tensor) -> tuple[Tensor, Tensor]:
    column_scale = -torch.logsumexp(log_kernel + row_scale, dim=1, keepdim=True)
    row_scale = -torch.logsumexp(log_kernel + column_scale, dim=2, keepdim=True)
    return row_scale, column_scale


def marginal_error(plan: Float[Tensor, "B N N"]) -> Float[Tensor, " B"]:
    """Largest deviation of a row or column sum of each plan from 1."""
    rows = (plan.sum(dim=2) - 1).abs().amax(dim=1)
    columns = (plan.sum(dim=1) - 1).abs().amax(dim=1)
    return torch.maximum(rows, columns)
