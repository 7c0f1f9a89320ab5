"""`grale decode Z.parquet` and `grale reconstruct IN`: molecules out of embeddings."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from grale.cli.options import Column, Refine, Search

Out = Annotated[Path, typer.Option("--out", "-o", help="OUT.parquet or OUT.csv.")]
Model = Annotated[str, typer.Option(help="A shipped model, a directory, or a hub id.")]
Tries = Annotated[
    int, typer.Option(min=1, help="Likeliest graphs to look at for each valid molecule.")
]


def decode(
    file: Annotated[
        Path,
        typer.Argument(help="Parquet, csv or npy of `grale embed`, or a folder of parquet files."),
    ],
    out: Out,
    model: Model = "molecules",
    candidates: Annotated[int, typer.Option(min=1, help="Distinct molecules per row.")] = 1,
    tries: Tries = 20,
    search: Search = 1,
) -> None:
    """Decode embeddings to SMILES, with charges and hydrogens restored."""
    from grale.catalog import load_any
    from grale.cli.terminal import counting, keep_freed_memory, show
    from grale.codec.options import CodecOptions
    from grale.tasks.decode import count_rows, decode_file

    keep_freed_memory()
    options = CodecOptions(searched_graphs=search, molecule_tries=tries, candidates=candidates)
    with counting("decoding", count_rows(file)) as advance:
        report = decode_file(load_any(model), file, out, options, advance, model)
    rows = [
        ["rows", str(report.rows)],
        ["without a usable embedding", str(report.without_embedding)],
        ["valid molecules", f"{report.validity:.2%}"],
    ]
    show(f"{file} -> {out}", [["", model], *rows])


def reconstruct(
    file: Annotated[
        Path, typer.Argument(help="csv, tsv, smi, sdf or parquet, also .gz; or a folder of them.")
    ],
    out: Out,
    model: Model = "molecules",
    column: Column = None,
    search: Search = 1,
    refine: Refine = 0,
    candidates: Annotated[
        int,
        typer.Option(min=0, help="Also list at most this many valid molecules per row."),
    ] = 0,
    tries: Tries = 20,
) -> None:
    """Encode and decode molecules; each row of the output compares the two."""
    from grale.catalog import load_any
    from grale.cli.terminal import counting, keep_freed_memory, show
    from grale.codec.options import CodecOptions
    from grale.data.molecules.folder import open_file_or_folder
    from grale.tasks.reconstruct import reconstruct_file

    keep_freed_memory()
    options = CodecOptions(
        searched_graphs=search,
        refine_steps=refine,
        molecule_tries=tries,
        candidates=max(candidates, 1),
    )
    opened = open_file_or_folder(file, column)
    with counting("reconstructing", opened.survey().num_rows) as advance:
        report = reconstruct_file(
            load_any(model), opened, out, advance, options, candidates > 0, model
        )
    done = max(report.reconstructed, 1)
    rows = [
        ["rows", str(report.rows)],
        ["failed (see the column reason)", str(report.failed)],
        ["exactly reconstructed", f"{report.exact / done:.2%}"],
        ["edit distance (upper bound)", f"{report.edits / done:.3f}"],
        ["valid molecules", f"{report.valid / done:.2%}"],
    ]
    show(f"{file} -> {out}", [["", model], *rows])
