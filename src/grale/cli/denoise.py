"""`grale denoise`: wrong colours or atoms repaired by encoding and decoding."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from grale.cli.interpolate import Model


def denoise(
    model: Model = "coloring-10",
    data: Annotated[
        str | None, typer.Option(help="coloring10, coloring20, library, or a dataset folder.")
    ] = None,
    count: Annotated[int, typer.Option(min=1, help="Graphs at each noise level.")] = 1_000,
    level: Annotated[
        list[float] | None, typer.Option(min=0, max=1, help="Noise level; may be repeated.")
    ] = None,
    seed: Annotated[int, typer.Option(help="Chooses the noise.")] = 0,
    out: Annotated[Path, typer.Option("--out", "-o", help="Picture, .png or .svg.")] = Path(
        "denoise.png"
    ),
) -> None:
    """Change nodes at random, reconstruct, and count valid graphs before and after."""
    from grale.catalog import load
    from grale.cli.terminal import counting, keep_freed_memory, say, show
    from grale.data.samples import sample_graphs
    from grale.experiments.figures.denoising import curve_of
    from grale.plot.figures import picture_format, save_figure
    from grale.tasks.denoise import LEVELS, denoise_curve, noise_of

    picture_format(out)
    keep_freed_memory()
    loaded = load(model)
    graphs = sample_graphs(loaded.space, count, data, "test")
    levels = sorted(level) if level else LEVELS
    with counting("denoising", len(levels) * len(graphs)) as advance:
        points = denoise_curve(loaded, graphs, levels, seed, progress=advance)
    noise = noise_of(loaded.space)
    rows = [[noise.change, f"{noise.valid} before (95 %)", "after (95 %)"]]
    rows += [[f"{point.level:.0%}", str(point.before), str(point.after)] for point in points]
    show(f"{model}, {len(graphs)} graphs", rows)
    say(f"picture: {save_figure(curve_of(points, noise), out)}")
