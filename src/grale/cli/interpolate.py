"""`grale interpolate A B` and `grale barycenter`: graphs between graphs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from grale.cli.options import Column

GRAPH_HELP = (
    "A SMILES, a row of a file such as molecules.csv:3, a held-out graph such as coloring10:3, or "
    "a .json file."
)
USUAL_COUNT = 10_000  # graphs of data that is generated, for a barycentre
Model = Annotated[str, typer.Option(help="A shipped model, a directory, or a hub id.")]
Picture = Annotated[Path, typer.Option("--out", "-o", help="Picture to write, .png or .svg.")]
Tries = Annotated[
    int, typer.Option(min=1, help="Likeliest graphs to try until one is a valid molecule.")
]
PathKind = Annotated[
    Literal["line", "prior"],
    typer.Option("--path", help="line: the straight line; prior: led back to the data from it."),
]


def interpolate(
    first: Annotated[str, typer.Argument(help=GRAPH_HELP)],
    second: Annotated[str, typer.Argument(help=GRAPH_HELP)],
    model: Model = "molecules",
    steps: Annotated[int, typer.Option(min=2, help="Graphs on the way, both ends included.")] = 7,
    tries: Tries = 20,
    path: PathKind = "line",
    column: Column = None,
    out: Picture = Path("interpolation.png"),
) -> None:
    """Draw the graphs on the line between the vectors of two graphs."""
    from grale.catalog import load
    from grale.cli.terminal import graph_text, say
    from grale.data.samples import named_graph
    from grale.metrics.isomorphism import is_isomorphic
    from grale.plot.figures import interpolation_figure, picture_format, save_figure
    from grale.plot.look import look_of
    from grale.tasks.interpolate import interpolate as between

    picture_format(out)
    loaded = load(model)
    start, end = (named_graph(text, loaded.space, column) for text in (first, second))
    found = between(loaded, start, end, steps, tries, path=path)
    look = look_of(loaded.space)
    captions = [f"t = {t:.2f}" for t in found.positions]
    figure = interpolation_figure(found.graphs, found.mappings, captions, look)
    for caption, graph in zip(captions, found.graphs):
        say(f"{caption}  {graph_text(graph, loaded.space)}")
    for place, given, shown in (("first", start, found.graphs[0]), ("last", end, found.graphs[-1])):
        if not is_isomorphic(given, shown):
            say(f"the {place} graph is not the given one: the model does not return it exactly")
    say(f"picture: {save_figure(figure, out)}")


def barycenter(
    data: Annotated[
        str | None,
        typer.Argument(
            help="A file or folder of molecules or graphs, or what `grale embed` has written; or "
            "coloring10, coloring20, library, or a dataset folder."
        ),
    ] = None,
    model: Model = "molecules",
    count: Annotated[
        int | None,
        typer.Option(min=1, help="Graphs to average; by default all of a file, or 10000."),
    ] = None,
    split: Annotated[str, typer.Option(help="Split of a dataset folder.")] = "test",
    path: PathKind = "line",
    column: Column = None,
    out: Picture = Path("barycenter.png"),
) -> None:
    """Draw the graph whose vector is the mean over a whole dataset."""
    from grale.catalog import load
    from grale.cli.terminal import counting, graph_text, keep_freed_memory, say
    from grale.data.samples import is_file_of_rows, stream_graphs
    from grale.plot.figures import interpolation_figure, picture_format, save_figure
    from grale.plot.look import look_of
    from grale.tasks.interpolate import barycenter as mean_of

    picture_format(out)
    keep_freed_memory()
    loaded = load(model)
    is_file = data is not None and is_file_of_rows(data, split)
    count = count or (None if is_file else USUAL_COUNT)
    graphs = stream_graphs(loaded.space, count, data, split, column)
    with counting("encoding", count) as advance:
        mean = mean_of(loaded, graphs, progress=advance, path=path)
    look = look_of(loaded.space)
    figure = interpolation_figure(
        [mean.graph],
        captions=[f"barycentre of {mean.num_graphs:,}"],
        look=look,
    )
    say(graph_text(mean.graph, loaded.space))
    say(f"picture: {save_figure(figure, out)}")
