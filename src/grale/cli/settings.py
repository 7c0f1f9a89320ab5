"""`grale settings`: everything a config file, or `--set`, can say."""

from __future__ import annotations

from typing import Annotated

import typer


def settings(
    part: Annotated[
        str, typer.Argument(help="Only settings that contain this, e.g. model.matcher.")
    ] = "",
) -> None:
    """List the settings of `grale train` with their defaults and meanings."""
    from grale.cli.terminal import console
    from grale.settings.describe import describe
    from grale.training.config import TrainConfig

    found = [setting for setting in describe(TrainConfig) if part in setting.name]
    if not found:
        raise ValueError(f"no setting contains {part!r}; `grale settings` lists all of them")
    for setting in found:
        console.print(f"[bold]{setting.name}[/] = {setting.default}", highlight=False)
        console.print(f"    {setting.kind}", style="dim", highlight=False, markup=False)
        if setting.meaning:
            console.print(f"    {setting.meaning}", highlight=False, markup=False)
