"""Attention of many entries to a few tokens: what an edge reads from the latent.

    out_m = sum_k Softmax_k(<q_m, k_k> / sqrt(d)) v_k          per graph and head

With a few dozen tokens, the scores of N^2 edges are the largest tensor of a decoder layer. On a
CPU, a compiled function never stores them, and computes them again in the backward pass
(decisions/010).

`attend_to_tokens_plainly` computes the same in torch.
"""

from __future__ import annotations

from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor

from grale.extras import is_installed
from grale.nn.attention import attend, join_heads, split_heads
from grale.nn.row_attention import HEAD_DIMS


def attend_to_tokens(
    queries: Float[Tensor, "B M d"],
    keys: Float[Tensor, "B K d"],
    values: Float[Tensor, "B K d"],
    num_heads: int,
) -> Float[Tensor, "B M d"]:
    """Every entry attends to the tokens of its graph."""
    if _is_compiled_for(queries, keys, values, num_heads):
        return _CompiledTokens.apply(queries, keys, values, num_heads)
    return attend_to_tokens_plainly(queries, keys, values, num_heads)


def attend_to_tokens_plainly(
    queries: Float[Tensor, "B M d"],
    keys: Float[Tensor, "B K d"],
    values: Float[Tensor, "B K d"],
    num_heads: int,
) -> Float[Tensor, "B M d"]:
    """Evaluate :func:`attend_to_tokens` as batched attention."""
    parts = (split_heads(part, num_heads) for part in (queries, keys, values))
    return join_heads(attend(*parts))


def _is_compiled_for(queries: Tensor, keys: Tensor, values: Tensor, num_heads: int) -> bool:
    """Whether the compiled function, which works on bare addresses, can take these tensors."""
    return (
        all(
            type(part) is Tensor and part.device.type == "cpu" and part.dtype == torch.float32
            for part in (queries, keys, values)
        )
        and queries.shape[-1] in [num_heads * head_dim for head_dim in HEAD_DIMS]
        and queries.numel() > 0
        and keys.numel() > 0
        and not torch.compiler.is_compiling()
        and is_installed("numba")
    )


class _CompiledTokens(torch.autograd.Function):
    """The kernels of `token_attention_kernel.py` as a differentiable function."""

    @staticmethod
    def forward(ctx: Any, queries: Tensor, keys: Tensor, values: Tensor, num_heads: int) -> Tensor:
        inputs = [queries.contiguous(), keys.contiguous(), values.contiguous()]
        ctx.save_for_backward(*inputs)
        ctx.num_heads = num_heads
        out = torch.empty_like(inputs[0])
        _run("forward", num_heads, [*inputs, out])
        return out

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx: Any, upstream: Tensor) -> tuple[Tensor, Tensor, Tensor, None]:
        queries, keys, values = ctx.saved_tensors
        found = [torch.empty_like(queries), torch.zeros_like(keys), torch.zeros_like(values)]
        _run("backward", ctx.num_heads, [queries, keys, values, upstream.contiguous(), *found])
        return found[0], found[1], found[2], None


def _run(which: str, num_heads: int, tensors: list[Tensor]) -> None:
    from grale.nn.team import run_in_team
    from grale.nn.token_attention_kernel import kernels

    num_graphs, num_entries, dim = tensors[0].shape
    num_tokens = tensors[1].shape[1]
    kernel = getattr(kernels(dim // num_heads), which)
    addresses = [tensor.data_ptr() for tensor in tensors]
    sizes = [num_graphs, num_entries, num_tokens, num_heads]
    run_in_team(kernel, [*sizes, *addresses], num_graphs)
