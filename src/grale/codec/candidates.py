"""The likeliest graphs of one prediction, in order (beyond the paper, which takes the first).

Given the latent, the decoder predicts existence, labels and edges independently, so a graph's
log-probability is a sum over its decisions. Changing a decision to its second choice costs the gap
between the two; the k best graphs are the k cheapest sets of changes, found with a heap.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from grale.codec.logits import GraphLogits
from grale.graphs.graph import Graph

MAX_DECISIONS = 64  # changes considered; the rest are far less likely


@dataclass(frozen=True)
class _Decision:
    """One entry of the prediction and its second choice."""

    gap: float
    kind: str
    """Which array it changes: "exists", "nodes" or "edges"."""
    place: tuple[int, ...]
    second: int


def likeliest_graphs(logits: GraphLogits, row: int, directed: bool) -> Iterator[Graph]:
    """Graphs of one row, the likeliest first; the same graph may come more than once."""
    logits = GraphLogits(*(getattr(logits, f.name)[row : row + 1] for f in fields(logits)))
    first = logits.most_likely(directed)
    arrays = {
        "exists": first.node_mask[0].cpu().numpy(),
        "nodes": logits.node_label[0].argmax(-1).cpu().numpy(),
        "edges": logits.edge_label[0].argmax(-1).cpu().numpy(),
    }
    decisions = sorted(_decisions(logits, arrays["exists"], directed), key=lambda d: d.gap)
    decisions = decisions[:MAX_DECISIONS]
    for changes in _cheapest_sets([decision.gap for decision in decisions]):
        changed = {name: array.copy() for name, array in arrays.items()}
        for number in changes:
            decision = decisions[number]
            changed[decision.kind][decision.place] = decision.second
            if decision.kind == "edges" and not directed:
                changed["edges"][decision.place[::-1]] = decision.second
        if changed["exists"].any():
            yield _graph(changed, directed)


def _graph(arrays: dict[str, NDArray[Any]], directed: bool) -> Graph:
    kept = np.flatnonzero(arrays["exists"])
    matrix = arrays["edges"][np.ix_(kept, kept)].copy()
    np.fill_diagonal(matrix, 0)
    return Graph.from_label_matrix(arrays["nodes"][kept], matrix, directed)


def _decisions(
    logits: GraphLogits, exists: NDArray[np.bool_], directed: bool
) -> Iterator[_Decision]:
    """Decisions of the logits' only row."""
    for node, score in enumerate(logits.node_mask[0].tolist()):
        yield _Decision(abs(score), "exists", (node,), int(not exists[node]))
    kept = np.flatnonzero(exists).tolist()
    for node, (gap, second) in zip(kept, _second_choices(logits.node_label[0, kept])):
        yield _Decision(gap, "nodes", (node,), second)
    pairs = [(a, b) for a in kept for b in kept if a < b or (directed and a != b)]
    if pairs:
        start, end = zip(*pairs)
        for pair, (gap, second) in zip(
            pairs, _second_choices(logits.edge_label[0, list(start), list(end)])
        ):
            yield _Decision(gap, "edges", pair, second)


def _second_choices(scores: torch.Tensor) -> list[tuple[float, int]]:
    """For each row of scores: the second choice, and how far it is behind the first."""
    if scores.shape[-1] < 2:
        return []
    values, places = scores.topk(2, dim=-1)
    return list(zip((values[:, 0] - values[:, 1]).tolist(), places[:, 1].tolist()))


def _cheapest_sets(costs: list[float]) -> Iterator[tuple[int, ...]]:
    """All sets of indices into the ascending `costs`, by ascending total.

    >>> from itertools import islice
    >>> list(islice(_cheapest_sets([1.0, 2.0, 4.0]), 5))
    [(), (0,), (1,), (0, 1), (2,)]
    """
    yield ()
    heap: list[tuple[float, tuple[int, ...]]] = [(costs[0], (0,))] if costs else []
    while heap:
        total, chosen = heapq.heappop(heap)
        yield chosen
        last = chosen[-1]
        if last + 1 < len(costs):
            step = costs[last + 1]
            heapq.heappush(heap, (total + step, (*chosen, last + 1)))
            heapq.heappush(heap, (total - costs[last] + step, (*chosen[:-1], last + 1)))
