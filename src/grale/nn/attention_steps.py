"""Steps of attention among a few dozen entries, compiled by numba.

A problem is small (a few dozen keys of 8 or 16 numbers), so it stays in the nearest cache. Scores
have the queries j innermost, so that no loop sums over the lanes of a vector. Sums over entries
have the numbers d of a head innermost:

    scores_kj = bias_k + sum_d key_kd query_dj        d scores_kj = p_kj (dp_kj - sum_k p_kj dp_kj)
    p_kj      = softmax over k                        dp_kj = sum_d value_kd dout_dj
    out_jd    = sum_k p_kj value_kd                   and one more such sum for each gradient

Widths are constants of the compiled functions: vectors have a fixed length. A `source` or `target`
is an array, the offset of its first entry, and the distance between entries.
`row_attention_kernel.py` and `token_attention_kernel.py` combine the steps.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple, no_type_check
from zlib import crc32

import numpy as np
from llvmlite import ir
from numba import literally, njit, types
from numba.extending import intrinsic

from grale.compiled import compiled_callback
from grale.nn import lanes
from grale.nn.lanes import exp, fill, larger, load, repeat, scatter, store

Arguments = types.CPointer(types.int64)
STAMP = crc32(Path(lanes.__file__).read_bytes() + Path(__file__).read_bytes())
"""Numba's cache of a kernel sees its closure and its own file; this stands for the files below."""


class Kernels(NamedTuple):
    """Compiled functions for `team.run_in_team`."""

    forward: Any
    backward: Any


@intrinsic
@no_type_check
def draw(typing_context, counter):
    """Take the next job: return the counter and add one to it; safe between threads."""

    def generate(context, builder, signature, values):
        one = ir.Constant(ir.IntType(64), 1)
        return builder.atomic_rmw("add", values[0], one, "monotonic")

    return types.int64(Arguments), generate


@intrinsic
@no_type_check
def floats(typing_context, address):
    """Address of float32 numbers as a pointer."""

    def generate(context, builder, signature, values):
        return builder.inttoptr(values[0], context.get_value_type(signature.return_type))

    return types.CPointer(types.float32)(types.int64), generate


@njit
@no_type_check
def turn(width, head_dim, source, count, factor, out):
    """out[d, j] = factor source_jd."""
    width, head_dim = literally(width), literally(head_dim)
    array, start, step = source
    for j in range(count):
        numbers = load(array, start + j * step, head_dim) * fill(factor, head_dim)
        scatter(out, j, width, numbers)


@njit
@no_type_check
def scores(width, head_dim, source, queries, count, bias, bias_start, out):
    """out[k] = bias_k + sum_d source_kd queries_d; return the largest over k.

    Four k at a time share their loads and wait less for each other; at the end of the row, the
    last k is computed again.
    """
    width, head_dim = literally(width), literally(head_dim)
    array, start, step = source
    largest, last = fill(np.float32(-np.inf), width), count - 1
    for k0 in range(0, count, 4):
        k1, k2, k3 = min(k0 + 1, last), min(k0 + 2, last), min(k0 + 3, last)
        at0, at1 = start + k0 * step, start + k1 * step
        at2, at3 = start + k2 * step, start + k3 * step
        sum0, sum1 = repeat(bias, bias_start + k0, width), repeat(bias, bias_start + k1, width)
        sum2, sum3 = repeat(bias, bias_start + k2, width), repeat(bias, bias_start + k3, width)
        for d in range(head_dim):
            query = load(queries, d * width, width)
            sum0 = sum0 + repeat(array, at0 + d, width) * query
            sum1 = sum1 + repeat(array, at1 + d, width) * query
            sum2 = sum2 + repeat(array, at2 + d, width) * query
            sum3 = sum3 + repeat(array, at3 + d, width) * query
        store(out, k0 * width, sum0)
        store(out, k1 * width, sum1)
        store(out, k2 * width, sum2)
        store(out, k3 * width, sum3)
        largest = larger(largest, larger(larger(sum0, sum1), larger(sum2, sum3)))
    return largest


@njit
@no_type_check
def softmax(width, largest, count, out):
    """Probabilities from scores, in place."""
    width = literally(width)
    total = fill(np.float32(0.0), width)
    for k in range(count):
        value = exp(load(out, k * width, width) - largest)
        store(out, k * width, value)
        total = total + value
    share = fill(np.float32(1.0), width) / total
    for k in range(count):
        store(out, k * width, load(out, k * width, width) * share)


@njit
@no_type_check
def attend(width, head_dim, own, count, scale, keys, num_keys, bias, queries, out):
    """out[k, j] = p_kj of the `count` entries of `own`; `queries` is room for them, turned.

    `bias` is an array and the place of the first key in it.
    """
    width, head_dim = literally(width), literally(head_dim)
    turn(width, head_dim, own, count, scale, queries)
    top = scores(width, head_dim, keys, queries, num_keys, bias[0], bias[1], out)
    softmax(width, top, num_keys, out)


@njit
@no_type_check
def through_softmax(width, scale, count, probs, change):
    """Turn the gradient of the probabilities into that of the unscaled scores, in place."""
    width = literally(width)
    mean, factor = fill(np.float32(0.0), width), fill(scale, width)
    for k in range(count):
        mean = mean + load(probs, k * width, width) * load(change, k * width, width)
    for k in range(count):
        moved = load(probs, k * width, width) * (load(change, k * width, width) - mean)
        store(change, k * width, moved * factor)


@njit
@no_type_check
def weigh(head_dim, weights, across, along, source, count, target, num_targets, adds):
    """target_i = sum_m weights[i across + m along] source_m, four i at a time, as above.

    With `adds`, the sum is added to the present value.
    """
    head_dim = literally(head_dim)
    (array, start, step), (found, at, apart) = source, target
    last = num_targets - 1
    for i0 in range(0, num_targets, 4):
        i1, i2, i3 = min(i0 + 1, last), min(i0 + 2, last), min(i0 + 3, last)
        sum0, sum1 = fill(np.float32(0.0), head_dim), fill(np.float32(0.0), head_dim)
        sum2, sum3 = fill(np.float32(0.0), head_dim), fill(np.float32(0.0), head_dim)
        if adds:
            sum0 = load(found, at + i0 * apart, head_dim)
            sum1 = load(found, at + i1 * apart, head_dim)
            sum2 = load(found, at + i2 * apart, head_dim)
            sum3 = load(found, at + i3 * apart, head_dim)
        for m in range(count):
            entry, place = load(array, start + m * step, head_dim), m * along
            sum0 = sum0 + repeat(weights, i0 * across + place, head_dim) * entry
            sum1 = sum1 + repeat(weights, i1 * across + place, head_dim) * entry
            sum2 = sum2 + repeat(weights, i2 * across + place, head_dim) * entry
            sum3 = sum3 + repeat(weights, i3 * across + place, head_dim) * entry
        store(found, at + i0 * apart, sum0)
        store(found, at + i1 * apart, sum1)
        store(found, at + i2 * apart, sum2)
        store(found, at + i3 * apart, sum3)


def compiled(function: Callable[..., None]) -> Any:
    """Compile for a pointer to arguments, or load what an earlier process compiled."""
    return compiled_callback(types.void(Arguments))(function)
