"""`grale reproduce NAME`: one figure or table of the paper, from data to files."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from grale.model.graph_autoencoder import GraphAutoencoder
    from grale.training.loop import Trainer


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
            "figure-map or table-matching; those that train models: table-reconstruction, "
            "table-ablation, table-tuning, table-complexity, table-ged, figure-embedding-size, "
            "figure-training-size, figure-total-dimension."
        ),
    ],
    model: Annotated[
        str, typer.Option(help="A shipped model, a directory, or a hub id.")
    ] = "coloring-10",
    data: Annotated[
        str | None,
        typer.Option(
            help="coloring10, coloring15, coloring20, library, or a dataset folder. If models are "
            "to be trained: a folder of molecules (data/pool16 if it is there), or coloring for "
            "COLORING alone."
        ),
    ] = None,
    scale: Annotated[Scale, typer.Option(help="Seconds, minutes, or as in the paper.")] = Scale.cpu,
    count: Annotated[
        int | None, typer.Option(min=1, help="Graphs, instead of the scale's number.")
    ] = None,
    also: Annotated[
        list[str] | None,
        typer.Option("--also", help="Another model to compare with; may be repeated."),
    ] = None,
    max_minutes: Annotated[
        float | None, typer.Option(min=0.01, help="To train each model, where models are trained.")
    ] = None,
    seeds: Annotated[
        int | None,
        typer.Option(min=1, help="Models to train of each kind: one, five at the paper's scale."),
    ] = None,
    labelled: Annotated[
        Path | None, typer.Option(help="Folder with qm9.csv, to predict from embeddings.")
    ] = None,
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder for the files.")] = Path(
        "results"
    ),
) -> None:
    """Make one figure (PNG, SVG, caption) or table (Markdown, JSON) of the paper.

    Experiments that train keep their models in OUT/runs: what was cut goes on, what is done stays.
    """
    from grale.catalog import load
    from grale.cli.terminal import console, counting, keep_freed_memory
    from grale.experiments.molecules import find_molecules
    from grale.experiments.picture import PictureConfig
    from grale.experiments.reproduce import TRAININGS, find_experiment, write_results
    from grale.experiments.request import Request

    keep_freed_memory()
    if also and name != "table-matching":
        raise ValueError("--also is for table-matching; other experiments take one --model")
    if name in TRAININGS:
        if name not in ("table-ged", "table-tuning"):
            data = find_molecules(data, out)
            console.print(f"molecules: {data or 'none, COLORING alone; see --data'}")
        request = Request(
            scale=scale.value,
            folder=out,
            data=data,
            labelled=labelled,
            minutes=max_minutes,
            seeds=seeds,
            count=count,
            watch=_watched,
            on_model=lambda model_name: console.print(model_name, highlight=False),
        )
        results = TRAININGS[name](request)
    else:
        experiment = find_experiment(name)
        number = count or experiment.counts[scale.value]
        config = PictureConfig(data=data, count=number, also=tuple(also or ()))
        with counting(name, experiment.passes * number) as advance:
            results = experiment.make(load(model), config, advance)
    for first, result in zip(write_results(name, results, out), results):
        console.print(f"{first}: {result.caption}", highlight=False)


def _watched(trainer: Trainer, folder: Path) -> GraphAutoencoder:
    """Train under a progress bar."""
    from grale.cli.watch import watch
    from grale.training.logs import open_logs

    return watch(trainer, open_logs(folder))
