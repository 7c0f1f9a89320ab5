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
        list[str] | None,
        typer.Option(
            help="Property, or column of the file, that colours the points; repeat it for more on "
            "the page. By default size, for molecules also logP."
        ),
    ] = None,
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
    """Draw one point per graph, as a picture and as a page to zoom, search and select in."""
    from grale.catalog import load
    from grale.cli.terminal import counting, keep_freed_memory, say
    from grale.data.samples import is_file_of_rows, sample_graphs, usual_data
    from grale.experiments.figures.map import dataset_map, map_picture, write_map
    from grale.graphs.molecules.molecule import is_molecular
    from grale.plot.figures import picture_format, save_figure

    picture_format(out)
    keep_freed_memory()
    loaded = load(model)
    colours = colour or (["size", "logP"] if is_molecular(loaded.space) else ["size"])
    if data is not None and is_file_of_rows(data, split):
        found = _map_of_file(loaded, Path(data), colours, method.value, count, column)
    else:
        graphs = sample_graphs(loaded.space, count or USUAL_COUNT, data, split)
        with counting("encoding", len(graphs)) as advance:
            found = dataset_map(loaded, graphs, colours, method.value, advance)
    picture = map_picture(found)
    say(f"picture: {save_figure(picture.figure, out)}")
    title = f"A map of {data or usual_data(loaded.space)}"
    with counting("drawing", len(found.graphs)) as advance:
        page = write_map(loaded, found, out.with_suffix(".html"), title, advance, model)
    say(f"page: {page}")


def _map_of_file(
    model: GRALE,
    path: Path,
    colours: list[str],
    method: Any,
    count: int | None,
    column: str | None,
) -> DatasetMap:
    """Place all rows that the model can take, coloured by properties or by columns."""
    from grale.cli.terminal import counting, say
    from grale.experiments.figures.map import DatasetMap
    from grale.plot.colouring import Colouring
    from grale.tasks.described_rows import count_entries
    from grale.tasks.map_rows import coloured_rows
    from grale.tasks.project import project

    total = count_entries(path, model.space, column) if count is None else None
    with counting("encoding", total) as advance:
        rows, values, ids = coloured_rows(model, path, colours, count, column, advance)
    left_out = rows.num_read - len(rows.graphs)
    if count is None and left_out:
        say(f"{left_out} of {rows.num_read} rows are left out: the model cannot take them")
    colourings = [Colouring(name, values[name]) for name in colours]
    return DatasetMap(rows.graphs, project(rows.vectors, method), colourings, ids)
