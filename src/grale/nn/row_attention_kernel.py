"""Attention over short rows, forward and backward, compiled by numba (see `row_attention.py`).

One job is one row of the edge tensor with all of its heads. A problem is small (n entries of a few
dozen numbers), so all of it stays in the nearest cache. Scores have the queries j innermost: no
loop ever sums over the lanes of a vector. Sums over entries have the numbers d of a head there:

    scores_kj = bias_k + sum_d key_kd query_dj        d scores_kj = p_kj (dp_kj - sum_k p_kj dp_kj)
    p_kj      = softmax over k                        dp_kj = sum_d value_kd dout_dj
    out_jd    = sum_k p_kj value_kd                   and each gradient one such sum more

Widths are constants of the compiled functions: vectors have a fixed length. A `source` or `target`
is an array, the place of its first entry, and how far apart entries are.

"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, no_type_check
from zlib import crc32

import numpy as np
from llvmlite import ir
from numba import carray, cfunc, literally, njit, types
from numba.extending import intrinsic

from grale.nn import lanes
from grale.nn.lanes import exp, fill, larger, load, repeat, scatter, store

Arguments = types.CPointer(types.int64)


class Kernels(NamedTuple):
    """Compiled functions, to be called by `team.run_in_team`."""

    forward: Any
    backward: Any


@intrinsic
@no_type_check
def _draw(typing_context, counter):
    """Take the next job: add one to the counter, return what it was; safe between threads."""

    def generate(context, builder, signature, values):
        one = ir.Constant(ir.IntType(64), 1)
        return builder.atomic_rmw("add", values[0], one, "monotonic")

    return types.int64(Arguments), generate


@intrinsic
@no_type_check
def _floats(typing_context, address):
    """Address of float32 numbers as a pointer."""

    def generate(context, builder, signature, values):
        return builder.inttoptr(values[0], context.get_value_type(signature.return_type))

    return types.CPointer(types.float32)(types.int64), generate


@njit
@no_type_check
def _turn(width, head_dim, source, count, factor, out):
    """out[d, j] = factor source_jd."""
    width, head_dim = literally(width), literally(head_dim)
    array, start, step = source
    for j in range(count):
        numbers = load(array, start + j * step, head_dim) * fill(factor, head_dim)
        scatter(out, j, width, numbers)


@njit
@no_type_check
def _scores(width, head_dim, source, queries, count, bias, bias_start, out):
    """out[k] = bias_k + sum_d source_kd queries_d; return the largest over k.

    Four k at a time share what is loaded and wait for each other less; where the row ends, the
    last is done again.
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
def _softmax(width, largest, count, out):
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
def _through_softmax(width, scale, count, probs, change):
    """Turn the gradient of the probabilities into that of the scores before scaling, in place."""
    width = literally(width)
    mean, factor = fill(np.float32(0.0), width), fill(scale, width)
    for k in range(count):
        mean = mean + load(probs, k * width, width) * load(change, k * width, width)
    for k in range(count):
        moved = load(probs, k * width, width) * (load(change, k * width, width) - mean)
        store(change, k * width, moved * factor)


@njit
@no_type_check
def _weigh(head_dim, weights, across, along, source, count, target):
    """target_i = sum_m weights[i across + m along] source_m, four i at a time as above."""
    head_dim = literally(head_dim)
    (array, start, step), (found, at, apart) = source, target
    last = count - 1
    for i0 in range(0, count, 4):
        i1, i2, i3 = min(i0 + 1, last), min(i0 + 2, last), min(i0 + 3, last)
        sum0, sum1 = fill(np.float32(0.0), head_dim), fill(np.float32(0.0), head_dim)
        sum2, sum3 = fill(np.float32(0.0), head_dim), fill(np.float32(0.0), head_dim)
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


