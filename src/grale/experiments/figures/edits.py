"""A graph and what a prior proposes instead of it, the best first."""

from __future__ import annotations

from matplotlib.figure import Figure

from grale.graphs.graph import Graph
from grale.model.autoencoder import GRALE
from grale.plot.gallery import GalleryRow, gallery_figure
from grale.plot.look import look_of
from grale.tasks.interpolate import follow
from grale.tasks.propose import Proposals


def proposals_figure(
    model: GRALE, start: Graph, value: float, found: Proposals, name: str, most: int
) -> Figure:
    """One row: the graph, then at most `most` - 1 proposals."""
    return gallery_figure(
        [proposals_row(model, "", start, value, found, name, most)], look_of(model.space)
    )


def proposals_row(
    model: GRALE,
    title: str,
    start: Graph,
    value: float,
    found: Proposals,
    name: str,
    most: int,
) -> GalleryRow:
    """The graph and its proposals as a row of a gallery; each is compared with the graph."""
    shown = found.best[: most - 1]
    captions = [f"{name} {value:.3g}"]
    captions += [f"{name} {each.value:.3g}\nsimilarity {each.similarity:.2f}" for each in shown]
    graphs = [each.graph for each in shown]
    mappings = [follow(model, [start, graph])[0] for graph in graphs]
    return GalleryRow(title, [start, *graphs], captions, mappings, from_first=True)
