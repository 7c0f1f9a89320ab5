"""Bayesian networks: random directed acyclic graphs and their fit to data (paper: table on BN).

    BIC(graph) = log-likelihood - 0.5 ln(rows) x number of parameters

The score is a sum of one term per node, which depends on the node's parents only. So a table of all
(node, parent set) terms scores any graph by eight look-ups.

Departures: the paper's 200,000 networks are not public; ours are drawn uniformly among all labelled
acyclic graphs (recursion over the nodes without parents, Kuipers and Moffa 2015).
"""

from __future__ import annotations

from functools import cache
from math import comb
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
from numpy.typing import NDArray

from grale.graphs.graph import Graph
from grale.graphs.space import GraphSpace

ASIA = "ASTLBEXD"
"""Variables of the textbook network by their initials (asia, smoke, tuberculosis, lung cancer,
bronchitis, either, x-ray, dyspnoea), in the order of the node labels."""
SAMPLE = "bnlearn_asia_5000.parquet"
"""The 5,000 rows of bnlearn's table `asia`."""
NETWORK_SPACE = GraphSpace(max_nodes=len(ASIA), num_node_labels=len(ASIA), directed=True)
ASIA_EDGES = ("AT", "SL", "SB", "TE", "LE", "EX", "ED", "BD")


def random_networks(count: int, num_nodes: int = 8, seed: int = 0) -> list[Graph]:
    """Draw labelled acyclic graphs, each equally likely; node i has label i."""
    rng = np.random.default_rng(seed)
    return [_random_network(num_nodes, rng) for _ in range(count)]


@cache
def count_networks(num_nodes: int, num_roots: int) -> int:
    """Labelled acyclic graphs with exactly `num_roots` nodes without parents.

    >>> [sum(count_networks(n, k) for k in range(1, n + 1)) for n in range(1, 6)]
    [1, 3, 25, 543, 29281]
    """
    if num_roots == num_nodes:
        return 1
    rest = num_nodes - num_roots
    below = range(1, rest + 1)
    return comb(num_nodes, num_roots) * sum(_joined(rest, num_roots, s) for s in below)


def _joined(rest: int, num_roots: int, num_next: int) -> int:
    """Ways to place `rest` nodes, `num_next` of them in the next layer, below `num_roots` roots."""
    hung = (2**num_roots - 1) ** num_next * 2 ** (num_roots * (rest - num_next))
    return hung * count_networks(rest, num_next)


def _random_network(num_nodes: int, rng: np.random.Generator) -> Graph:
    order = rng.permutation(num_nodes)
    matrix = np.zeros((num_nodes, num_nodes), dtype=np.int64)
    layer, rest = _layers_start(num_nodes, rng), num_nodes
    above: NDArray[np.int64] = order[:0]
    last: NDArray[np.int64] = order[:0]
    while True:
        nodes = order[:layer]
        order, rest = order[layer:], rest - layer
        for node in nodes:
            if len(last):
                parents = np.zeros(len(last), dtype=bool)
                while not parents.any():  # a node needs a parent in the layer before
                    parents = rng.random(len(last)) < 0.5
                matrix[last[parents], node] = 1
            matrix[above[rng.random(len(above)) < 0.5], node] = 1
        if rest == 0:
            return Graph.from_label_matrix(np.arange(num_nodes), matrix, directed=True)
        above, last = np.concatenate([above, last]), nodes
        weights = [_joined(rest, layer, size) for size in range(1, rest + 1)]
        layer = _draw(weights, rng)


def _layers_start(num_nodes: int, rng: np.random.Generator) -> int:
    return _draw([count_networks(num_nodes, size) for size in range(1, num_nodes + 1)], rng)


def _draw(weights: list[int], rng: np.random.Generator) -> int:
    """Draw 1, 2, ... with probabilities proportional to exact integers."""
    shares = np.array([weight / sum(weights) for weight in weights])
    return int(rng.choice(len(weights), p=shares / shares.sum())) + 1


class NetworkScorer:
    """BIC of networks over the columns of a table of categories."""

    def __init__(self, values: NDArray[np.integer]) -> None:
        self.num_rows, self.num_nodes = values.shape
        codes = [np.unique(column, return_inverse=True)[1] for column in values.T]
        self.codes = np.stack(codes).astype(np.int64)
        self.levels = self.codes.max(axis=1) + 1
        self._terms: dict[tuple[int, tuple[int, ...]], float] = {}

    def score(self, network: Graph) -> float:
        """BIC of one network; its node labels say which column each node is."""
        if not network.directed or network.num_nodes != self.num_nodes:
            raise ValueError(f"expected a directed graph of {self.num_nodes} nodes, got {network}")
        if sorted(network.node_labels.tolist()) != list(range(self.num_nodes)):
            raise ValueError("each variable must be the label of exactly one node")
        parents: dict[int, list[int]] = {variable: [] for variable in range(self.num_nodes)}
        for start, end in network.node_labels[network.edges].tolist():
            parents[end].append(start)
        if not is_acyclic(network):
            raise ValueError("the network has a cycle")
        return sum(self._term(node, tuple(sorted(above))) for node, above in parents.items())

    def _term(self, node: int, parents: tuple[int, ...]) -> float:
        if (node, parents) not in self._terms:
            self._terms[node, parents] = self._compute_term(node, parents)
        return self._terms[node, parents]

    def _compute_term(self, node: int, parents: tuple[int, ...]) -> float:
        state = np.zeros(self.num_rows, dtype=np.int64)
        num_states = 1
        for parent in parents:
            state = state * self.levels[parent] + self.codes[parent]
            num_states *= int(self.levels[parent])
        levels = int(self.levels[node])
        joint = np.bincount(state * levels + self.codes[node], minlength=num_states * levels)
        counts = joint.reshape(num_states, levels).astype(float)
        totals = counts.sum(axis=1, keepdims=True)
        seen = counts > 0
        likelihood = (counts[seen] * np.log((counts / np.maximum(totals, 1))[seen])).sum()
        return float(likelihood - 0.5 * np.log(self.num_rows) * num_states * (levels - 1))


def is_acyclic(network: Graph) -> bool:
    """Whether no directed walk returns to its start."""
    reach = network.label_matrix() > 0
    for _ in range(network.num_nodes):
        reach = reach | (reach @ reach)
    return not reach.diagonal().any()


def read_sample(folder: Path) -> NDArray[np.int64]:
    """Read the table that networks are scored on, columns in the order of `ASIA`."""
    file = folder / SAMPLE
    if not file.is_file():
        raise FileNotFoundError(f"{file} is not there; --data names the folder that holds it")
    table = pq.read_table(file)
    missing = [name for name in ASIA if name not in table.column_names]
    if missing:
        raise ValueError(f"{file} has no column {missing[0]!r}; it needs {', '.join(ASIA)}")
    columns = [np.unique(table.column(name).to_pylist(), return_inverse=True)[1] for name in ASIA]
    return np.stack(columns, axis=1).astype(np.int64)


def textbook_asia() -> Graph:
    """The network that the ASIA data was drawn from."""
    edges = [(ASIA.index(edge[0]), ASIA.index(edge[1])) for edge in ASIA_EDGES]
    return Graph(np.arange(len(ASIA)), edges, directed=True)
