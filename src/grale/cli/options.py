"""Options that several verbs share."""

from __future__ import annotations

from typing import Annotated

import typer

Search = Annotated[
    int, typer.Option(min=1, help="Likeliest graphs to look through for the one that was encoded.")
]
Draws = Annotated[
    int,
    typer.Option(
        min=1, help="Draws of the noise to encode under, until decoding gives the graph back."
    ),
]
