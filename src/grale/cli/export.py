"""`grale export MODEL`: a model as ONNX files, to run without torch."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def export(
    model: Annotated[str, typer.Argument(help="A shipped model, a directory, or a hub id.")],
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Folder; by default MODEL-onnx.")
    ] = None,
    check: Annotated[
        bool, typer.Option("--check/--no-check", help="Compare the files with torch.")
    ] = True,
) -> None:
    """Write encoder, decoder and description as ONNX, and check them against torch."""
    from grale.catalog import load
    from grale.cli.terminal import say, show, working
    from grale.data.samples import sample_graphs
    from grale.tasks.export import export_model
    from grale.tasks.exported import CHECKED, TOLERANCE, differences

    loaded = load(model)
    folder = out or Path(f"{Path(model).name}-onnx")
    with working("exporting") as now_doing:
        files = export_model(loaded, folder, model, now_doing)
    for file in files:
        say(f"{file}  {file.stat().st_size / 1e6:.1f} MB")
    if not check:
        return
    with working("comparing with torch"):
        found = differences(loaded, folder, sample_graphs(loaded.space, CHECKED, None, "test"))
    rows = [["", "largest difference from torch"]]
    rows += [[name, f"{value:.1e}"] for name, value in found.items()]
    show(f"{model}, {CHECKED} graphs", rows)
    if max(found.values()) > TOLERANCE:
        raise ValueError(f"the files differ from torch by more than {TOLERANCE:g}; do not use them")
