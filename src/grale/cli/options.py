"""Options that several verbs share."""

from __future__ import annotations

from typing import Annotated

import typer

Search = Annotated[
    int, typer.Option(min=1, help="Likeliest graphs to look through for the one that was encoded.")
]
Refine = Annotated[
    int,
    typer.Option(min=0, help="Steps at most that move a vector until it decodes to its graph."),
]
