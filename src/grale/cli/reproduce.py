"""`grale reproduce NAME`: one figure or table of the paper, from data to files."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer


class Scale(StrEnum):
    """How much to compute."""

    smoke = "smoke"
    cpu = "cpu"
    paper = "paper"


def reproduce(
    name: Annotated[
        str,
        typer.Argument(
            help="figure-interpolation, figure-size-edit, figure-denoising, figure-failures, "
            "figure-map or table-matching."
        ),
    ],
    model: Annotated[
        str, typer.Option(help="A shipped model, a directory, or a hub id.")
    ] = "coloring-10",
    data: Annotated[
        str | None,
        typer.Option(help="coloring10, coloring15, coloring20, library, or a dataset folder."),
    ] = None,
    scale: Annotated[Scale, typer.Option(help="Seconds, minutes, or as in the paper.")] = Scale.cpu,
    count: Annotated[
        int | None, typer.Option(min=1, help="Graphs, instead of the scale's number.")
    ] = None,
    also: Annotated[
        list[str] | None,
        typer.Option("--also", help="Another model to compare with; may be repeated."),
    ] = None,
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder for the files.")] = Path(
        "results"
    ),
) -> None:
    """Make one figure (PNG, SVG, caption) or table (Markdown, JSON) of the paper."""
    from grale.catalog import load
    from grale.cli.terminal import console, counting, keep_freed_memory
    from grale.experiments.picture import PictureConfig
    from grale.experiments.reproduce import find_experiment

    keep_freed_memory()
    experiment = find_experiment(name)
    number = count or experiment.counts[scale.value]
    config = PictureConfig(data=data, count=number, also=tuple(also or ()))
    with counting(name, experiment.passes * number) as advance:
        results = experiment.make(load(model), config, advance)
    for result in results:
        first, *_ = result.write(out)
        console.print(f"{first}: {result.caption}", highlight=False)
