"""Wrong colours repaired by reconstruction (paper: figure on denoising).

Departures: intervals are shown.
"""

from __future__ import annotations

import numpy as np
from matplotlib.figure import Figure

from grale.data.samples import sample_graphs
from grale.experiments.picture import Picture, PictureConfig, Progress
from grale.graphs.graph import Graph
from grale.model.autoencoder import GRALE
from grale.model.reconstruction import reconstruct
from grale.plot.curves import curve_figure
from grale.plot.figures import reconstruction_figure
from grale.plot.look import look_of
from grale.tasks.denoise import LEVELS, DenoisePoint, denoise_curve, is_valid_coloring, recolour

EXAMPLES = 5
EXAMPLE_LEVEL = 0.1


def make(model: GRALE, config: PictureConfig, progress: Progress = None) -> list[Picture]:
    """Draw the curve, and examples of corrupted graphs with their reconstructions."""
    graphs = sample_graphs(model.space, config.count, config.data, "test")
    points = denoise_curve(model, graphs, LEVELS, config.seed, progress=progress)
    return [_curve(points, len(graphs)), _examples(model, graphs, config.seed)]


def curve_of(points: list[DenoisePoint]) -> Figure:
    """Shares of valid colourings over the noise level, with their intervals."""
    series = {
        "corrupted graphs": [point.before for point in points],
        "their reconstructions": [point.after for point in points],
    }
    return curve_figure(
        [100 * point.level for point in points],
        {name: [100 * share.value for share in shares] for name, shares in series.items()},
        "nodes recoloured, %",
        "valid colourings, %",
        {
            name: tuple(100 * np.array([share.interval for share in shares]).T)
            for name, shares in series.items()
        },
    )


def _curve(points: list[DenoisePoint], count: int) -> Picture:
    rows = [f"{p.level:.0%}: {p.before} -> {p.after}" for p in points]
    caption = (
        f"Share of valid colourings among {count:,} graphs whose nodes take another colour with "
        f"the given probability, before and after reconstruction; bands are 95 % intervals."
    )
    return Picture(
        "denoising", "Wrong colours repaired", curve_of(points), caption, "\n".join(rows)
    )


def _examples(model: GRALE, graphs: list[Graph], seed: int) -> Picture:
    rng = np.random.default_rng(seed)
    labels = model.space.num_node_labels
    noisy = [recolour(graph, EXAMPLE_LEVEL, labels, rng) for graph in graphs]
    broken = [graph for graph in noisy if not is_valid_coloring(graph)][:EXAMPLES] or noisy[:1]
    result = reconstruct(model, broken, EXAMPLES)
    valid = [is_valid_coloring(graph) for graph in result.graphs]
    figure = reconstruction_figure(
        broken,
        result.graphs,
        result.mappings,
        ["valid" if is_valid else "still not valid" for is_valid in valid],
        valid,
        look_of(model.space).palette,
    )
    caption = (
        f"Above, graphs with {EXAMPLE_LEVEL:.0%} of the nodes recoloured that are no valid "
        f"colourings any more; below, what the model makes of them: {sum(valid)} of {len(valid)} "
        "are valid."
    )
    return Picture("denoising-examples", "Wrong colours repaired: examples", figure, caption)
