"""Worst reconstructions and their symmetries (paper: appendix, figure of failure cases).

Departures: numbers on nodes are exact orbit sizes, not classes of the Weisfeiler-Leman test.
"""

from __future__ import annotations

from grale.data.samples import sample_graphs
from grale.experiments.picture import Picture, PictureConfig, Progress
from grale.graphs.graph import Graph
from grale.graphs.molecules.molecule import is_molecular
from grale.metrics.symmetry import orbit_sizes
from grale.model.autoencoder import GRALE
from grale.plot.figures import reconstruction_figure
from grale.plot.graph_look import GraphLook
from grale.plot.molecule_look import MoleculeLook
from grale.plot.palette import palette_for
from grale.tasks.failures import Failure, TwinGroup, exact_by_twins, worst_reconstructions

SHOWN = 6


def make(model: GRALE, config: PictureConfig, progress: Progress = None) -> list[Picture]:
    """Draw the worst reconstructions."""
    graphs = sample_graphs(model.space, config.count, config.data, "test")
    everything = worst_reconstructions(model, graphs, None, progress=progress)
    if not everything:
        raise ValueError(f"all {len(graphs)} graphs are exact; give a larger count")
    failures = everything[:SHOWN]
    colours = palette_for(model.space.num_node_labels)
    is_molecules = is_molecular(model.space)
    look = MoleculeLook(orbit_texts) if is_molecules else GraphLook(colours, orbit_texts)
    figure = reconstruction_figure(
        [failure.graph for failure in failures],
        [failure.reconstruction for failure in failures],
        [failure.mapping for failure in failures],
        [f"{failure.edit_distance} edits" for failure in failures],
        [False] * len(failures),
        look,
    )
    caption = (
        f"The {len(failures)} worst reconstructions of {len(graphs):,} graphs, inputs above. "
        "What differs is marked. Numbers at nodes say how many nodes can take each other's place "
        "by a symmetry of the graph."
    )
    groups = [_share(group) for group in exact_by_twins(graphs, everything)]
    details = "\n".join([*(_sentence(failure) for failure in failures), "", *groups])
    return [Picture("failures", "The worst reconstructions", figure, caption, details)]


def orbit_texts(graph: Graph) -> list[str]:
    """Size of each node's orbit; nothing if no symmetry moves the node.

    >>> orbit_texts(Graph([0, 2, 0], [(0, 1), (1, 2)]))
    ['2', '', '2']
    """
    return [str(size) if size > 1 else "" for size in orbit_sizes(graph).tolist()]


def _sentence(failure: Failure) -> str:
    moved = int((failure.orbit_sizes > 1).sum())
    return (
        f"graph {failure.row}: {failure.edit_distance} edits, {moved} of "
        f"{failure.graph.num_nodes} nodes have a symmetric twin"
    )


def _share(group: TwinGroup) -> str:
    """Say how many graphs of the group are exact.

    >>> _share(TwinGroup(3, 4, 200, 120))
    '3 to 4 nodes with a twin: 60.0 % of 200 graphs exact'
    """
    nodes = f"{group.least} to {group.most}" if group.most > group.least else f"{group.least}"
    share = 100 * group.exact / group.num_graphs
    return f"{nodes} nodes with a twin: {share:.1f} % of {group.num_graphs:,} graphs exact"
