"""A map of a dataset's embeddings (paper: figure of the latent space)."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from grale.data.samples import sample_graphs
from grale.experiments.picture import Picture, PictureConfig, Progress
from grale.graphs.graph import Graph
from grale.graphs.molecules.molecule import MoleculeError, is_molecular
from grale.model.autoencoder import GRALE
from grale.plot.look import look_of
from grale.plot.map_page import write_map_page
from grale.plot.maps import map_figure
from grale.tasks.project import Method, Projection, project
from grale.tasks.properties import named_property


class DatasetMap(NamedTuple):
    """Graphs with their positions and the numbers they are coloured by."""

    graphs: Sequence[Graph]
    projection: Projection
    values: NDArray[np.float64]
    value_name: str


def make(model: GRALE, config: PictureConfig, progress: Progress = None) -> list[Picture]:
    """Draw the map, coloured by size."""
    graphs = sample_graphs(model.space, config.count, config.data, "test")
    found = dataset_map(model, graphs, "size", progress=progress)
    return [map_picture(found)]


def dataset_map(
    model: GRALE,
    graphs: Sequence[Graph],
    value_name: str,
    method: Method = "pca",
    progress: Progress = None,
) -> DatasetMap:
    """Describe the graphs, place them in the plane and compute their colours."""
    vectors = model.describe(graphs)
    if progress is not None:
        progress(len(graphs))
    value = named_property(value_name)
    values = np.array([value(graph) for graph in graphs])
    return DatasetMap(graphs, project(vectors, method), values, value_name)


def map_picture(found: DatasetMap) -> Picture:
    """The map as a figure."""
    figure = map_figure(
        found.projection.points, found.values, found.value_name, found.projection.axes
    )
    caption = (
        f"Descriptions of {len(found.graphs):,} graphs in two dimensions, "
        f"{' and '.join(found.projection.axes)}, coloured by {found.value_name}."
    )
    return Picture("map", "A map of the embeddings", figure, caption)


def write_map(model: GRALE, found: DatasetMap, path: Path, title: str) -> Path:
    """Write the map as a page on which pointing at a dot draws its graph."""
    look = look_of(model.space)
    names = [_smiles(graph) for graph in found.graphs] if is_molecular(model.space) else None
    return write_map_page(
        path,
        title,
        found.projection.points,
        found.values,
        found.value_name,
        found.graphs,
        names=names,
        palette=look.palette,
        node_texts=look.node_texts,
        place=look.place,
    )


def _smiles(graph: Graph) -> str:
    try:
        return graph.to_smiles()
    except MoleculeError:
        return "not a valid molecule"
