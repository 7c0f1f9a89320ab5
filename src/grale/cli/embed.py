"""`grale embed IN -o OUT.parquet`: a file of molecules to a file of embeddings."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from grale.cli.options import Refine


def embed(
    file: Annotated[
        Path, typer.Argument(help="csv, tsv, smi, sdf or parquet, also .gz; or a folder of them.")
    ],
    out: Annotated[
        Path, typer.Option("--out", "-o", help="OUT.parquet, or a folder to keep the shards.")
    ],
    model: Annotated[str, typer.Option(help="A shipped model, a directory, or a hub id.")] = (
        "molecules"
    ),
    column: Annotated[str | None, typer.Option(help="Column of the SMILES.")] = None,
    on_error: Annotated[
        Literal["null", "skip", "raise"], typer.Option(help="What to do with rows that fail.")
    ] = "null",
    batch_size: Annotated[int, typer.Option(min=1, help="Molecules at once.")] = 256,
    refine: Refine = 0,
    what: Annotated[
        Literal["latent", "description", "both"],
        typer.Option(help="Vectors that decode, vectors to compare molecules by, or both."),
    ] = "latent",
    shard_rows: Annotated[int, typer.Option(min=1, help="Rows that a kill may lose.")] = 20_000,
    engine: Annotated[Literal["local", "ray"], typer.Option(help="Where to run.")] = "local",
    address: Annotated[str | None, typer.Option(help="Ray cluster; none for this machine.")] = None,
    workers: Annotated[
        int | None, typer.Option(min=1, help="Ray workers; one per core if not given.")
    ] = None,
) -> None:
    """Embed every row, in order, with a status; a killed run continues when started again."""
    from grale.catalog import load_any
    from grale.cli.terminal import counting, keep_freed_memory, show
    from grale.data.molecules.folder import open_file_or_folder
    from grale.tasks.embed import EmbedConfig, ShardReport, embed_file

    if engine == "local" and (address is not None or workers is not None):
        raise ValueError("--address and --workers need --engine ray")
    keep_freed_memory()
    config = EmbedConfig(
        on_error=on_error,
        shard_rows=shard_rows,
        batch_size=batch_size,
        refine=refine,
        what=what,
    )
    opened = open_file_or_folder(file, column)
    reports: list[ShardReport] = []
    with counting("embedding", opened.count()) as advance:

        def progress(report: ShardReport) -> None:
            reports.append(report)
            advance(report.rows)

        if engine == "ray":
            from grale.tasks.embed_ray import embed_with_ray

            before = embed_with_ray(model, opened, out, config, address, workers, progress)
        else:
            before = embed_file(load_any(model), model, opened, out, config, progress)
    rows = sum(report.rows for report in reports)
    failed = sum(report.failed for report in reports)
    parse = sum(report.parse_seconds for report in reports)
    encode = sum(report.encode_seconds for report in reports)
    fresh = rows - before
    embedded = fresh - sum(report.failed for report in reports if report.parse_seconds)
    where = "left out" if on_error == "skip" else "see the column reason"
    cells = [
        ["rows", str(rows)],
        ["done in an earlier run", str(before)],
        [f"failed ({where})", str(failed)],
        ["to graphs (RDKit included), molecules/s", f"{fresh / parse:.0f}" if parse else "-"],
        ["embedding alone, molecules/s", f"{embedded / encode:.0f}" if encode else "-"],
        ["together, molecules/s", f"{fresh / (parse + encode):.0f}" if parse else "-"],
    ]
    show(f"{file} -> {out}", [["", model], *cells])
