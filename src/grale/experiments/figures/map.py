"""A map of a dataset's embeddings (paper: figure of the latent space)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from grale.codec.identity import UNNAMED, provenance
from grale.data.samples import sample_graphs
from grale.experiments.picture import Picture, PictureConfig, Progress
from grale.graphs.graph import Graph
from grale.graphs.molecules.molecule import MoleculeError, is_molecular
from grale.model.autoencoder import GRALE
from grale.plot.colouring import Colouring
from grale.plot.look import look_of
from grale.plot.map_page import write_map_page
from grale.plot.maps import map_figure
from grale.plot.molecule_look import INVALID
from grale.tasks.project import Method, Projection, project
from grale.tasks.properties import named_property


class DatasetMap(NamedTuple):
    """Graphs with their positions and the columns they are coloured by."""

    graphs: Sequence[Graph]
    projection: Projection
    colourings: Sequence[Colouring]
    """At least one; the first colours the picture, and the page when it opens."""
    ids: Sequence[str] | None = None
    """What to find a graph by on the page; its number by default."""


def make(model: GRALE, config: PictureConfig, progress: Progress = None) -> list[Picture]:
    """Draw the map, coloured by size."""
    graphs = sample_graphs(model.space, config.count, config.data, "test")
    found = dataset_map(model, graphs, ["size"], progress=progress)
    return [map_picture(found)]


def dataset_map(
    model: GRALE,
    graphs: Sequence[Graph],
    properties: Sequence[str],
    method: Method = "pca",
    progress: Progress = None,
) -> DatasetMap:
    """Describe the graphs, place them in the plane and compute the properties that colour them."""
    functions = [(name, named_property(name)) for name in properties]
    vectors = model.describe(graphs)
    if progress is not None:
        progress(len(graphs))
    colourings = [
        Colouring(name, np.array([value(graph) for graph in graphs])) for name, value in functions
    ]
    return DatasetMap(graphs, project(vectors, method), colourings)


def map_picture(found: DatasetMap) -> Picture:
    """The map as a figure."""
    first = found.colourings[0]
    figure = map_figure(found.projection.points, first.values, first.name, found.projection.axes)
    caption = (
        f"Descriptions of {len(found.graphs):,} graphs in two dimensions, "
        f"{' and '.join(found.projection.axes)}, coloured by {first.name}."
    )
    return Picture("map", "A map of the embeddings", figure, caption)


def write_map(
    model: GRALE,
    found: DatasetMap,
    path: Path,
    title: str,
    progress: Progress = None,
    name: str = UNNAMED,
) -> Path:
    """Write the map as a page on which pointing at a dot draws its graph.

    `name` is what the model is called if it has no name of its own.
    """
    is_molecules = is_molecular(model.space)
    kind = "molecules" if is_molecules else "graphs"
    return write_map_page(
        path,
        title,
        found.projection.points,
        found.colourings,
        found.graphs,
        ids=found.ids,
        names=[_smiles(graph) for graph in found.graphs] if is_molecules else None,
        note=f"{len(found.graphs):,} {kind}; {' and '.join(found.projection.axes)}. Point at a dot "
        "or tap it; drag to move, turn the wheel to zoom, hold Shift and drag to select.",
        made_with=provenance(model, name, "description"),
        look=look_of(model.space),
        progress=progress,
    )


def _smiles(graph: Graph) -> str:
    try:
        return graph.to_smiles()
    except MoleculeError:
        return INVALID
