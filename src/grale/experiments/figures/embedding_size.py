"""Accuracy over the shape of the latent (paper: figure "G.I. accuracy vs (K, D)").

    grale reproduce figure-embedding-size --scale cpu --data POOL16_FOLDER

Both axes are logarithmic, so that diagonals join latents of equal total dimension K x D.

Departures: at `cpu`, POOL 16 (COLORING 10 without --data) and a coarser grid.
"""

from __future__ import annotations

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from grale.experiments.contest import compete, latent_shape
from grale.experiments.picture import Picture
from grale.experiments.request import Request

CPU_SHARE = 0.4  # of the usual minutes
TOKENS = {"smoke": (1, 2), "cpu": (1, 4, 16), "paper": (1, 2, 4, 8, 16, 32)}
WIDTHS = {"smoke": (4, 8), "cpu": (8, 32, 128), "paper": (8, 16, 32, 64, 128, 256)}


def make(request: Request) -> list[Picture]:
    """Train one model per latent shape."""
    data = request.datasets()[-1]
    contest = request.contest("figure-embedding-size", data, CPU_SHARE)
    grid = [(k, d) for k in TOKENS[request.scale] for d in WIDTHS[request.scale]]
    scores = compete(contest, [latent_shape(k, d) for k, d in grid])
    exact = {
        (k, d): float(np.mean([score.exact for score in scores[latent_shape(k, d).name]]))
        for k, d in grid
    }
    caption = (
        f"Share of {contest.count:,} unseen graphs of {request.data_name(data)} reconstructed "
        f"exactly, by number K and width D of the tokens; {request.budget(CPU_SHARE)}. Dashed: "
        "equal K x D."
    )
    details = "\n".join(f"K={k} D={d}: {share:.2%}" for (k, d), share in exact.items())
    title = "Accuracy over the shape of the latent"
    return [Picture("figure-embedding-size", title, shape_figure(exact), caption, details)]


def shape_figure(exact: dict[tuple[int, int], float]) -> Figure:
    """A disc at each (D, K), coloured and numbered by accuracy; diagonals of equal K x D."""
    figure = Figure(figsize=(5.4, 4.2), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    tokens, widths = (np.unique([shape[side] for shape in exact]) for side in (0, 1))
    ends = np.array([widths[0] / 2, widths[-1] * 2])
    for total in sorted({k * d for k, d in exact}):
        axes.plot(ends, total / ends, color="0.8", lw=0.8, ls="dashed", zorder=0)
    values = 100 * np.array(list(exact.values()))
    discs = axes.scatter(
        [d for _, d in exact], [k for k, _ in exact], c=values, s=620, cmap="viridis", zorder=2
    )
    middle = (values.min() + values.max()) / 2
    for (k, d), value in zip(exact, values):
        colour = "white" if value < middle else "black"
        axes.text(d, k, f"{value:.0f}", ha="center", va="center", color=colour, fontsize=9)
    axes.set_xscale("log", base=2)
    axes.set_yscale("log", base=2)
    axes.set_xticks(widths, [str(width) for width in widths])
    axes.set_yticks(tokens, [str(token) for token in tokens])
    axes.set_xlim(*ends)
    axes.set_ylim(tokens[0] / 2, tokens[-1] * 2)
    axes.set_xlabel("width of a token, D")
    axes.set_ylabel("number of tokens, K")
    axes.minorticks_off()
    figure.colorbar(discs, label="exact, %")
    return figure
