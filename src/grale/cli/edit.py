"""`grale edit GRAPH --property P`: change a property by steps in the latent."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from grale.cli.interpolate import GRAPH_HELP, Model, Picture, Tries


def edit(
    graph: Annotated[str, typer.Argument(help=GRAPH_HELP)],
    wanted: Annotated[
        str,
        typer.Option(
            "--property",
            "-p",
            help="size, edges; 'number of NAME' for a label of your own graphs; of molecules "
            "logP, QED, TPSA, any of RDKit's.",
        ),
    ] = "size",
    lower: Annotated[bool, typer.Option("--lower", help="Lower it instead of raising it.")] = False,
    model: Model = "molecules-attention",
    data: Annotated[
        str | None,
        typer.Option(help="Graphs to train the predictor on; by default what suits the model."),
    ] = None,
    count: Annotated[int, typer.Option(min=30, help="How many of them.")] = 4_000,
    epsilon: Annotated[
        float, typer.Option(min=1e-6, help="Length of a step, relative to the embedding's.")
    ] = 0.01,
    steps: Annotated[int, typer.Option(min=1, help="Gradient steps.")] = 100,
    plain: Annotated[
        bool,
        typer.Option("--plain", help="Follow the plain gradient, without the covariance."),
    ] = False,
    tries: Tries = 20,
    frames: Annotated[int, typer.Option(min=2, help="Most graphs in the picture.")] = 8,
    out: Picture = Path("edit.png"),
) -> None:
    """Raise or lower a property of a graph; print and draw the path of distinct graphs."""
    from grale.catalog import load
    from grale.cli.terminal import graph_text, keep_freed_memory, say, show, working
    from grale.data.samples import named_graph, sample_graphs
    from grale.experiments.figures.size_edit import edit_figure
    from grale.plot.figures import picture_format, save_figure
    from grale.tasks.edit import edit as follow_gradient
    from grale.tasks.latent_predictor import learn_property
    from grale.tasks.properties import named_property

    picture_format(out)
    keep_freed_memory()
    loaded, true = load(model), named_property(wanted)
    start = named_graph(graph, loaded.space)
    graphs = sample_graphs(loaded.space, count, data, "train")
    with working(f"learning {wanted} on {len(graphs)} graphs"):
        learned = learn_property(loaded, graphs, true)
    direction = -1 if lower else 1
    path = follow_gradient(
        loaded,
        start,
        learned.predictor,
        direction,
        metric=None if plain else learned.covariance,
        epsilon=epsilon,
        num_steps=steps,
        true_property=true,
        tries=tries,
    )
    rows = [["step", "graph", "predicted", wanted]]
    for step in path.steps:
        rows.append([
            str(step.step), graph_text(step.graph, loaded.space), f"{step.predicted:.3g}",
            f"{step.true:.3g}",
        ])  # fmt: skip
    show(f"predictor of {wanted}: R2 {learned.r2:.3f} on held-out graphs", rows)
    figure = edit_figure(loaded, path, wanted, frames, direction)
    say(f"picture: {save_figure(figure, out)}")
