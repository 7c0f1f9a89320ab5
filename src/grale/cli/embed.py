"""`grale embed IN -o OUT.parquet`: a file of molecules or graphs to a file of embeddings."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from grale.cli.options import Column, Device, Refine

if TYPE_CHECKING:
    from grale.tasks.embed_parts import ShardReport

LOUD = 0.1  # share of failed rows above which the commonest reasons are printed
SHOWN_REASONS = 5
TOO_MANY_FAILED = 3  # exit code


def embed(
    file: Annotated[
        Path,
        typer.Argument(
            help="csv (commas or semicolons), tsv, smi, sdf or parquet, also .gz; json or jsonl of "
            "graphs; or a folder of them."
        ),
    ],
    out: Annotated[
        Path,
        typer.Option("--out", "-o", help="OUT.parquet, .csv or .npy, or a folder of shards."),
    ],
    model: Annotated[str, typer.Option(help="A shipped model, a directory, or a hub id.")] = (
        "molecules"
    ),
    column: Column = None,
    on_error: Annotated[
        Literal["null", "skip", "raise"], typer.Option(help="What to do with rows that fail.")
    ] = "null",
    fail_above: Annotated[
        float | None,
        typer.Option(min=0, max=1, help=f"Exit with {TOO_MANY_FAILED} if more rows than this share "
                                        "fail; the output is written all the same."),
    ] = None,
    desalt: Annotated[
        bool, typer.Option("--desalt", help="Embed the largest organic part of each molecule.")
    ] = False,
    batch_size: Annotated[int, typer.Option(min=1, help="Molecules at once.")] = 256,
    refine: Refine = 0,
    what: Annotated[
        Literal["latent", "description", "both"],
        typer.Option(help="Vectors that decode, vectors to compare molecules by, or both."),
    ] = "latent",
    device: Device = "auto",
    shard_rows: Annotated[int, typer.Option(min=1, help="Rows that a kill may lose.")] = 20_000,
    engine: Annotated[Literal["local", "ray"], typer.Option(help="Where to run.")] = "local",
    address: Annotated[str | None, typer.Option(help="Ray cluster; none for this machine.")] = None,
    workers: Annotated[
        int | None, typer.Option(min=1, help="Ray workers; one per core if not given.")
    ] = None,
) -> None:  # fmt: skip
    """Embed every row, in order, with a status; a killed run continues when started again."""
    from grale.catalog import load_any
    from grale.cli.terminal import keep_freed_memory, work_left, working
    from grale.data.row_files import open_rows
    from grale.tasks.embed import EmbedConfig, embed_file

    if engine == "local" and (address is not None or workers is not None):
        raise ValueError("--address and --workers need --engine ray")
    if engine == "ray" and device not in ("auto", "cpu"):
        raise ValueError("--engine ray runs on CPUs; leave --device out")
    keep_freed_memory()
    config = EmbedConfig(
        on_error=on_error,
        shard_rows=shard_rows,
        batch_size=batch_size,
        refine=refine,
        what=what,
        desalt=desalt,
    )
    loaded = load_any(model, "cpu" if engine == "ray" else device)
    opened = open_rows(file, loaded.space, column)
    with working(f"counting the rows of {file}"):
        survey = opened.survey()
    reports: list[ShardReport] = []
    with work_left("embedding", survey.num_rows) as left:

        def progress(report: ShardReport) -> None:
            reports.append(report)
            if not report.parse_seconds:
                left.leave_out(report.rows)
            elif engine == "ray":
                left.advance(report.rows)

        if engine == "ray":
            from grale.tasks.embed_ray import embed_with_ray

            before = embed_with_ray(model, opened, out, config, address, workers, progress, survey)
        else:
            before = embed_file(loaded, model, opened, out, config, progress, left.advance, survey)
    _show(f"{file} -> {out}", model, reports, before, on_error)
    failed = sum(report.failed for report in reports)
    if fail_above is not None and failed > fail_above * survey.num_rows:
        raise typer.Exit(TOO_MANY_FAILED)


def _show(title: str, model: str, reports: list[ShardReport], before: int, on_error: str) -> None:
    """Print the counts and, if many rows failed, why they did."""
    from grale.cli.terminal import complain, show

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
        ["to graphs, rows/s", f"{fresh / parse:.0f}" if parse else "-"],
        ["embedding alone, rows/s", f"{embedded / encode:.0f}" if encode else "-"],
        ["together, rows/s", f"{fresh / (parse + encode):.0f}" if parse else "-"],
    ]
    show(title, [["", model], *cells])
    if failed > LOUD * rows:
        reasons: Counter[str] = sum((report.reasons for report in reports), Counter())
        complain(f"{failed} of {rows} rows failed ({failed / rows:.0%}). The commonest reasons:")
        for reason, count in reasons.most_common(SHOWN_REASONS):
            complain(f"{count:>10}  {reason}")
