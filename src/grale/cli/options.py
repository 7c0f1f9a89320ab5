"""Options that several verbs share."""

from __future__ import annotations

from typing import Annotated

import typer

Search = Annotated[
    int, typer.Option(min=1, help="Likeliest graphs to search for the one that was encoded.")
]
Refine = Annotated[
    int,
    typer.Option(min=0, help="At most this many steps on a vector that does not decode."),
]
Column = Annotated[
    str | None,
    typer.Option(help="Column of the SMILES; its number, from 0, if the file has no header."),
]
Device = Annotated[str, typer.Option(help="cpu, cuda, or auto: an accelerator if there is one.")]
