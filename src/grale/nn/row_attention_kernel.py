"""Attention over short rows, forward and backward, compiled by numba (see `row_attention.py`).

One job is one row of the edge tensor and all of its heads. A problem is small (n entries of a few
dozen numbers), so all of it stays in the nearest cache; what is kept per entry is transposed to
have queries innermost, so that no loop ever sums over the lanes of a register:

    scores_kj = bias_k + sum_d key_kd query_dj        d scores_kj = p_kj (dp_kj - sum_k p_kj dp_kj)
    p_kj      = softmax over k                        dp_kj = sum_d value_kd dout_dj
    out_dj    = sum_k value_kd p_kj                   and each gradient one product more

Widths are constants of the compiled function, which is what lets the compiler use whole registers.

Departures: none in value.
"""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple, no_type_check

import numpy as np
from llvmlite import ir
from numba import carray, cfunc, njit, types
from numba.extending import intrinsic

from grale.nn.lanes import exp, fill, larger, load, repeat, scatter, store

Arguments = types.CPointer(types.int64)


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


class Kernels(NamedTuple):
    """Compiled functions, to be called by `team.run_in_team`."""

    forward: Any
    backward: Any


@cache
def kernels(width: int, head_dim: int) -> Kernels:
    """Forward and backward for rows of at most `width` and heads of `head_dim`, as cfuncs.

    Arguments after the counter: rows, entries per row, heads, rows with one bias in common,
    addresses of the projections (rows, n, 3, heads, head_dim), of the biases (groups, n), of the
    output (rows, n, heads, head_dim); backward also those of its gradient and of the projections'.
    """
    scale = np.float32(head_dim**-0.5)

    @njit
    @no_type_check
    def turn(source, start, step, count, factor, out):
        """out[d, j] = factor source[start + j step + d]."""
        for j in range(count):
            numbers = load(source, start + j * step, head_dim) * fill(factor, head_dim)
            scatter(out, j, width, numbers)

    @njit
    @no_type_check
    def scores(source, start, step, queries, count, bias, bias_start, out):
        """out[k] = bias_k + sum_d source_kd queries_d; return the largest over k.

        Four k at a time share what is loaded and wait for each other less; where the row ends,
        the last is done again.
        """
        largest, last = fill(np.float32(-3e38), width), count - 1
        for k0 in range(0, count, 4):
            k1, k2, k3 = min(k0 + 1, last), min(k0 + 2, last), min(k0 + 3, last)
            at0, at1 = start + k0 * step, start + k1 * step
            at2, at3 = start + k2 * step, start + k3 * step
            sum0, sum1 = repeat(bias, bias_start + k0, width), repeat(bias, bias_start + k1, width)
            sum2, sum3 = repeat(bias, bias_start + k2, width), repeat(bias, bias_start + k3, width)
            for d in range(head_dim):
                query = load(queries, d * width, width)
                sum0 = sum0 + repeat(source, at0 + d, width) * query
                sum1 = sum1 + repeat(source, at1 + d, width) * query
                sum2 = sum2 + repeat(source, at2 + d, width) * query
                sum3 = sum3 + repeat(source, at3 + d, width) * query
            store(out, k0 * width, sum0)
            store(out, k1 * width, sum1)
            store(out, k2 * width, sum2)
            store(out, k3 * width, sum3)
            largest = larger(largest, larger(larger(sum0, sum1), larger(sum2, sum3)))
        return largest

    @njit
    @no_type_check
    def softmax(peak, count, out):
        """Probabilities from scores, in place."""
        total = fill(np.float32(0.0), width)
        for k in range(count):
            value = exp(load(out, k * width, width) - peak)
            store(out, k * width, value)
            total = total + value
        share = fill(np.float32(1.0), width) / total
        for k in range(count):
            store(out, k * width, load(out, k * width, width) * share)

    @njit
    @no_type_check
    def weigh(weights, across, along, source, start, step, count, target, at, target_step):
        """target_i = sum_m weights[i across + m along] source_m, four i at a time as above."""
        last = count - 1
        for i0 in range(0, count, 4):
            i1, i2, i3 = min(i0 + 1, last), min(i0 + 2, last), min(i0 + 3, last)
            sum0, sum1 = fill(np.float32(0.0), head_dim), fill(np.float32(0.0), head_dim)
            sum2, sum3 = fill(np.float32(0.0), head_dim), fill(np.float32(0.0), head_dim)
            for m in range(count):
                entry, place = load(source, start + m * step, head_dim), m * along
                sum0 = sum0 + repeat(weights, i0 * across + place, head_dim) * entry
                sum1 = sum1 + repeat(weights, i1 * across + place, head_dim) * entry
                sum2 = sum2 + repeat(weights, i2 * across + place, head_dim) * entry
                sum3 = sum3 + repeat(weights, i3 * across + place, head_dim) * entry
            store(target, at + i0 * target_step, sum0)
            store(target, at + i1 * target_step, sum1)
            store(target, at + i2 * target_step, sum2)
            store(target, at + i3 * target_step, sum3)

    @cfunc(types.void(Arguments), cache=True)
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
        while row < rows:
            for head in range(heads):
                start = row * count * 3 * dim + head * head_dim
                turn(inputs, start, 3 * dim, count, scale, queries)
                bias_start = row // group * count
                peak = scores(
                    inputs, start + dim, 3 * dim, queries, count, biases, bias_start, probs
                )
                softmax(peak, count, probs)
                at = row * count * dim + head * head_dim
                weigh(probs, 1, width, inputs, start + 2 * dim, 3 * dim, count, outputs, at, dim)
            row = _draw(arguments)

    @cfunc(types.void(Arguments), cache=True)
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
        while row < rows:
            for head in range(heads):
                start = row * count * 3 * dim + head * head_dim
                at = row * count * dim + head * head_dim
                turn(inputs, start, 3 * dim, count, scale, queries)
                turn(upstream, at, dim, count, np.float32(1.0), wanted)
                bias_start = row // group * count
                peak = scores(
                    inputs, start + dim, 3 * dim, queries, count, biases, bias_start, probs
                )
                softmax(peak, count, probs)
                scores(inputs, start + 2 * dim, 3 * dim, wanted, count, nothing, 0, change)
                mean = fill(np.float32(0.0), width)
                for k in range(count):
                    place = k * width
                    mean = mean + load(probs, place, width) * load(change, place, width)
                factor = fill(scale, width)
                for k in range(count):
                    place = k * width
                    moved = load(probs, place, width) * (load(change, place, width) - mean)
                    store(change, place, moved * factor)
                weigh(
                    change, 1, width, inputs, start + dim, 3 * dim, count, results, start, 3 * dim
                )
                weigh(
                    change, width, 1, inputs, start, 3 * dim, count, results, start + dim, 3 * dim
                )
                weigh(probs, width, 1, upstream, at, dim, count, results, start + 2 * dim, 3 * dim)
            row = _draw(arguments)

    return Kernels(forward, backward)
