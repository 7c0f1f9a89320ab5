"""Accuracy of the shipped recipe over the length of the vector, pooling by transport.

    grale reproduce figure-vector-length --data data/pool32 --max-minutes 15

There is a token per node, so only its width D changes the length N x D. All models start from the
shipped one, whose layers know chemistry, and learn for the same minutes; the layers into and out of
a token start at random if its width is another.

Departures: not in the paper, whose figures over the latent are `figure-embedding-size` and
`figure-total-dimension`.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from grale.data.sources import DataConfig, open_source
from grale.experiments.contest import Contender, compete
from grale.experiments.picture import Picture
from grale.experiments.recipes import at_scale
from grale.experiments.request import Request
from grale.metrics.intervals import Share
from grale.plot.curves import CURVE_COLOURS
from grale.settings.files import override

NAME = "figure-vector-length"
WIDTHS = {"smoke": (2, 4), "cpu": (4, 8, 16), "paper": (2, 4, 8, 16, 32)}
START = {"smoke": "null", "cpu": "molecules", "paper": "molecules"}


def make(request: Request) -> list[Picture]:
    """Train one model per width of the tokens."""
    if request.data is None:
        raise ValueError(f"{NAME} needs --data: a folder of molecules prepared with --descriptors")
    recipe = at_scale("pool32", request.scale)
    changes = [f"data.path={request.data}", f"start_from={START[request.scale]}"]
    tokens = open_source(DataConfig(source="shards", path=request.data)).space.max_nodes
    recipe = override(recipe, [*changes, f"model.num_tokens={tokens}"])
    contest = replace(request.contest(NAME, "molecules"), recipe=recipe)
    widths = WIDTHS[request.scale]
    contenders = [Contender(f"D={width}", [f"model.token_dim={width}"]) for width in widths]
    found = compete(contest, contenders)
    exact = [float(np.mean([score.exact for score in found[c.name]])) for c in contenders]
    distance = [float(np.mean([s.edit_distance for s in found[c.name]])) for c in contenders]
    lengths = [tokens * width for width in widths]
    caption = (
        f"Share of {contest.count:,} unseen molecules of {request.data_name('molecules')} that "
        f"come back exactly, with 95 % intervals, over the length of the vector: {tokens} tokens "
        f"of {', '.join(map(str, widths))}; {request.budget()}."
    )
    details = "\n".join(
        f"{length} numbers: exact {share:.2%}, edit distance {edits:.3f}"
        for length, share, edits in zip(lengths, exact, distance)
    )
    figure = length_figure(lengths, exact, contest.count * contest.seeds)
    return [Picture(NAME, "Accuracy over the length of the vector", figure, caption, details)]


def length_figure(lengths: Sequence[int], exact: Sequence[float], count: int) -> Figure:
    """Points with intervals over a logarithmic axis."""
    figure = Figure(figsize=(4.6, 3.4), layout="constrained")
    FigureCanvasAgg(figure)
    axes = figure.add_subplot()
    ends = np.array([Share(round(share * count), count).interval for share in exact])
    shares = np.array(exact)
    spread = np.maximum([shares - ends[:, 0], ends[:, 1] - shares], 0)
    axes.errorbar(lengths, 100 * shares, 100 * spread, fmt="o-", color=CURVE_COLOURS[0], capsize=3)
    axes.set_xscale("log")
    axes.set_xticks(lengths, [f"{length:,}" for length in lengths])
    axes.minorticks_off()
    axes.set_xlabel("numbers in a vector, N x D")
    axes.set_ylabel("exactly reconstructed, %")
    axes.grid(color="0.9", linewidth=0.8)
    axes.spines[["top", "right"]].set_visible(False)
    return figure
