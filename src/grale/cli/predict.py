"""`grale predict MODEL IN -o OUT.parquet`: graphs from images or fingerprints."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from grale.cli.options import Column, Device


def predict(
    model: Annotated[str, typer.Argument(help="A predictor: a directory or a hub id.")],
    source: Annotated[
        Path,
        typer.Argument(
            metavar="IN",
            help="png, npy, a folder of them, a file of SMILES, or a split of a dataset of pairs.",
        ),
    ],
    out: Annotated[Path, typer.Option("--out", "-o", help="OUT.parquet or OUT.csv.")],
    candidates: Annotated[
        int, typer.Option("--candidates", "-k", min=1, help="Graphs to list for each input.")
    ] = 1,
    tries: Annotated[
        int, typer.Option(min=1, help="Likeliest graphs to look at for each of them.")
    ] = 20,
    batch_size: Annotated[int, typer.Option(min=1, help="Inputs at once.")] = 256,
    column: Column = None,
    device: Device = "cpu",
) -> None:
    """Predict a graph for every input, in order; rows that fail say why.

    If the graphs are known (a split of a dataset, or SMILES), predictions are scored: sizes and
    labels of edges count.
    """
    from grale.catalog import load_predictor
    from grale.cli.terminal import counting, keep_freed_memory, show
    from grale.tasks.predict import PredictConfig, predict_file

    keep_freed_memory()
    config = PredictConfig(candidates=candidates, tries=tries, batch_size=batch_size, column=column)
    with counting("predicting", None) as advance:
        report = predict_file(load_predictor(model, device), source, out, config, advance, model)
    rows = [["rows", str(report.rows)], ["failed", str(report.failed)]]
    if report.valid:
        rows.append(["valid molecules", str(report.valid)])
    if report.known:
        rows.append(["exact", f"{report.exact / report.known:.2%} of {report.known}"])
        rows.append(["edit distance, at most", f"{report.edits / report.known:.2f}"])
    rows.append(["graphs per second", f"{report.graphs_per_second:.0f}"])
    show(f"{source} -> {out}", [["", model], *rows])
