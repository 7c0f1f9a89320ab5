"""Self-attention within many short rows at once, as triangle attention needs for rows of edges.

    out_rj = sum_k Softmax_k(<q_rj, k_rk> / sqrt(d) + bias_k) v_rk          per row r and head

A row of edges has a few dozen entries of 8 or 16 numbers per head. Batched products, softmax and
copies of heads spend most of their time moving memory, so on a CPU one compiled function does it
all. Longer rows are processed a few at a time, so that their N x N probabilities fit into a cache.
In both cases only the input is kept, and the backward pass computes the probabilities again.

`attend_rows_plainly` computes the same in torch.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from grale.extras import is_installed
from grale.nn.attention import attend, join_heads, split_heads

HEAD_DIMS = (8, 16)  # whole registers; the widths in the paper and in the small configs
STEP = 8  # rows are compiled for lengths up to multiples of this
LONGEST = 32
SLICE_BYTES = 2_000_000  # of probabilities at a time


def attend_rows(
    projected: Float[Tensor, "B R N e"],
    num_heads: int,
    mask: Float[Tensor, "B 1 1 N"] | None = None,
) -> Float[Tensor, "B R N d"]:
    """Every entry attends to its own row; e = 3 d holds queries, keys and values."""
    if is_compiled_for(projected, num_heads, mask):
        return _CompiledRows.apply(projected, num_heads, mask)
    if _is_for_slices(projected, mask):
        return _SlicedRows.apply(projected, num_heads, mask)
    return attend_rows_plainly(projected, num_heads, mask)


def attend_rows_plainly(
    projected: Float[Tensor, "B R N e"],
    num_heads: int,
    mask: Float[Tensor, "B 1 1 N"] | None = None,
) -> Float[Tensor, "B R N d"]:
    """Evaluate :func:`attend_rows` as batched attention over B R sequences."""
    num_graphs, num_rows = projected.shape[:2]
    if mask is not None:
        mask = mask.repeat_interleave(num_rows, dim=0)
    parts = projected.flatten(0, 1).chunk(3, dim=-1)
    queries, keys, values = (split_heads(part, num_heads) for part in parts)
    return join_heads(attend(queries, keys, values, mask)).unflatten(0, (num_graphs, num_rows))


def is_compiled_for(projected: Tensor, num_heads: int, mask: Tensor | None) -> bool:
    """Whether the compiled function, which works on bare addresses, can take these tensors."""
    num_graphs, _, length, width = projected.shape
    return (
        type(projected) is Tensor
        and projected.device.type == "cpu"
        and projected.dtype == torch.float32
        and width in [3 * num_heads * head_dim for head_dim in HEAD_DIMS]
        and length <= LONGEST
        and projected.numel() > 0
        and (mask is None or _is_plain_bias(mask, (num_graphs, 1, 1, length)))
        and not torch.compiler.is_compiling()
        and is_installed("numba")
    )


def _is_plain_bias(mask: Tensor, shape: tuple[int, ...]) -> bool:
    """Whether a mask is one float32 number per graph and entry, and needs no gradient."""
    has_kind = mask.device.type == "cpu" and mask.dtype == torch.float32
    return has_kind and mask.shape == shape and not mask.requires_grad


class _CompiledRows(torch.autograd.Function):
    """The kernels of `row_attention_kernel.py` as a differentiable function."""

    @staticmethod
    def forward(ctx: Any, projected: Tensor, num_heads: int, mask: Tensor | None) -> Tensor:
        projected = projected.contiguous()
        bias = projected.new_zeros(1, projected.shape[2]) if mask is None else mask.contiguous()
        ctx.save_for_backward(projected, bias)
        ctx.num_heads = num_heads
        out = projected.new_empty(*projected.shape[:3], projected.shape[3] // 3)
        _run("forward", projected, num_heads, [projected, bias, out])
        return out

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, upstream: Tensor) -> tuple[Tensor, None, None]:
        projected, bias = ctx.saved_tensors
        found = torch.empty_like(projected)
        _run("backward", projected, ctx.num_heads, [projected, bias, upstream.contiguous(), found])
        return found, None, None


def _run(which: str, projected: Tensor, num_heads: int, tensors: list[Tensor]) -> None:
    """Call a kernel; the second tensor holds a bias for each graph, or one for all."""
    from grale.nn.row_attention_kernel import kernels
    from grale.nn.team import run_in_team

    num_graphs, num_rows, length, width = projected.shape
    total = num_graphs * num_rows
    padded = -(-length // STEP) * STEP
    kernel = getattr(kernels(padded, width // (3 * num_heads)), which)
    rows_per_bias = total // len(tensors[1])
    addresses = [tensor.data_ptr() for tensor in tensors]
    run_in_team(kernel, [total, length, num_heads, rows_per_bias, *addresses], total)


def _is_for_slices(projected: Tensor, mask: Tensor | None) -> bool:
    """Whether a backward pass would keep the probabilities, and rows are too long for that."""
    return (
        projected.device.type == "cpu"
        and projected.shape[2] > LONGEST
        and torch.is_grad_enabled()
        and (mask is None or not mask.requires_grad)
        and not torch.compiler.is_compiling()
    )


class _SlicedRows(torch.autograd.Function):
    """Plain attention over some rows at a time; the backward pass starts from the input alone."""

    @staticmethod
    def forward(ctx: Any, projected: Tensor, num_heads: int, mask: Tensor | None) -> Tensor:
        ctx.save_for_backward(projected, mask)
        ctx.num_heads = num_heads
        out = projected.new_empty(*projected.shape[:3], projected.shape[3] // 3)
        for graph, rows in _slices(projected, num_heads):
            bias = None if mask is None else mask[graph]
            out[graph, rows] = attend_rows_plainly(projected[graph, rows], num_heads, bias)
        return out

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, upstream: Tensor) -> tuple[Tensor, None, None]:
        projected, mask = ctx.saved_tensors
        found = torch.empty_like(projected)
        for graph, rows in _slices(projected, ctx.num_heads):
            bias = None if mask is None else mask[graph]
            with torch.enable_grad():
                part = projected[graph, rows].detach().requires_grad_()
                out = attend_rows_plainly(part, ctx.num_heads, bias)
            (found[graph, rows],) = torch.autograd.grad(out, part, upstream[graph, rows])
        return found, None, None


def _slices(projected: Tensor, num_heads: int) -> Iterator[tuple[slice, slice]]:
    """One graph and some of its rows at a time."""
    num_graphs, num_rows, length, _ = projected.shape
    step = max(1, SLICE_BYTES // (num_heads * length**2 * projected.itemsize))
    for graph in range(num_graphs):
        for row in range(0, num_rows, step):
            yield slice(graph, graph + 1), slice(row, row + step)
