"""`grale train CONFIG`: train a model."""

from __future__ import annotations

from pathlib import Path

import typer


def train(
    config: str = typer.Argument(
        help="YAML file of settings, or the name of one that ships, such as coloring10."
    ),
    out: Path | None = typer.Option(
        None, help="Folder for model, log and checkpoints; default runs/NAME."
    ),
    set_: list[str] = typer.Option(
        [],
        "--set",
        metavar="KEY=VALUE",
        help="Override a setting, e.g. model.norm=pre; `grale settings` lists all.",
    ),
    objective: str | None = typer.Option(
        None, help="reconstruct, or match: train matcher and node embeddings on random pairs."
    ),
    resume: bool = typer.Option(False, "--resume", help="Continue from the newest checkpoint."),
    max_minutes: float | None = typer.Option(
        None, min=0.01, help="Time budget; the learning-rate schedule is fitted to it."
    ),
    devices: int = typer.Option(1, min=1, help="Processes on each machine."),
    num_nodes: int = typer.Option(1, min=1, help="Machines."),
    accelerator: str = typer.Option("auto", help="cpu, cuda, or auto: whichever is there."),
    precision: str = typer.Option("32-true", help="32-true or bf16-mixed."),
    compile_: bool = typer.Option(False, "--compile", help="Run the loss through torch.compile."),
    recompute: bool = typer.Option(
        False, "--recompute", help="Recompute activations: less memory, more time."
    ),
    save_every: int = typer.Option(1000, min=1, help="Steps between two checkpoints."),
    log: list[str] = typer.Option([], help="tensorboard or wandb, besides the CSV file."),
    on_bad_shard: str | None = typer.Option(
        None, help="fail or skip: what to do with a damaged shard."
    ),
) -> None:
    """Train a model, show its progress, and save it."""
    from grale.cli.terminal import keep_freed_memory, say
    from grale.cli.watch import watch
    from grale.settings.build import build
    from grale.settings.files import load_settings
    from grale.training.config import RunOptions, TrainConfig
    from grale.training.logs import open_logs
    from grale.training.loop import Trainer

    keep_freed_memory()
    extra = [] if on_bad_shard is None else [f"data.on_bad_shard={on_bad_shard}"]
    extra += [] if objective is None else [f"objective={objective}"]
    settings = load_settings(TrainConfig, config, [*set_, *extra])
    values = {
        "resume": resume,
        "max_minutes": max_minutes,
        "accelerator": accelerator,
        "devices": devices,
        "num_nodes": num_nodes,
        "precision": precision,
        "compile": compile_,
        "recompute_activations": recompute,
        "save_every": save_every,
    }
    folder = out or Path("runs") / Path(config).stem
    trainer = Trainer(settings, folder, build(RunOptions, values))
    if not trainer.fabric.is_global_zero:
        trainer.run(lambda step: None)
        return
    watch(trainer, open_logs(folder, log, trainer.step))
    say(f"saved to {folder}")
