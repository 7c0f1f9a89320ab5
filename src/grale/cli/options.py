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
