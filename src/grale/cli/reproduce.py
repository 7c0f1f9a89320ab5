"""`grale reproduce NAME`: one figure of the paper, from data to picture."""

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
            help="figure-interpolation, figure-size-edit, figure-denoising, figure-failures or "
            "figure-map."
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
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder for the files.")] = Path(
        "results"
    ),
) -> None:
    """Make one figure of the paper as PNG and SVG, with its caption as text."""
    from grale.cli.terminal import console, counting, keep_freed_memory
    from grale.experiments.picture import PictureConfig, write_picture
    from grale.experiments.reproduce import find_experiment
    from grale.model.catalog import load

    keep_freed_memory()
    experiment = find_experiment(name)
    number = count or experiment.counts[scale.value]
    config = PictureConfig(data=data, count=number)
    with counting(name, experiment.passes * number) as advance:
        pictures = experiment.make(load(model), config, advance)
    for picture in pictures:
        png, *_ = write_picture(picture, out)
        console.print(f"{png}: {picture.caption}", highlight=False)
