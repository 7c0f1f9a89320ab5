"""Attention over short rows, forward and backward (see `row_attention.py`).

One job is one row of the edge tensor with all its heads.
"""

from __future__ import annotations

from functools import cache
from typing import no_type_check

import numpy as np
from numba import carray

from grale.nn.attention_steps import (
    STAMP,
    Kernels,
    attend,
    compiled,
    draw,
    floats,
    scores,
    through_softmax,
    turn,
    weigh,
)


@cache
def kernels(width: int, head_dim: int) -> Kernels:
    """Forward and backward for rows of at most `width` and heads of `head_dim`, as cfuncs.

    Arguments of both after the counter: rows, entries per row, heads, rows that share one bias, and
    addresses: projections (rows, n, 3, heads, head_dim), biases (groups, n), then the output
    (rows, n, heads, head_dim), or its gradient and the room for that of the projections.
    """
    scale = np.float32(head_dim**-0.5)
    stamp = STAMP  # in the closure

    @compiled
    @no_type_check
    def forward(arguments):
        numbers = carray(arguments, 8)
        rows, count, heads, group = numbers[1], numbers[2], numbers[3], numbers[4]
        dim = heads * head_dim
        inputs = carray(floats(numbers[5]), (rows * count * 3 * dim,))
        biases = carray(floats(numbers[6]), (rows // group * count,))
        outputs = carray(floats(numbers[7]), (rows * count * dim,))
        queries = np.zeros(head_dim * width, np.float32)
        probs = np.empty(count * width, np.float32)
        row = draw(arguments)
        while row < rows and stamp >= 0:
            bias = (biases, row // group * count)
            for head in range(heads):
                start, step = row * count * 3 * dim + head * head_dim, 3 * dim
                own, keys = (inputs, start, step), (inputs, start + dim, step)
                values = (inputs, start + 2 * dim, step)
                target = (outputs, row * count * dim + head * head_dim, dim)
                attend(width, head_dim, own, count, scale, keys, count, bias, queries, probs)
                weigh(head_dim, probs, 1, width, values, count, target, count, False)
            row = draw(arguments)

    @compiled
    @no_type_check
    def backward(arguments):
        numbers = carray(arguments, 9)
        rows, count, heads, group = numbers[1], numbers[2], numbers[3], numbers[4]
        dim = heads * head_dim
        inputs = carray(floats(numbers[5]), (rows * count * 3 * dim,))
        biases = carray(floats(numbers[6]), (rows // group * count,))
        upstream = carray(floats(numbers[7]), (rows * count * dim,))
        results = carray(floats(numbers[8]), (rows * count * 3 * dim,))
        queries = np.zeros(head_dim * width, np.float32)
        wanted = np.zeros(head_dim * width, np.float32)
        nothing = np.zeros(count, np.float32)
        probs = np.empty(count * width, np.float32)
        change = np.empty(count * width, np.float32)
        row = draw(arguments)
        while row < rows and stamp >= 0:
            bias = (biases, row // group * count)
            for head in range(heads):
                start, step = row * count * 3 * dim + head * head_dim, 3 * dim
                own, keys = (inputs, start, step), (inputs, start + dim, step)
                values = (inputs, start + 2 * dim, step)
                above = (upstream, row * count * dim + head * head_dim, dim)
                attend(width, head_dim, own, count, scale, keys, count, bias, queries, probs)
                turn(width, head_dim, above, count, np.float32(1.0), wanted)
                scores(width, head_dim, values, wanted, count, nothing, 0, change)
                through_softmax(width, scale, count, probs, change)
                target = (results, start, step)
                weigh(head_dim, change, 1, width, keys, count, target, count, False)
                target = (results, start + dim, step)
                weigh(head_dim, change, width, 1, own, count, target, count, False)
                target = (results, start + 2 * dim, step)
                weigh(head_dim, probs, width, 1, above, count, target, count, False)
            row = draw(arguments)

    return Kernels(forward, backward)
