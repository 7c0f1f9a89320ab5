"""`grale interpolate A B` and `grale barycenter`: graphs between graphs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

GRAPH_HELP = (
    "A SMILES, a held-out graph such as coloring10:3, a .json file, or FILE:3 for graph 3 of a "
    "file of graphs or of a dataset."
)
Model = Annotated[str, typer.Option(help="A shipped model, a directory, or a hub id.")]
Picture = Annotated[Path, typer.Option("--out", "-o", help="Picture to write, .png or .svg.")]
Tries = Annotated[
    int, typer.Option(min=1, help="Likeliest graphs to try until one is a valid molecule.")
]


def interpolate(
    first: Annotated[str, typer.Argument(help=GRAPH_HELP)],
    second: Annotated[str, typer.Argument(help=GRAPH_HELP)],
    model: Model = "molecules",
    steps: Annotated[int, typer.Option(min=2, help="Graphs on the way, both ends included.")] = 7,
    tries: Tries = 20,
    out: Picture = Path("interpolation.png"),
) -> None:
    """Draw the graphs on the straight line between the vectors of two graphs."""
    from grale.catalog import load
    from grale.cli.terminal import graph_text, say
    from grale.data.samples import named_graph
    from grale.plot.figures import interpolation_figure, picture_format, save_figure
    from grale.plot.look import look_of
    from grale.tasks.interpolate import interpolate as between

    picture_format(out)
    loaded = load(model)
    start, end = (named_graph(text, loaded.space) for text in (first, second))
    path = between(loaded, start, end, steps, tries)
    look = look_of(loaded.space)
    captions = [f"t = {t:.2f}" for t in path.positions]
    figure = interpolation_figure(
        path.graphs, path.mappings, captions, look.palette, look.node_texts
    )
    for caption, graph in zip(captions, path.graphs):
        say(f"{caption}  {graph_text(graph, loaded.space)}")
    say(f"picture: {save_figure(figure, out)}")


def barycenter(
    data: Annotated[
        str | None,
        typer.Argument(help="coloring10, coloring15, coloring20, library, or a dataset folder."),
    ] = None,
    model: Model = "molecules",
    count: Annotated[int, typer.Option(min=1, help="Graphs to average.")] = 10_000,
    split: Annotated[str, typer.Option(help="Split of a dataset folder.")] = "test",
    out: Picture = Path("barycenter.png"),
) -> None:
    """Draw the graph whose vector is the mean over a whole dataset."""
    from grale.catalog import load
    from grale.cli.terminal import counting, graph_text, keep_freed_memory, say
    from grale.data.samples import stream_graphs
    from grale.plot.figures import interpolation_figure, picture_format, save_figure
    from grale.plot.look import look_of
    from grale.tasks.interpolate import barycenter as mean_of

    picture_format(out)
    keep_freed_memory()
    loaded = load(model)
    graphs = stream_graphs(loaded.space, count, data, split)
    with counting("encoding", count) as advance:
        mean = mean_of(loaded, graphs, progress=advance)
    look = look_of(loaded.space)
    figure = interpolation_figure(
        [mean.graph],
        captions=[f"barycentre of {mean.num_graphs:,}"],
        palette=look.palette,
        node_texts=look.node_texts,
    )
    say(graph_text(mean.graph, loaded.space))
    say(f"picture: {save_figure(figure, out)}")
