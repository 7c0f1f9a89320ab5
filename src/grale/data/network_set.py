"""A dataset of random Bayesian networks with their scores, as shards (paper: table on BN)."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from grale.data.bayes_nets import NETWORK_SPACE, NetworkScorer, random_networks
from grale.data.packed import PackedGraphs
from grale.data.storage import MANIFEST, read_manifest, read_shard, write_packed
from grale.graphs.graph import Graph

SHARD_ROWS = 65_536


class Networks(NamedTuple):
    """Scored networks of one split."""

    graphs: list[Graph]
    scores: NDArray[np.float64]


def prepare_network_set(scorer: NetworkScorer, folder: Path, count: int) -> None:
    """Draw and score networks: nine tenths to train, the rest to test, a few more to watch.

    Nothing is done if they are there.
    """
    if (folder / "test" / MANIFEST).is_file():  # written last
        return
    drawn, watched = random_networks(count, seed=0), random_networks(max(8, count // 100), seed=1)
    cut = count * 9 // 10
    for split, graphs in {"valid": watched, "train": drawn[:cut], "test": drawn[cut:]}.items():
        parts = (graphs[start : start + SHARD_ROWS] for start in range(0, len(graphs), SHARD_ROWS))
        packs = (PackedGraphs.from_graphs(part, _scores(scorer, part)) for part in parts)
        write_packed(folder / split, packs, NETWORK_SPACE, ("bic",))


def _scores(scorer: NetworkScorer, graphs: list[Graph]) -> NDArray[np.float32]:
    return np.array([[scorer.score(graph)] for graph in graphs], dtype=np.float32)


def read_networks(folder: Path) -> Networks:
    """Read all networks of a split with their scores."""
    shards = read_manifest(folder).shards
    whole = PackedGraphs.join([read_shard(folder, shard, directed=True) for shard in shards])
    if whole.properties is None:
        raise ValueError(f"the networks of {folder} have no scores; remove that folder")
    graphs = [whole.graph(row) for row in range(len(whole))]
    return Networks(graphs, whole.properties[:, 0].astype(np.float64))


def adjacency_rows(graphs: list[Graph]) -> NDArray[np.float32]:
    """The 56 entries off the diagonal of each network, variables in the order of their labels."""
    size = NETWORK_SPACE.max_nodes
    matrices = np.zeros((len(graphs), size, size), dtype=np.float32)
    for row, graph in enumerate(graphs):
        source, target = graph.node_labels[graph.edges].T
        matrices[row, source, target] = 1
    return matrices[:, ~np.eye(size, dtype=bool)]
