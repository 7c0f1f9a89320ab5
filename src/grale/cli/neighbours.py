"""`grale neighbours FILE --of SMILES`: the rows of a file that are nearest to a molecule."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from grale.cli.options import Column, Device

if TYPE_CHECKING:
    from grale.codec.graph_autoencoder import GraphAutoencoder
    from grale.tasks.neighbours import Neighbour

USUAL = "molecules"


def neighbours(
    file: Annotated[
        Path,
        typer.Argument(help="Molecules or graphs to look among; or a file of `grale embed`."),
    ],
    of: Annotated[
        list[str],
        typer.Option("--of", help="A SMILES, or a row such as molecules.csv:3; may be repeated."),
    ],
    k: Annotated[int, typer.Option("-k", min=1, help="How many for each.")] = 5,
    model: Annotated[
        str | None,
        typer.Option(help=f"By default the model that made the file, otherwise {USUAL}."),
    ] = None,
    column: Column = None,
    device: Device = "auto",
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Also write them to this csv file.")
    ] = None,
) -> None:
    """List the nearest rows of a file, compared by their descriptions."""
    from grale.catalog import load_any
    from grale.cli.terminal import counting, keep_freed_memory, say, show
    from grale.codec.identity import identity_of
    from grale.data.samples import named_graph
    from grale.tasks.described_rows import count_entries
    from grale.tasks.neighbours import neighbours as nearest
    from grale.tasks.outputs import check_output

    if out is not None:
        check_output(file, out, (".csv",))
    keep_freed_memory()
    name = model or _made_by(file) or USUAL
    loaded = load_any(name, device)
    queries = [named_graph(text, loaded.space) for text in of]
    with counting("looking", count_entries(file, loaded.space, column)) as advance:
        found = nearest(loaded, file, queries, k, column, advance)
    beside = list(found[0][0].others)
    rows = [["of", "row", "entry", "distance", *beside]]
    for text, nearby in zip(of, found):
        rows += [[text, *_cells(each)] for each in nearby]
    show(f"nearest by the descriptions of {identity_of(loaded).called(name)}", rows)
    if out is not None:
        say(f"written: {_write(out, rows, loaded, name)}")


def _made_by(file: Path) -> str | None:
    """The shipped model that made a file, with its version; None if there is none."""
    from grale.catalog import shipped_as
    from grale.codec.identity import identity_in
    from grale.tasks.vector_files import made_with_of

    made_by = identity_in(made_with_of(file))
    known = shipped_as(made_by.fingerprint) if made_by is not None else None
    return f"{known.name}@{known.version}" if known is not None else None


def _cells(each: Neighbour) -> list[str]:
    beside = ("" if value is None else str(value) for value in each.others.values())
    return [str(each.row), each.entry, f"{each.distance:.4g}", *beside]


def _write(out: Path, rows: list[list[str]], model: GraphAutoencoder, name: str) -> Path:
    """Write the table as csv, and beside it which model made it."""
    import csv
    import io

    from grale.codec.identity import provenance
    from grale.files import write_whole
    from grale.tasks.vector_output import write_sidecar

    text = io.StringIO()
    csv.writer(text).writerows(rows)
    write_sidecar(out, provenance(model, name, "description"))
    return write_whole(out, text.getvalue())
