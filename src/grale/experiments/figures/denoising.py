"""Wrong colours repaired by reconstruction (paper: figure on denoising).

Departures: intervals are shown, and molecules are denoised as well.
"""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from grale.codec.reconstruct import reconstruct
from grale.data.samples import sample_graphs
from grale.experiments.picture import Picture, PictureConfig, Progress
from grale.graphs.graph import Graph
from grale.model.autoencoder import GRALE
from grale.plot.curves import curve_figure
from grale.plot.figures import reconstruction_figure
from grale.plot.look import look_of
from grale.tasks.denoise import LEVELS, DenoisePoint, Noise, denoise_curve, noise_of, recolour

PASSES = len(LEVELS)  # how often each graph is counted by the progress bar
EXAMPLES = 5
EXAMPLE_LEVEL = 0.1


def make(model: GRALE, config: PictureConfig, progress: Progress = None) -> list[Picture]:
    """Draw the curve, and examples of corrupted graphs with their reconstructions."""
    graphs = sample_graphs(model.space, config.count, config.data, "test")
    points = denoise_curve(model, graphs, LEVELS, config.seed, progress=progress)
    noise = noise_of(model.space)
    return [_curve(points, noise, len(graphs)), _examples(model, noise, graphs, config.seed)]


def curve_of(points: list[DenoisePoint], noise: Noise) -> Figure:
    """Shares of valid graphs over the noise level, with their intervals."""
    series = {
        "corrupted graphs": [point.before for point in points],
        "their reconstructions": [point.after for point in points],
    }
    return curve_figure(
        [100 * point.level for point in points],
        {name: [100 * share.value for share in shares] for name, shares in series.items()},
        f"{noise.change}, %",
        f"{noise.valid}, %",
        {
            name: tuple(100 * np.array([share.interval for share in shares]).T)
            for name, shares in series.items()
        },
    )


def _curve(points: list[DenoisePoint], noise: Noise, count: int) -> Picture:
    rows = [f"{p.level:.0%}: {p.before} -> {p.after}" for p in points]
    caption = (
        f"Share of {noise.valid} among {count:,} graphs with this share of {noise.change} at "
        "random, before and after reconstruction; bands are 95 % intervals."
    )
    return Picture(
        "denoising",
        f"{noise.change.capitalize()}, then reconstructed",
        curve_of(points, noise),
        caption,
        "\n".join(rows),
    )


def _examples(model: GRALE, noise: Noise, graphs: list[Graph], seed: int) -> Picture:
    rng = np.random.default_rng(seed)
    noisy = [recolour(graph, EXAMPLE_LEVEL, noise.num_labels, rng) for graph in graphs]
    broken = [graph for graph in noisy if not noise.is_valid(graph)][:EXAMPLES] or noisy[:1]
    result = reconstruct(model, broken)
    valid = [noise.is_valid(graph) for graph in result.graphs]
    figure = reconstruction_figure(
        broken,
        result.graphs,
        result.mappings,
        ["valid" if is_valid else "still not valid" for is_valid in valid],
        valid,
        look_of(model.space),
    )
    caption = (
        f"Above, graphs with {EXAMPLE_LEVEL:.0%} {noise.change} that are no longer {noise.valid}; "
        f"below, their reconstructions: {sum(valid)} of {len(valid)} are valid."
    )
    title = f"{noise.change.capitalize()}, then reconstructed: examples"
    return Picture("denoising-examples", title, figure, caption)
