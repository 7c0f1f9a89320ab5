"""`grale edit GRAPH --property P`: change a property by steps in the latent, or with the prior."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from grale.cli.interpolate import GRAPH_HELP, Model, Picture, Tries
from grale.cli.options import Column

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from grale.graphs.graph import Graph
    from grale.graphs.space import GraphSpace
    from grale.model.autoencoder import GRALE
    from grale.tasks.edit import EditPath
    from grale.tasks.latent_predictor import LearnedProperty
    from grale.tasks.properties import Property
    from grale.tasks.propose import ProposeConfig


def edit(
    graph: Annotated[str, typer.Argument(help=GRAPH_HELP)],
    wanted: Annotated[
        str,
        typer.Option(
            "--property",
            "-p",
            help="size, edges; 'number of NAME' for a label of your own graphs; of molecules logP, "
            "QED, any of RDKit's; or a column of --data, which comes first.",
        ),
    ] = "size",
    lower: Annotated[bool, typer.Option("--lower", help="Lower it instead of raising it.")] = False,
    model: Model = "molecules",
    method: Annotated[
        Literal["gradient", "prior"],
        typer.Option(help="Follow the gradient, or stay on the data; the latter needs a prior."),
    ] = "gradient",
    data: Annotated[
        str | None,
        typer.Option(
            help="Graphs to train the predictor on: a file of molecules or graphs, what `grale "
            "embed` has written, or a dataset folder; by default what suits the model."
        ),
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
    proposals: Annotated[int, typer.Option(min=1, help="Draws of the prior.")] = 20,
    amount: Annotated[
        float, typer.Option(help="Most noise of the prior, up to 1: similarity one gives up.")
    ] = 0.6,
    similarity: Annotated[
        float, typer.Option(help="Least similarity of the prior's proposals, from 0 to 1.")
    ] = 0.0,
    keep: Annotated[str | None, typer.Option(help="Atoms that the prior keeps, as SMARTS.")] = None,
    seed: Annotated[int, typer.Option(min=0, help="Of the prior's draws.")] = 0,
    frames: Annotated[int, typer.Option(min=2, help="Most graphs in the picture.")] = 8,
    column: Column = None,
    out: Picture = Path("edit.png"),
) -> None:
    """Raise or lower a property of a graph; print and draw the path of distinct graphs."""
    from grale.catalog import load
    from grale.cli.terminal import keep_freed_memory, say
    from grale.data.samples import named_graph
    from grale.plot.figures import picture_format, save_figure
    from grale.tasks.edit import edit as follow_gradient
    from grale.tasks.keep import template_of
    from grale.tasks.propose import ProposeConfig

    picture_format(out)
    keep_freed_memory()
    if method == "gradient" and (keep is not None or similarity > 0):
        raise ValueError("--keep and --similarity need --method prior")
    config = ProposeConfig(
        count=proposals, amount=amount, least_similarity=similarity, keep=keep, seed=seed
    )
    loaded = load(model)
    start = named_graph(graph, loaded.space, column)
    if method == "prior":
        assert loaded.prior  # says so if there is none
        if keep is not None:
            template_of(loaded, start, keep)  # says so if the molecule does not have it
    true, learned = _learn(loaded, wanted, data, count, column)
    direction = -1 if lower else 1
    if method == "prior":
        figure = _propose(loaded, start, true, learned, wanted, direction, config, frames)
    else:
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
        figure = _show_path(loaded, start, path, learned.r2, wanted, steps, direction, frames)
    say(f"picture: {save_figure(figure, out)}")


def _learn(
    model: GRALE, wanted: str, data: str | None, count: int, column: str | None
) -> tuple[Property, LearnedProperty]:
    """The property, and a predictor of it that has learned from data."""
    from grale.cli.terminal import working
    from grale.tasks.latent_predictor import learn_property

    graphs, true = _to_learn_from(model.space, wanted, data, count, column)
    with working(f"learning {wanted} on {len(graphs)} graphs"):
        learned = learn_property(model, graphs, true)
    return true, learned


def _show_path(
    model: GRALE,
    start: Graph,
    path: EditPath,
    r2: float,
    wanted: str,
    steps: int,
    direction: int,
    frames: int,
) -> Figure:
    """Print and draw the graphs that the gradient leads to."""
    from grale.cli.terminal import graph_text, say, show
    from grale.experiments.figures.size_edit import edit_figure
    from grale.metrics.isomorphism import is_isomorphic

    rows = [["step", "graph", "predicted", wanted]]
    for step in path.steps:
        rows.append([
            str(step.step), graph_text(step.graph, model.space), f"{step.predicted:.3g}",
            f"{step.true:.3g}",
        ])  # fmt: skip
    show(f"predictor of {wanted}: R2 {r2:.3f} on held-out graphs", rows)
    if not is_isomorphic(start, path.steps[0].graph):
        say("the first graph is not the given one: the model does not return it exactly")
    if len(path.steps) == 1:
        say(f"none of the {steps} steps led to another graph: give more --steps, or --plain")
    return edit_figure(model, path, wanted, frames, direction)


def _to_learn_from(
    space: GraphSpace, wanted: str, data: str | None, count: int, column: str | None
) -> tuple[list[Graph], Property]:
    """Graphs, and the property as a column of their file if it has one, otherwise computed."""
    from grale.cli.terminal import say
    from grale.data.samples import is_file_of_rows, sample_graphs
    from grale.tasks.measured import measured_property
    from grale.tasks.properties import named_property

    if data is not None and is_file_of_rows(data, "train"):
        measured = measured_property(Path(data), wanted, space, count, column)
        if measured is not None:
            say(f"{wanted}: the column of {data}")
            return list(measured.values), measured.of
        say(f"{wanted}: computed, as {data} has no column of that name")
    true = named_property(wanted)
    return sample_graphs(space, count, data, "train", column), true


def _propose(
    model: GRALE,
    start: Graph,
    true: Property,
    learned: LearnedProperty,
    wanted: str,
    direction: int,
    config: ProposeConfig,
    frames: int,
) -> Figure:
    """Print and draw what the prior proposes, the best first."""
    from grale.cli.terminal import graph_text, show, working
    from grale.experiments.figures.edits import proposals_figure
    from grale.tasks.propose import propose

    with working(f"drawing {config.count} proposals"):
        found = propose(model, start, true, learned.predictor, direction, config, wanted)
    rows = [["graph", wanted, "similarity", "noise"]]
    rows.append([graph_text(start, model.space), f"{true(start):.3g}", "1", "0"])
    for each in found.best:
        rows.append([
            graph_text(each.graph, model.space), f"{each.value:.3g}", f"{each.similarity:.2f}",
            f"{each.amount:.2f}",
        ])  # fmt: skip
    show(f"{found.valid} of {found.drawn} proposals valid, {len(found.best)} distinct", rows)
    return proposals_figure(model, start, true(start), found, wanted, frames)
