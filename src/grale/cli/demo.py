"""`grale demo`: what the shipped models do, in a minute or two."""

from __future__ import annotations

from pathlib import Path

import typer


def demo(
    out: Path = typer.Option(Path("demo"), help="Folder for the page and its pictures."),
    count: int = typer.Option(1000, min=100, help="Graphs to measure on."),
) -> None:
    """Reconstruct, interpolate, edit, denoise and map with the shipped models; write a page."""
    from grale.catalog import load
    from grale.cli.terminal import console, keep_freed_memory
    from grale.experiments.demo import write_tour

    keep_freed_memory()
    with console.status("loading the models") as status:

        def say(what: str) -> None:
            console.print(f"  {what}")
            status.update(what)

        shown = (load(name) for name in ("coloring-10", "molecules", "molecules-attention"))
        page = write_tour(*shown, out, count, say)
    console.print(f"pictures: {page}")
