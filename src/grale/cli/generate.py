"""`grale generate -n 10000 -o new.smi`: new graphs from the prior of a model."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from grale.cli.interpolate import Model


def generate(
    count: Annotated[int, typer.Option("--count", "-n", help="Graphs to draw.")],
    out: Annotated[
        Path,
        typer.Option(
            "--out", "-o", help="File to write: .smi, .csv, .parquet or .jsonl (any graphs)."
        ),
    ],
    model: Model = "molecules",
    where: Annotated[
        list[str] | None,
        typer.Option(help='What is wanted, such as "logP<3" or "QED=0.9"; may be repeated.'),
    ] = None,
    size: Annotated[int | None, typer.Option(help="Number of nodes (heavy atoms).")] = None,
    distinct: Annotated[
        bool,
        typer.Option(
            "--distinct", help="Only valid graphs that meet the conditions, without repeats."
        ),
    ] = False,
    keep: Annotated[
        str | None, typer.Option(help="Atoms to keep, as SMARTS; needs --like.")
    ] = None,
    like: Annotated[
        str | None, typer.Option(help="SMILES of a molecule that has the atoms to keep.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Equal seeds give equal graphs.")] = 0,
    steps: Annotated[int, typer.Option(help="Steps from noise to a latent.")] = 100,
    sampler: Annotated[
        Literal["renoise", "churn", "heun"],
        typer.Option(help="Predict the end and noise it anew at each step, or follow the flow."),
    ] = "renoise",
    guidance: Annotated[
        float, typer.Option(help="Above 1, conditions are met more often, with less variety.")
    ] = 1.0,
    tries: Annotated[
        int, typer.Option(help="Likeliest graphs to look at for a valid molecule; 1: no repair.")
    ] = 1,
) -> None:
    """Draw new graphs; molecules come as SMILES with charges and hydrogens restored.

    Rows are in the order of the draws, and equal for equal seeds. Graphs that are not valid have a
    row that says why; a .smi file leaves them out.
    """
    from grale.cli.terminal import counting, keep_freed_memory, show
    from grale.codec.sample import SIZE, SampleOptions
    from grale.prior.conditions import parse_wanted
    from grale.tasks.generate import GenerateConfig, generate_file

    wanted = parse_wanted([*(where or []), *([] if size is None else [f"{SIZE}={size}"])])
    config = GenerateConfig(
        count=count,
        wanted=wanted,
        options=SampleOptions(seed=seed, steps=steps, sampler=sampler, guidance=guidance),
        distinct=distinct,
        tries=tries,
        keep=keep,
        like=like,
    )
    from grale.catalog import load

    keep_freed_memory()
    with counting("drawing", count) as advance:
        report = generate_file(load(model), model, out, config, advance)
    done = max(report.rows, 1)
    rows = [
        ["drawn", str(report.drawn)],
        ["rows", str(report.rows)],
        ["valid and in one piece", f"{report.valid / done:.2%}"],
    ]
    if wanted or keep:
        rows.append(["valid and as asked for", f"{report.met / done:.2%}"])
    show(f"{out}", [["", model], *rows])
