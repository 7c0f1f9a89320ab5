"""`grale demo`: the main job from start to end, in a few minutes."""

from __future__ import annotations

import shutil
from pathlib import Path

import typer


def demo(
    out: Path = typer.Option(Path("demo"), help="Folder for the page and its pictures."),
    minutes: float = typer.Option(3.0, min=0.01, help="Minutes of training."),
    count: int = typer.Option(1000, min=10, help="Unseen graphs to score on."),
) -> None:
    """Make graphs, train briefly, reconstruct, interpolate, and write a page of pictures."""
    from grale.cli.terminal import console, counting, keep_freed_memory
    from grale.cli.watch import watch
    from grale.experiments.demo import CONFIG, Tour, write_tour
    from grale.training.config import RunOptions
    from grale.training.evaluation import evaluate
    from grale.training.logs import open_logs
    from grale.training.loop import StepReport, Trainer

    keep_freed_memory()
    shutil.rmtree(out / "run", ignore_errors=True)
    trainer = Trainer(CONFIG, out / "run", RunOptions(max_minutes=minutes))
    console.print(f"training a small model on COLORING graphs of 5 to 10 nodes for {minutes:g} min")
    curve: list[StepReport] = []
    model = watch(trainer, open_logs(out / "run"), curve.append)
    graphs = trainer.source.held_out(count)
    with counting("reconstructing unseen graphs", count) as advance:
        scores = evaluate(model, graphs, progress=advance)
    page = write_tour(Tour(model, scores, curve), graphs, out)
    console.print(f"exactly reconstructed: {scores.accuracy:.1%} of {count} unseen graphs")
    console.print(f"edit distance (upper bound): {scores.edit_distance:.2f}")
    console.print(f"right number of nodes: {scores.size_accuracy:.1%}")
    console.print(f"pictures: {page}")
