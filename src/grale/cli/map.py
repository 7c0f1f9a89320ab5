"""`grale map`: a dataset's embeddings in the plane."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from grale.cli.interpolate import Model


class Method(StrEnum):
    """How embeddings are placed in the plane."""

    pca = "pca"
    umap = "umap"


def draw_map(
    data: Annotated[
        str | None,
        typer.Argument(help="coloring10, coloring15, coloring20, library, or a dataset folder."),
    ] = None,
    model: Model = "molecules",
    colour: Annotated[
        list[str] | None,
        typer.Option(
            help="Property that colours the points; repeat it for more on the page. By default "
            "size, for molecules also logP."
        ),
    ] = None,
    method: Annotated[Method, typer.Option(help="pca, or umap (an extra).")] = Method.pca,
    count: Annotated[int, typer.Option(min=3, help="Graphs.")] = 1_500,
    split: Annotated[str, typer.Option(help="Split of a dataset folder.")] = "test",
    out: Annotated[
        Path, typer.Option("--out", "-o", help="Picture to write; the page goes next to it.")
    ] = Path("map.png"),
) -> None:
    """Draw one point per graph, as a picture and as a page to zoom, search and select in."""
    from grale.catalog import load
    from grale.cli.terminal import counting, keep_freed_memory, say
    from grale.data.samples import sample_graphs, usual_data
    from grale.experiments.figures.map import dataset_map, map_picture, write_map
    from grale.graphs.molecules.molecule import is_molecular
    from grale.plot.figures import picture_format, save_figure

    picture_format(out)
    keep_freed_memory()
    loaded = load(model)
    graphs = sample_graphs(loaded.space, count, data, split)
    colours = colour or (["size", "logP"] if is_molecular(loaded.space) else ["size"])
    with counting("encoding", len(graphs)) as advance:
        found = dataset_map(loaded, graphs, colours, method.value, advance)
    picture = map_picture(found)
    say(f"picture: {save_figure(picture.figure, out)}")
    title = f"{data or usual_data(loaded.space)} as {model} sees it"
    with counting("drawing", len(graphs)) as advance:
        page = write_map(loaded, found, out.with_suffix(".html"), title, advance)
    say(f"page: {page}")
