"""Attention of many entries to a few tokens, forward and backward (see `token_attention.py`).

One job is one graph: its entries are processed block by block, and the gradients of its tokens are
summed over the blocks.

The backward pass repeats some lines of `row_attention_kernel.py`: as one more compiled step of
`attention_steps.py`, they made forward and backward of the rows 8 % slower.
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

BLOCK = 16  # entries at a time: one or two registers, so that four sums fit next to their factors


@cache
def kernels(head_dim: int) -> Kernels:
    """Forward and backward for heads of `head_dim`, as cfuncs.

    Arguments of both after the counter: graphs, entries and tokens of each, heads, and addresses:
    queries (graphs, entries, heads, head_dim), keys and values (graphs, tokens, heads, head_dim),
    then the output, or its gradient and room for those of queries, keys and values; the last two
    must hold zeros.
    """
    scale, width = np.float32(head_dim**-0.5), BLOCK
    stamp = STAMP  # in the closure

    @compiled
    @no_type_check
    def forward(arguments):
        numbers = carray(arguments, 9)
        graphs, entries, tokens, heads = numbers[1], numbers[2], numbers[3], numbers[4]
        dim = heads * head_dim
        queries = carray(floats(numbers[5]), (graphs * entries * dim,))
        keys = carray(floats(numbers[6]), (graphs * tokens * dim,))
        values = carray(floats(numbers[7]), (graphs * tokens * dim,))
        outputs = carray(floats(numbers[8]), (graphs * entries * dim,))
        turned = np.zeros(head_dim * width, np.float32)
        probs = np.empty(tokens * width, np.float32)
        bias = (np.zeros(tokens, np.float32), 0)
        graph = draw(arguments)
        while graph < graphs and stamp >= 0:
            for block in range(0, entries, width):
                count = min(width, entries - block)
                for head in range(heads):
                    start = (graph * entries + block) * dim + head * head_dim
                    first = graph * tokens * dim + head * head_dim
                    own, source = (queries, start, dim), (keys, first, dim)
                    attend(width, head_dim, own, count, scale, source, tokens, bias, turned, probs)
                    source, target = (values, first, dim), (outputs, start, dim)
                    weigh(head_dim, probs, 1, width, source, tokens, target, count, False)
            graph = draw(arguments)

    @compiled
    @no_type_check
    def backward(arguments):
        numbers = carray(arguments, 12)
        graphs, entries, tokens, heads = numbers[1], numbers[2], numbers[3], numbers[4]
        dim = heads * head_dim
        queries = carray(floats(numbers[5]), (graphs * entries * dim,))
        keys = carray(floats(numbers[6]), (graphs * tokens * dim,))
        values = carray(floats(numbers[7]), (graphs * tokens * dim,))
        upstream = carray(floats(numbers[8]), (graphs * entries * dim,))
        of_queries = carray(floats(numbers[9]), (graphs * entries * dim,))
        of_keys = carray(floats(numbers[10]), (graphs * tokens * dim,))
        of_values = carray(floats(numbers[11]), (graphs * tokens * dim,))
        turned = np.zeros(head_dim * width, np.float32)
        wanted = np.zeros(head_dim * width, np.float32)
        probs = np.empty(tokens * width, np.float32)
        change = np.empty(tokens * width, np.float32)
        bias = (np.zeros(tokens, np.float32), 0)
        graph = draw(arguments)
        while graph < graphs and stamp >= 0:
            for block in range(0, entries, width):
                count = min(width, entries - block)
                for head in range(heads):
                    start = (graph * entries + block) * dim + head * head_dim
                    first = graph * tokens * dim + head * head_dim
                    own, above = (queries, start, dim), (upstream, start, dim)
                    source = (keys, first, dim)
                    attend(width, head_dim, own, count, scale, source, tokens, bias, turned, probs)
                    turn(width, head_dim, above, count, np.float32(1.0), wanted)
                    place = (values, first, dim)
                    scores(width, head_dim, place, wanted, tokens, bias[0], 0, change)
                    through_softmax(width, scale, tokens, probs, change)
                    target = (of_queries, start, dim)
                    weigh(head_dim, change, 1, width, source, tokens, target, count, False)
                    target = (of_keys, first, dim)
                    weigh(head_dim, change, width, 1, own, count, target, tokens, True)
                    target = (of_values, first, dim)
                    weigh(head_dim, probs, width, 1, above, count, target, tokens, True)
            graph = draw(arguments)

    return Kernels(forward, backward)
