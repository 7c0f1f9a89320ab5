"""Matching two input graphs (paper: "Graph matching", T(G_1, G_2)).

    plan(G_1, G_2) = Sinkhorn(affinity(MLP_in(x_i), MLP_in(y_j))), at test time an assignment

Departures: both graphs pass through MLP_in (decisions/005), and more rounds may follow
(decisions/008).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from jaxtyping import Float
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment
from torch import Tensor

from grale.codec.intake import by_size, check_batch_size, device_of, listed_pairs, quietly, screen
from grale.graphs.batch import GraphBatch
from grale.graphs.graph import Graph
from grale.matching.result import Matching
from grale.model.beyond.pair_costs import PairCosts

if TYPE_CHECKING:
    from grale.model.autoencoder import GRALE

CHUNK = 4_096  # pairs whose graphs are encoded together, each graph once


@quietly
def match_many(
    model: GRALE, pairs: Iterable[Any], batch_size: int = 256, noise_draws: int = 1
) -> list[Matching]:
    """Match each pair; see :meth:`grale.model.autoencoder.GRALE.match_many`."""
    check_batch_size(batch_size)
    if noise_draws < 1:
        raise ValueError(f"tries must be at least 1, got {noise_draws}")
    pairs = listed_pairs(pairs)
    found: list[Matching] = []
    for start in range(0, len(pairs), CHUNK):
        chunk = pairs[start : start + CHUNK]
        distinct = list({id(item): item for pair in chunk for item in pair}.values())
        place = {id(item): row for row, item in enumerate(distinct)}
        screened = screen(distinct, model.space)
        for number, sides in enumerate(chunk, start):
            for side, item in zip(("first", "second"), sides):
                checked = screened[place[id(item)]]
                if isinstance(checked, str):
                    raise ValueError(f"pair {number}, {side} graph: {checked}")
        graphs = [graph for graph in screened if isinstance(graph, Graph)]  # all of them
        rows = [(place[id(first)], place[id(second)]) for first, second in chunk]
        best: list[Matching] = []
        for nodes in _matched_embeddings(model, graphs, batch_size, noise_draws):
            new = _matches(model, graphs, nodes, rows, batch_size)
            best = [_cheaper(*both) for both in zip(best, new)] if best else new
        found += best
    return found


def _cheaper(first: Matching, second: Matching) -> Matching:
    return second if second.edit_distance < first.edit_distance else first


def _matched_embeddings(
    model: GRALE, graphs: Sequence[Graph], batch_size: int, noise_draws: int
) -> Float[Tensor, "T G N d"]:
    """MLP_in of every node, padded nodes included, once for each draw of the noise."""
    parts, order = [], []
    for rows, batch in by_size(graphs, max(1, batch_size // noise_draws)):
        batch = batch.to(device_of(model))
        noise = model.featurizer.canonical_noise(batch, noise_draws)
        repeated = batch if noise_draws == 1 else batch[list(range(len(batch))) * noise_draws]
        nodes = model.encoder.nodes(model.featurizer(repeated, noise))
        parts.append(model.matcher.embed_in(nodes).unflatten(0, (noise_draws, -1)))
        order += rows
    return torch.cat(parts, dim=1)[:, torch.tensor(order).argsort()]


def _matches(
    model: GRALE,
    graphs: Sequence[Graph],
    nodes: Float[Tensor, "G N d"],
    rows: Sequence[tuple[int, int]],
    batch_size: int,
) -> list[Matching]:
    """Assign the nodes of each pair, padded to the size of its larger graph."""
    sizes = [max(graphs[first].num_nodes, graphs[second].num_nodes) for first, second in rows]
    ordered = sorted(range(len(rows)), key=sizes.__getitem__)
    found: dict[int, Matching] = {}
    for size, group in groupby(ordered, key=sizes.__getitem__):
        alike = list(group)
        for start in range(0, len(alike), batch_size):
            numbers = alike[start : start + batch_size]
            places = [rows[number] for number in numbers]
            pairs = [(graphs[first], graphs[second]) for first, second in places]
            left, right = (nodes[[place[side] for place in places], :size] for side in (0, 1))
            kernels = model.matcher.pair_kernel(left, right, _costs(model, pairs, size))
            scores = kernels.cpu().double().numpy()
            for number, (g1, g2), of_pair in zip(numbers, pairs, scores):
                found[number] = _match(g1, g2, of_pair)
    return [found[number] for number in range(len(rows))]


def _match(g1: Graph, g2: Graph, scores: NDArray[np.float64]) -> Matching:
    partners = linear_sum_assignment(scores, maximize=True)[1]
    mapping = partners[: g1.num_nodes].astype(np.int64)
    return Matching(g1, g2, np.where(mapping < g2.num_nodes, mapping, -1), "grale", scores=scores)


def _costs(model: GRALE, pairs: Sequence[tuple[Graph, Graph]], size: int) -> PairCosts | None:
    """Costs of the pairs, if the matcher needs them."""
    if model.config.matcher.rounds == 0:
        return None
    device = device_of(model)
    first, second = (GraphBatch.from_graphs(side, size).to(device) for side in zip(*pairs))
    return PairCosts.of(first, second, model.space.num_edge_classes)
