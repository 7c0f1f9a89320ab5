"""`grale train CONFIG`: train a model."""

from __future__ import annotations

from pathlib import Path

import typer


def train(
    config: Path = typer.Argument(help="YAML file of differences from the defaults."),
    out: Path = typer.Option(None, help="Folder for the model and the log; default runs/NAME."),
    set_: list[str] = typer.Option(
        [], "--set", metavar="KEY=VALUE", help="Override a setting, e.g. model.norm=pre."
    ),
    max_minutes: float = typer.Option(
        None, min=0.01, help="Time budget; the learning-rate schedule is fitted to it."
    ),
) -> None:
    """Train a model, show how it learns, and save it."""
    from grale.cli.terminal import console, keep_freed_memory
    from grale.cli.watch import watch
    from grale.settings.files import load_settings
    from grale.training.config import TrainConfig
    from grale.training.loop import Trainer

    keep_freed_memory()
    settings = load_settings(TrainConfig, config, set_)
    folder = out or Path("runs") / config.stem
    trainer = Trainer(settings, max_minutes)
    model = watch(trainer, folder / "metrics.csv")
    model.save_pretrained(folder)
    console.print(f"saved to {folder}")
