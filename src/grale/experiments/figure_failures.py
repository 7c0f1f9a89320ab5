"""Worst reconstructions and their symmetries (paper: appendix, figure of failure cases).

Departures: numbers on nodes are exact orbit sizes, not classes of the Weisfeiler-Leman test.
"""

from __future__ import annotations

from collections.abc import Sequence

from grale.data.samples import sample_graphs
from grale.experiments.picture import Picture, PictureConfig, Progress
from grale.graphs.graph import Graph
from grale.metrics.symmetry import orbit_sizes
from grale.model.autoencoder import GRALE
from grale.plot.figures import reconstruction_figure
from grale.plot.look import look_of
from grale.tasks.failures import Failure, worst_reconstructions

SHOWN = 6


def make(model: GRALE, config: PictureConfig, progress: Progress = None) -> list[Picture]:
    """Draw the graphs that come back worst."""
    graphs = sample_graphs(model.space, config.count, config.data, "test")
    failures = worst_reconstructions(model, graphs, SHOWN, progress=progress)
    if not failures:
        raise ValueError(f"all {len(graphs)} graphs came back exactly; give a larger count")
    figure = reconstruction_figure(
        [failure.graph for failure in failures],
        [failure.reconstruction for failure in failures],
        [failure.mapping for failure in failures],
        [f"{failure.distance} edits" for failure in failures],
        [False] * len(failures),
        look_of(model.space).palette,
        orbit_texts,
    )
    caption = (
        f"The {len(failures)} worst reconstructions of {len(graphs):,} graphs, inputs above. "
        "Numbers on nodes say how many nodes take each other's place under the symmetries of the "
        "graph."
    )
    details = "\n".join(_sentence(failure) for failure in failures)
    return [Picture("failures", "The worst reconstructions", figure, caption, details)]


def orbit_texts(graph: Graph) -> Sequence[str]:
    """Size of each node's orbit; nothing on nodes that no symmetry moves."""
    return [str(size) if size > 1 else "" for size in orbit_sizes(graph).tolist()]


def _sentence(failure: Failure) -> str:
    moved = int((failure.orbit_sizes > 1).sum())
    return (
        f"graph {failure.row}: {failure.distance} edits, {moved} of "
        f"{failure.graph.num_nodes} nodes have a symmetric twin"
    )