@cache
def kernels(width: int, head_dim: int) -> Kernels:
    """Forward and backward for rows of at most `width` and heads of `head_dim`, as cfuncs.

    Arguments of both after the counter: rows, entries per row, heads, rows with one bias in common,
    and addresses: projections (rows, n, 3, heads, head_dim), biases (groups, n), then the output
    (rows, n, heads, head_dim), or its gradient and the place for that of the projections.
    """
    scale = np.float32(head_dim**-0.5)
    stamp = crc32(Path(lanes.__file__).read_bytes())  # numba's cache sees closures and this file

    @_compiled
    @no_type_check
    def forward(arguments):
        numbers = carray(arguments, 8)
        rows, count, heads, group = numbers[1], numbers[2], numbers[3], numbers[4]
        dim = heads * head_dim
        inputs = carray(_floats(numbers[5]), (rows * count * 3 * dim,))
        biases = carray(_floats(numbers[6]), (rows // group * count,))
        outputs = carray(_floats(numbers[7]), (rows * count * dim,))
        queries = np.zeros(head_dim * width, np.float32)
        probs = np.empty(count * width, np.float32)
        row = _draw(arguments)
        while row < rows and stamp >= 0:
            bias = row // group * count
            for head in range(heads):
                start, step = row * count * 3 * dim + head * head_dim, 3 * dim
                own, keys = (inputs, start, step), (inputs, start + dim, step)
                values = (inputs, start + 2 * dim, step)
                target = (outputs, row * count * dim + head * head_dim, dim)
                _turn(width, head_dim, own, count, scale, queries)
                top = _scores(width, head_dim, keys, queries, count, biases, bias, probs)
                _softmax(width, top, count, probs)
                _weigh(head_dim, probs, 1, width, values, count, target)
            row = _draw(arguments)

    @_compiled
    @no_type_check
    def backward(arguments):
        numbers = carray(arguments, 9)
        rows, count, heads, group = numbers[1], numbers[2], numbers[3], numbers[4]
        dim = heads * head_dim
        inputs = carray(_floats(numbers[5]), (rows * count * 3 * dim,))
        biases = carray(_floats(numbers[6]), (rows // group * count,))
        upstream = carray(_floats(numbers[7]), (rows * count * dim,))
        results = carray(_floats(numbers[8]), (rows * count * 3 * dim,))
        queries = np.zeros(head_dim * width, np.float32)
        wanted = np.zeros(head_dim * width, np.float32)
        nothing = np.zeros(count, np.float32)
        probs = np.empty(count * width, np.float32)
        change = np.empty(count * width, np.float32)
        row = _draw(arguments)
        while row < rows and stamp >= 0:
            bias = row // group * count
            for head in range(heads):
                start, step = row * count * 3 * dim + head * head_dim, 3 * dim
                own, keys = (inputs, start, step), (inputs, start + dim, step)
                values = (inputs, start + 2 * dim, step)
                above = (upstream, row * count * dim + head * head_dim, dim)
                _turn(width, head_dim, own, count, scale, queries)
                _turn(width, head_dim, above, count, np.float32(1.0), wanted)
                top = _scores(width, head_dim, keys, queries, count, biases, bias, probs)
                _softmax(width, top, count, probs)
                _scores(width, head_dim, values, wanted, count, nothing, 0, change)
                _through_softmax(width, scale, count, probs, change)
                _weigh(head_dim, change, 1, width, keys, count, (results, start, step))
                _weigh(head_dim, change, width, 1, own, count, (results, start + dim, step))
                _weigh(head_dim, probs, width, 1, above, count, (results, start + 2 * dim, step))
            row = _draw(arguments)

    return Kernels(forward, backward)


def _compiled(function: Callable[..., None]) -> Any:
    """Compile for a pointer to arguments, now or in an earlier process."""
    signature = types.void(Arguments)
    try:
        return cfunc(signature, cache=True)(function)
    except RuntimeError:  # there is no folder that the result could be kept in
        return cfunc(signature)(function)
