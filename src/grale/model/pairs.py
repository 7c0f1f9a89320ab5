"""Matching two input graphs (paper: "Graph matching", T(G_1, G_2)).

    plan(G_1, G_2) = Sinkhorn(affinity(MLP_in(x_i), MLP_in(y_j))), at test time an assignment

Departures: both graphs pass through MLP_in (decisions/005); there may be further rounds
(decisions/008).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from jaxtyping import Float
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment
from torch import Tensor

from grale.graphs.batch import GraphBatch
from grale.graphs.graph import Graph
from grale.metrics.edit_distance import Edit, edit_distance, edits
from grale.model.inference import by_size, check_batch_size, device_of, quietly, screen
from grale.model.pair_costs import PairCosts

if TYPE_CHECKING:
    from grale.model.autoencoder import GRALE

CHUNK = 4_096  # pairs whose graphs are encoded together, each graph once


@dataclass(frozen=True)
class Match:
    """A correspondence between the nodes of two graphs."""

    g1: Graph
    g2: Graph
    mapping: NDArray[np.int64]
    """mapping[i] is the node of the second graph for node i of the first, or -1."""
    scores: NDArray[np.float64]
    """How well the matcher likes each pair of nodes, null nodes of the smaller graph included."""

    @cached_property
    def edit_distance(self) -> int:
        """Edits that this mapping costs: an upper bound of the edit distance."""
        return edit_distance(self.g1, self.g2, self.mapping)

    @property
    def edits(self) -> list[Edit]:
        """The edits one by one; replaying them turns the first graph into the second."""
        return edits(self.g1, self.g2, self.mapping)


@quietly
def match_many(
    model: GRALE, pairs: Sequence[tuple[Any, Any]], batch_size: int = 256, tries: int = 1
) -> list[Match]:
    """Match each pair; see :meth:`grale.model.autoencoder.GRALE.match_many`."""
    check_batch_size(batch_size)
    if tries < 1:
        raise ValueError(f"tries must be at least 1, got {tries}")
    found: list[Match] = []
    for start in range(0, len(pairs), CHUNK):
        chunk = pairs[start : start + CHUNK]
        distinct = list({id(item): item for pair in chunk for item in pair}.values())
        place = {id(item): row for row, item in enumerate(distinct)}
        graphs = screen(distinct, model.space)
        for number, sides in enumerate(chunk, start):
            for side, item in zip(("first", "second"), sides):
                if isinstance(graphs[place[id(item)]], str):
                    raise ValueError(f"pair {number}, {side} graph: {graphs[place[id(item)]]}")
        rows = [(place[id(first)], place[id(second)]) for first, second in chunk]
        best: list[Match] = []
        for nodes in _matched_embeddings(model, graphs, batch_size, tries):
            new = _matches(model, graphs, nodes, rows, batch_size)
            best = [_cheaper(*both) for both in zip(best, new)] if best else new
        found += best
    return found


def _cheaper(first: Match, second: Match) -> Match:
    return second if second.edit_distance < first.edit_distance else first


def _matched_embeddings(
    model: GRALE, graphs: Sequence[Graph], batch_size: int, tries: int
) -> Float[Tensor, "T G N d"]:
    """MLP_in of every node, padded nodes included, under so many draws of the noise."""
    parts, order = [], []
    for rows, batch in by_size(graphs, max(1, batch_size // tries)):
        batch = batch.to(device_of(model))
        noise = model.featurizer.canonical_noise(batch, tries)
        repeated = batch if tries == 1 else batch[list(range(len(batch))) * tries]
        nodes = model.encoder.nodes(model.featurizer(repeated, noise))
        parts.append(model.matcher.embed_in(nodes).unflatten(0, (tries, -1)))
        order += rows
    return torch.cat(parts, dim=1)[:, torch.tensor(order).argsort()]


def _matches(
    model: GRALE,
    graphs: Sequence[Graph],
    nodes: Float[Tensor, "G N d"],
    rows: Sequence[tuple[int, int]],
    batch_size: int,
) -> list[Match]:
    """Assign the nodes of each pair, at the size of its larger graph."""
    sizes = [max(graphs[first].num_nodes, graphs[second].num_nodes) for first, second in rows]
    ordered = sorted(range(len(rows)), key=sizes.__getitem__)
    found: dict[int, Match] = {}
    for size, group in groupby(ordered, key=sizes.__getitem__):
        alike = list(group)
        for start in range(0, len(alike), batch_size):
            numbers = alike[start : start + batch_size]
            pairs = [tuple(graphs[row] for row in rows[number]) for number in numbers]
            left, right = (
                nodes[[rows[number][side] for number in numbers], :size] for side in (0, 1)
            )
            kernels = model.matcher.pair_kernel(left, right, _costs(model, pairs, size))
            for number, pair, scores in zip(numbers, pairs, kernels.cpu().double().numpy()):
                found[number] = _match(*pair, scores)
    return [found[number] for number in range(len(rows))]


def _match(g1: Graph, g2: Graph, scores: NDArray[np.float64]) -> Match:
    partners = linear_sum_assignment(scores, maximize=True)[1]
    mapping = partners[: g1.num_nodes].astype(np.int64)
    return Match(g1, g2, np.where(mapping < g2.num_nodes, mapping, -1), scores)


def _costs(model: GRALE, pairs: Sequence[tuple[Graph, Graph]], size: int) -> PairCosts | None:
    """Costs of the pairs, where the matcher asks for them."""
    if model.config.matcher.rounds == 0:
        return None
    device = device_of(model)
    first, second = (GraphBatch.from_graphs(side, size).to(device) for side in zip(*pairs))
    return PairCosts.of(first, second, model.space.num_edge_classes)
