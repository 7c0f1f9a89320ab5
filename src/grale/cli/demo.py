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
    from grale.cli.terminal import keep_freed_memory, say, working
    from grale.experiments.demo import write_tour
    from grale.files import locked

    keep_freed_memory()
    page = out / "index.html"
    with locked(page), working("loading the models") as now_doing:

        def report(what: str) -> None:
            say(f"  {what}")
            now_doing(what)

        write_tour(load("coloring-10"), load("molecules"), out, count, report)
    say(f"pictures: {page}")
