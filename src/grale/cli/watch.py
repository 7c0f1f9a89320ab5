"""Show a training run: a progress bar with the terms of the loss, a line per evaluation, logs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from rich.progress import TextColumn

from grale.cli.terminal import bar, say

if TYPE_CHECKING:
    from grale.codec.graph_autoencoder import GraphAutoencoder
    from grale.training.logs import RunLog
    from grale.training.loop import StepReport, Trainer

TERMS = ("mask", "node_label", "node_feature", "edge_label", "edge_feature", "bound")


def watch(trainer: Trainer, logs: Sequence[RunLog]) -> GraphAutoencoder:
    """Run the trainer to the end with a progress bar; write every report to the logs."""
    from grale.training.logs import numbers

    with bar(TextColumn("{task.fields[state]}", markup=False)) as progress:
        task = progress.add_task("training", total=1.0, state="drawing graphs")

        def report(step: StepReport) -> None:
            for log in logs:
                log.write(step.step, numbers(step))
            progress.update(task, completed=step.progress, state=_state(step))
            if step.validation is not None:
                say(f"step {step.step}: {step.validation.text}")

        try:
            model: GraphAutoencoder = trainer.run(report)
            return model
        finally:
            for log in logs:
                log.close()


def _state(step: StepReport) -> str:
    terms = " ".join(f"{step.values[name]:.3f}" for name in TERMS if name in step.values)
    state = f"step {step.step}  {step.graphs_per_second:.0f} graphs/s  "
    state += f"loss {step.values['loss']:.3f} = {terms}"
    error = step.values.get("marginal_error")
    return state if error is None else f"{state}  marginals {error:.0e}"
