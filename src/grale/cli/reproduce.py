"""`grale reproduce NAME`: one figure or table of the paper, from data to files."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from grale.experiments.reproduce import (
    check_options,
    find_experiment,
    listing,
    write_results,
)
from grale.files import locked

if TYPE_CHECKING:
    from grale.training.loop import Trainer


class Scale(StrEnum):
    """How much to compute."""

    smoke = "smoke"
    cpu = "cpu"
    paper = "paper"


def reproduce(
    name: Annotated[str, typer.Argument(help=listing())],
    model: Annotated[
        str | None,
        typer.Option(help="A shipped model, a directory, or a hub id; coloring-10 if not given."),
    ] = None,
    data: Annotated[
        str | None,
        typer.Option(
            help="coloring10, coloring15, coloring20, library, or a dataset folder. Experiments "
            "that train take a folder of molecules (by default data/pool16, if it is there), or "
            "coloring for COLORING alone."
        ),
    ] = None,
    scale: Annotated[Scale, typer.Option(help="Seconds, minutes, or as in the paper.")] = Scale.cpu,
    count: Annotated[
        int | None, typer.Option(min=1, help="Graphs, instead of the scale's number.")
    ] = None,
    also: Annotated[
        list[str] | None,
        typer.Option(
            "--also",
            help="Another model, or contender of `grale probe`, to compare with; may be repeated.",
        ),
    ] = None,
    max_minutes: Annotated[
        float | None, typer.Option(min=0.01, help="Training time of each model.")
    ] = None,
    seeds: Annotated[
        int | None,
        typer.Option(min=1, help="Models to train of each kind; 1, or 5 at the paper's scale."),
    ] = None,
    labelled: Annotated[
        Path | None,
        typer.Option(help="Folder with qm9.csv and the like, to predict from embeddings."),
    ] = None,
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder for the files.")] = Path(
        "results"
    ),
) -> None:
    """Make one figure (PNG, SVG, caption) or table (Markdown, JSON) of the paper.

    Experiments that train keep their models in OUT/runs: interrupted runs continue, and finished
    ones are not repeated.
    """
    from grale.cli.terminal import counting, keep_freed_memory, say
    from grale.data.molecules.prepared import find_molecules
    from grale.experiments.request import Request

    keep_freed_memory()
    experiment = find_experiment(name)
    given = {
        "model": model,
        "data": data,
        "also": also,
        "max_minutes": max_minutes,
        "seeds": seeds,
        "labelled": labelled,
    }
    check_options(experiment, [option for option, value in given.items() if value])
    with locked(out / name):
        if experiment.trains_on_molecules:
            data = find_molecules(data, out)
            say(f"molecules: {data or 'none, only COLORING; see --data'}")
        request = Request(
            scale=scale.value,
            folder=out,
            data=data,
            labelled=labelled,
            minutes=max_minutes,
            seeds=seeds,
            count=count,
            model=model or Request.model,
            also=tuple(also or ()),
            watch=_watched,
            on_model=say,
        )
        results = experiment.run(request, counting)
        for first, result in zip(write_results(name, results, out), results):
            say(f"{first}: {result.caption}")


def _watched(trainer: Trainer, folder: Path) -> Any:
    """Train under a progress bar."""
    from grale.cli.watch import watch
    from grale.training.logs import open_logs

    return watch(trainer, open_logs(folder, first_step=trainer.step))
