"""`grale settings`: everything that a config file or `--set` can change."""

from __future__ import annotations

from typing import Annotated

import typer


def settings(
    part: Annotated[
        str, typer.Argument(help="Only settings that contain this, e.g. model.matcher.")
    ] = "",
) -> None:
    """List the settings of `grale train` with their defaults and meanings."""
    from grale.cli.terminal import say
    from grale.settings.describe import list_settings
    from grale.training.config import TrainConfig

    found = [setting for setting in list_settings(TrainConfig) if part in setting.name]
    if not found:
        raise ValueError(f"no setting contains {part!r}; `grale settings` lists all of them")
    for setting in found:
        say(f"{setting.name} = {setting.default}", style="bold")
        say(f"    {setting.kind}", style="dim")
        if setting.meaning:
            say(f"    {setting.meaning}")
