"""What refining a vector can and cannot do: controls for docs/decisions/011.

    python benchmarks/refined_vectors.py [MODEL] [DATA] [--count 150]

Exact reconstructions by the number of steps; the same with untrained weights, and on random graphs
of the same sizes; how far vectors move, and whether they stay nearest to their own graph.
"""

from __future__ import annotations

import argparse

import numpy as np
import torch

import grale
from grale.codec.options import CodecOptions
from grale.data.sources import stream_held_out
from grale.graphs.graph import Graph
from grale.model.autoencoder import GRALE
from grale.training.evaluation import evaluate

STEPS = (0, 4, 8, 16, 32, 64, 128)
FEW = 60  # graphs for the controls, none of which stops early


def random_graph(like: Graph, num_labels: int, rng: np.random.Generator) -> Graph:
    """Return as many nodes and edges as the other has, anywhere."""
    pairs = np.argwhere(np.triu(np.ones((like.num_nodes, like.num_nodes)), k=1))
    edges = pairs[rng.choice(len(pairs), like.num_edges, replace=False)]
    labels = rng.integers(0, num_labels, like.num_nodes)
    return Graph(labels, edges, rng.permutation(like.edge_labels))


def main() -> None:
    """Print everything."""
    parser = argparse.ArgumentParser()
    parser.add_argument("model", nargs="?", default="coloring")
    parser.add_argument("data", nargs="?", default="coloring20")
    parser.add_argument("--count", type=int, default=150)
    options = parser.parse_args()
    model = grale.load(options.model)
    graphs = list(stream_held_out(options.data, options.count, "valid"))
    for steps in STEPS:
        report = evaluate(model, graphs, CodecOptions(refine_steps=steps))
        print(f"{steps:3} steps: {report.accuracy:.1%} exact, {report.edit_distance:.3f} edits")
    torch.manual_seed(0)
    untrained = GRALE(model.space, model.config).eval()
    rng = np.random.default_rng(0)
    labels = model.space.num_node_labels
    strange = [random_graph(graph, labels, rng) for graph in graphs[:FEW]]
    for name, other, some in (
        ("untrained weights", untrained, graphs[:FEW]),
        ("random graphs", model, strange),
    ):
        shares = [
            evaluate(other, some, CodecOptions(refine_steps=steps)).accuracy for steps in (0, 128)
        ]
        print(f"{name}: {shares[0]:.1%} exact, with 128 steps {shares[1]:.1%}")
    guess, refined = (model.encode(graphs, refine=steps) for steps in (0, 128))
    lengths = np.linalg.norm(guess, axis=1)
    distance = np.linalg.norm(refined[:, None] - guess[None], axis=-1) / lengths[:, None]
    moved = np.diag(distance) > 1e-3
    own = np.diag(distance)[moved]  # a copy
    np.fill_diagonal(distance, np.inf)
    nearest = distance.min(axis=1)[moved]
    print(f"{moved.sum()} vectors moved, by {own.mean():.1%} of their length on average")
    print(f"nearest embedding of another graph: {nearest.mean():.1%} of the length away")
    print(f"nearest to their own graph's embedding: {(own < nearest).mean():.1%}")


if __name__ == "__main__":
    main()
