"""Branch and bound, compiled by numba.

Nodes of the first graph, which is not the larger one, get their partners one by one. The bound of a
partial mapping adds to its cost the least that the rest can cost: node labels that do not agree,
edges among the rest that do not agree, and for each mapped pair the edges to the rest that do not
agree.
"""

from __future__ import annotations

from typing import no_type_check

from grale.compiled import compiled

DEPTH, BEST, VISITED = range(3)


@compiled()
@no_type_check  # numba compiles it: type checkers must not wrap it
def _unmatched(counts, total1, total2):
    """Larger total minus what agrees; counts[l, 0] and counts[l, 1] are the two multisets."""
    common = 0
    for label in range(len(counts)):
        common += min(counts[label, 0], counts[label, 1])
    return max(total1, total2) - common


@compiled()
@no_type_check
def rest_bound(a, b, labels_a, labels_b, order, depth, p, used, directed, nodes, edges):
    """Least number of edits for the nodes and edges that have no partner yet.

    `nodes` and `edges` are scratch tables of counts, one row per label.
    """
    n1, n2 = len(labels_a), len(labels_b)
    nodes[:] = 0
    for place in range(depth, n1):
        nodes[labels_a[order[place]], 0] += 1
    for j in range(n2):
        if not used[j]:
            nodes[labels_b[j], 1] += 1
    bound = _unmatched(nodes, n1 - depth, n2 - depth)
    bound += _inner_edges(a, b, order, depth, used, directed, edges)
    for turn in range(2 if directed else 1):
        for place in range(depth):
            i = order[place]
            j = p[i]
            edges[:] = 0
            total1 = total2 = 0
            for other in range(depth, n1):
                k = order[other]
                label = a[i, k] if turn == 0 else a[k, i]
                if label:
                    edges[label, 0] += 1
                    total1 += 1
            for m in range(n2):
                label = b[j, m] if turn == 0 else b[m, j]
                if label and not used[m]:
                    edges[label, 1] += 1
                    total2 += 1
            bound += _unmatched(edges, total1, total2)
    return bound


@compiled()
@no_type_check
def _inner_edges(a, b, order, depth, used, directed, edges):
    """Edges among the rest that cannot agree."""
    n1, n2 = len(a), len(b)
    edges[:] = 0
    total1 = total2 = 0
    for first in range(depth, n1):
        for second in range(depth, n1):
            label = a[order[first], order[second]]
            if label and (directed or first < second):
                edges[label, 0] += 1
                total1 += 1
    for j in range(n2):
        for m in range(n2):
            label = b[j, m]
            if label and not used[j] and not used[m] and (directed or j < m):
                edges[label, 1] += 1
                total2 += 1
    return _unmatched(edges, total1, total2)


@compiled()
@no_type_check
def _added_cost(a, b, labels_a, labels_b, order, depth, p, j, directed):
    """Cost of giving the node at this depth the partner j, given the nodes before it."""
    i = order[depth]
    cost = 1 if labels_a[i] != labels_b[j] else 0
    for place in range(depth):
        k = order[place]
        if a[i, k] != b[j, p[k]]:
            cost += 1
        if directed and a[k, i] != b[p[k], j]:
            cost += 1
    return cost


@compiled()
@no_type_check
def bound_steps(
    a,
    b,
    labels_a,
    labels_b,
    order,
    directed,
    p,
    used,
    costs,
    tried,
    best,
    state,
    nodes,
    edges,
    steps,
):
    """Visit `steps` partial mappings; return whether all have been visited or excluded.

    `tried[d]` is the next partner to try at depth d, `costs[d]` the cost of the first d nodes.
    """
    n1, n2 = len(labels_a), len(labels_b)
    for _ in range(steps):
        depth = state[DEPTH]
        if depth < 0:
            return True
        i = order[depth]
        if p[i] >= 0:  # back from a deeper level: free the partner
            used[p[i]] = False
            p[i] = -1
        j = tried[depth]
        while j < n2 and used[j]:
            j += 1
        if j >= n2:
            tried[depth] = 0
            state[DEPTH] -= 1
            continue
        tried[depth] = j + 1
        state[VISITED] += 1
        cost = costs[depth] + _added_cost(a, b, labels_a, labels_b, order, depth, p, j, directed)
        if cost >= state[BEST]:
            continue
        p[i] = j
        used[j] = True
        rest = rest_bound(
            a, b, labels_a, labels_b, order, depth + 1, p, used, directed, nodes, edges
        )
        if cost + rest >= state[BEST]:
            continue
        if depth + 1 == n1:
            state[BEST] = cost + rest  # the rest is inserted, and the bound counts it
            best[:] = p
            continue
        costs[depth + 1] = cost
        state[DEPTH] = depth + 1
    return state[DEPTH] < 0
