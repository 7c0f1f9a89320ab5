"""Tabu search, compiled by numba.

    cost(p) = sum_i 1[label_i != label'_p(i)] + sum_{i<k} 1[A_ik != B_p(i)p(k)]

Robust tabu search (Taillard 1991): at each step, make the best trade of two partners that is not
forbidden, even if it raises the cost; trading back is forbidden for a while. With B kept in the
order of the partners, the change in cost follows from how the rows of A and B differ,

    x_uv = 1[label_u != label'_v] + sum_k 1[A_uk != B_vk]
    change_uv = x_uv + x_vu - x_uu - x_vv + repair_uv

(`local_search.swap_deltas`), and x is updated in O(N^2) after a trade. The arrays hold the whole
state, so that the search can be stopped and continued.
"""

from __future__ import annotations

from typing import no_type_check

from grale.compiled import compiled

STEP, COST, BEST, RANDOM = range(4)  # places in the state
FORBIDDEN_LEAST, FORBIDDEN_MORE = 3, 10  # steps; size and chance add to them


@compiled()
@no_type_check  # numba compiles it: type checkers must not wrap it
def row_differences(a, b, labels_a, labels_b, x):
    """Fill x from its definition; a and b hold one layer, or two (rows, columns) if directed."""
    n = len(labels_a)
    for u in range(n):
        for v in range(n):
            x[u, v] = 1 if labels_a[u] != labels_b[v] else 0
    for layer in range(len(a)):
        for u in range(n):
            for v in range(n):
                total = 0
                for k in range(n):
                    total += a[layer, u, k] != b[layer, v, k]
                x[u, v] += total


@compiled(inline="always")
@no_type_check
def _repair(a, b, u, v):
    """What the edge between u and v really costs, minus what x counts for it."""
    repair = 0
    for layer in range(len(a)):
        here, there = a[layer, u, v], b[layer, u, v]
        repair += (here != there) + (here != b[layer, v, u]) - 2 * ((here != 0) + (there != 0))
    return repair


@compiled()
@no_type_check
def tabu_steps(a, b, labels_a, labels_b, x, p, tabu, best, state, steps):
    """Make `steps` trades; b and labels_b follow the partners p, `best` keeps the best seen."""
    n = len(p)
    for _ in range(steps):
        step = state[STEP] + 1
        state[STEP] = step
        to_record = state[BEST] - state[COST]
        r, s, chosen = -1, -1, 1 << 60
        for u in range(n):
            for v in range(u + 1, n):
                is_idle = labels_a[u] + labels_a[v] == -2 or labels_b[u] + labels_b[v] == -2
                if is_idle:  # both null: nothing would change
                    continue
                change = x[u, v] + x[v, u] - x[u, u] - x[v, v] + _repair(a, b, u, v)
                if change < chosen and (
                    change < to_record or tabu[u, p[v]] < step or tabu[v, p[u]] < step
                ):
                    r, s, chosen = u, v, change
        if r < 0:
            continue
        tabu[r, p[r]] = step + _tenure(state, n)
        tabu[s, p[s]] = step + _tenure(state, n)
        _trade(a, b, labels_a, labels_b, x, p, r, s)
        state[COST] += chosen
        if state[COST] < state[BEST]:
            state[BEST] = state[COST]
            best[:] = p


@compiled()
@no_type_check
def _trade(a, b, labels_a, labels_b, x, p, r, s):
    """Let r and s trade partners, and update b and x."""
    n = len(p)
    p[r], p[s] = p[s], p[r]
    labels_b[r], labels_b[s] = labels_b[s], labels_b[r]
    for u in range(n):  # row v of b moves with its partner, and x with it
        x[u, r], x[u, s] = x[u, s], x[u, r]
    for layer in range(len(a)):
        for k in range(n):
            b[layer, r, k], b[layer, s, k] = b[layer, s, k], b[layer, r, k]
        for v in range(n):
            old_r, old_s = b[layer, v, r], b[layer, v, s]
            if old_r == old_s:
                continue
            b[layer, v, r], b[layer, v, s] = old_s, old_r
            for u in range(n):
                at_r, at_s = a[layer, u, r], a[layer, u, s]
                x[u, v] += (at_r != old_s) + (at_s != old_r) - (at_r != old_r) - (at_s != old_s)


@compiled()
@no_type_check
def _tenure(state, n):
    """Steps for which a partner stays forbidden: about n, drawn at random (xorshift)."""
    value = state[RANDOM]
    value ^= (value << 13) & 0x7FFFFFFF
    value ^= value >> 17
    value ^= (value << 5) & 0x7FFFFFFF
    state[RANDOM] = value
    return FORBIDDEN_LEAST + n // 2 + value % (FORBIDDEN_MORE + n)
