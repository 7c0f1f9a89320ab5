"""Show a training run: a progress bar, a line per evaluation, a CSV log."""

from __future__ import annotations

import csv
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from rich.progress import TextColumn

from grale.cli.terminal import bar, console

if TYPE_CHECKING:
    from grale.model.autoencoder import GRALE
    from grale.training.loop import StepReport, Trainer


def watch(
    trainer: Trainer, log: Path, listener: Callable[[StepReport], object] = lambda step: None
) -> GRALE:
    """Run the trainer to the end under a progress bar; add every report to `log`."""
    if not trainer.fabric.is_global_zero:
        return trainer.run(lambda step: None)
    log.parent.mkdir(parents=True, exist_ok=True)
    with bar(TextColumn("{task.fields[state]}")) as progress, log.open("a", newline="") as file:
        task = progress.add_task("training", total=1.0, state="starting")
        writer = csv.writer(file)

        def report(step: StepReport) -> None:
            listener(step)
            if file.tell() == 0:
                writer.writerow(_columns(step))
            writer.writerow(_row(step))
            file.flush()
            progress.update(task, completed=step.progress, state=_state(step))
            if step.validation is not None:
                scores = step.validation
                console.print(
                    f"step {step.step}: {scores.accuracy:.1%} of {scores.count} held-out graphs "
                    f"exact, edit distance <= {scores.edit_distance:.2f}, "
                    f"size right {scores.size_accuracy:.1%}"
                )

        return trainer.run(report)


def _state(step: StepReport) -> str:
    return (
        f"step {step.step}  loss {step.values['loss']:.3f}  "
        f"marginals {step.values['marginal_error']:.0e}  "
        f"{step.graphs_per_second:.0f} graphs/s"
    )


def _columns(step: StepReport) -> list[str]:
    scores = ["exact", "edit_distance", "size_right"]
    return ["step", *step.values, "graphs_per_second", *scores]


def _row(step: StepReport) -> list[object]:
    scores = step.validation
    tail = (
        ["", "", ""]
        if scores is None
        else [scores.accuracy, scores.edit_distance, scores.size_accuracy]
    )
    return [step.step, *step.values.values(), step.graphs_per_second, *tail]
