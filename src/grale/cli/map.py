"""`grale map`: a dataset's embeddings in the plane."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from grale.cli.interpolate import Model
from grale.cli.options import Column

if TYPE_CHECKING:
    from grale.experiments.figures.map import DatasetMap
    from grale.model.autoencoder import GRALE

USUAL_COUNT = 1_500  # graphs of data that is generated


class Method(StrEnum):
    """How embeddings are placed in the plane."""

    pca = "pca"
    umap = "umap"


def draw_map(
    data: Annotated[
        str | None,
        typer.Argument(
            help="A csv, smi, sdf or parquet of molecules, a file or folder of graphs, or what "
            "`grale embed` has written; or coloring10, coloring20, library, or a dataset folder."
        ),
    ] = None,
    model: Model = "molecules",
    colour: Annotated[
        str, typer.Option(help="Property, or column of the file, that colours the points.")
    ] = "size",
    method: Annotated[Method, typer.Option(help="pca, or umap (an extra).")] = Method.pca,
    count: Annotated[
        int | None,
        typer.Option(min=3, help=f"Graphs; by default all rows of a file, or {USUAL_COUNT}."),
    ] = None,
    split: Annotated[str, typer.Option(help="Split of a dataset folder.")] = "test",
    column: Column = None,
    out: Annotated[
        Path, typer.Option("--out", "-o", help="Picture to write; the page goes next to it.")
    ] = Path("map.png"),
) -> None:
    """Draw one point per graph, as a picture and as a page that draws graphs on hover."""
    from grale.catalog import load
    from grale.cli.terminal import counting, keep_freed_memory, say, working
    from grale.codec.identity import identity_of
    from grale.data.samples import is_file_of_rows, sample_graphs, usual_data
    from grale.experiments.figures.map import dataset_map, map_picture, write_map
    from grale.plot.figures import picture_format, save_figure

    picture_format(out)
    keep_freed_memory()
    loaded = load(model)
    if data is not None and is_file_of_rows(data, split):
        found = _map_of_file(loaded, Path(data), colour, method.value, count, column)
    else:
        graphs = sample_graphs(loaded.space, count or USUAL_COUNT, data, split)
        with counting("encoding", len(graphs)) as advance:
            found = dataset_map(loaded, graphs, colour, method.value, advance)
    picture = map_picture(found)
    say(f"picture: {save_figure(picture.figure, out)}")
    seen = f"{data or usual_data(loaded.space)} as {identity_of(loaded).called(model)} sees it"
    title = f"{seen}, coloured by {colour} (descriptions, grale {_package()})"
    with working("drawing the graphs of the page"):
        page = write_map(loaded, found, out.with_suffix(".html"), title)
    say(f"page: {page}")


def _map_of_file(
    model: GRALE, path: Path, colour: str, method: Any, count: int | None, column: str | None
) -> DatasetMap:
    """Place all rows that the model can take, coloured by a property or by a column."""
    import numpy as np

    from grale.cli.terminal import counting, say
    from grale.experiments.figures.map import DatasetMap
    from grale.tasks.map_rows import as_numbers, coloured_rows
    from grale.tasks.project import project

    with counting("encoding", None) as advance:
        rows, colours = coloured_rows(model, path, [colour], count, column, advance)
    left_out = rows.num_read - len(rows.graphs)
    if count is None and left_out:
        say(f"{left_out} of {rows.num_read} rows are left out: the model cannot take them")
    values = np.array(as_numbers(colours[colour]))
    return DatasetMap(rows.graphs, project(rows.vectors, method), values, colour)


def _package() -> str:
    from importlib import metadata

    return metadata.version("grale")
