"""New graphs, edits and lines of a model with a prior; the paper's methods beside the prior's.

grale reproduce figure-generation --model molecules
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from grale.codec.sample import SampleOptions
from grale.data.samples import sample_graphs
from grale.experiments.figures.edits import proposals_row
from grale.experiments.picture import Picture, PictureConfig, Progress
from grale.graphs.graph import Graph
from grale.graphs.molecules.molecule import is_molecular
from grale.metrics.generation import why_invalid
from grale.model.autoencoder import GRALE
from grale.plot.gallery import GalleryRow, gallery_figure
from grale.plot.look import look_of
from grale.tasks.edit import edit
from grale.tasks.generate import GenerateConfig, generate
from grale.tasks.interpolate import PathKind, follow, interpolate
from grale.tasks.latent_predictor import learn_property
from grale.tasks.properties import named_property
from grale.tasks.propose import ProposeConfig, propose

COLUMNS, ROWS = 4, 6  # more columns are too small to read on a page
FRAMES = 7
EDIT_STEPS = 40  # fewer than usual: each needs a gradient through the decoder
LOW_QUANTILE = 0.3  # of the property: the graph that is edited


def make(model: GRALE, config: PictureConfig, progress: Progress = None) -> list[Picture]:
    """Draw a page of samples, lines and edits by both methods."""
    graphs = sample_graphs(model.space, config.count, config.data, "test")
    pictures = [
        samples_picture(model, config.seed),
        lines_picture(model, graphs[:2], "the first two test graphs"),
        edits_picture(model, graphs),
    ]
    if progress is not None:
        progress(config.count)
    return pictures


def samples_picture(model: GRALE, seed: int) -> Picture:
    """Draw the first samples of a seed, none left out."""
    wanted = GenerateConfig(count=COLUMNS * ROWS, options=SampleOptions(seed=seed))
    drawn = list(generate(model, wanted))
    good = sum(new.reason is None for new in drawn)
    rows = [
        GalleryRow(
            "",
            [new.graph for new in drawn[start : start + COLUMNS]],
            ["" if new.reason is None else "not valid" for new in drawn[start : start + COLUMNS]],
        )
        for start in range(0, len(drawn), COLUMNS)
    ]
    return Picture(
        "samples",
        "New graphs",
        gallery_figure(rows, look_of(model.space)),
        f"The first {len(drawn)} samples of seed {seed}; {good} are valid and in one piece.",
        "\n".join(_text(new.graph, model) for new in drawn),
    )


def lines_picture(model: GRALE, ends: Sequence[Graph], between: str) -> Picture:
    """Draw the same line between two graphs, straight and led back by the prior."""
    first, last = ends
    rows, counts = [], []
    kinds: tuple[tuple[PathKind, str], ...] = (("line", "straight line"), ("prior", "prior"))
    for kind, name in kinds:
        path = interpolate(model, first, last, FRAMES, path=kind)
        reasons = [why_invalid(graph, model.space) for graph in path.graphs]
        captions = [
            f"t = {t:.2f}" + ("" if reason is None else "\nnot valid")
            for t, reason in zip(path.positions, reasons)
        ]
        rows.append(GalleryRow(name, path.graphs, captions, path.mappings))
        counts.append(f"{name}: {reasons.count(None)} of {FRAMES} valid")
    return Picture(
        "lines",
        "Between two graphs",
        gallery_figure(rows, look_of(model.space)),
        f"Graphs between {between}: decoded points of the straight line, as in the paper, and the "
        f"same points led back to the data by the prior. {'; '.join(counts).capitalize()}."
        f"{_legend(model)}",
    )


def edits_picture(model: GRALE, graphs: list[Graph]) -> Picture:
    """Draw the same edit along the gradient and by the prior."""
    name = "QED" if is_molecular(model.space) else "size"
    true = named_property(name)
    learned = learn_property(model, graphs, true)
    values = np.array(learned.values)
    start = graphs[int(np.nanargmin(np.abs(values - np.nanquantile(values, LOW_QUANTILE))))]
    path = edit(model, start, learned.predictor, true_property=true)
    records = path.records()[1:FRAMES]
    captions = [f"{name} {true(start):.3g}", *(f"{name} {each.true:.3g}" for each in records)]
    shown = [start, *(each.graph for each in records)]
    plain = GalleryRow("gradient", shown, captions, follow(model, shown))
    config = ProposeConfig(steps=EDIT_STEPS)
    found = propose(model, start, true, learned.predictor, 1, config, name)
    row = proposals_row(model, "prior", start, true(start), found, name, FRAMES)
    return Picture(
        "edits",
        f"Raising {name}",
        gallery_figure([plain, row], look_of(model.space)),
        f"The same graph edited along the gradient of a predictor of {name} (new best values, "
        f"valid or not) and by the prior ({found.valid} of {found.drawn} proposals valid; the best "
        f"first).{_legend(model, ' Proposals are compared with the start.')}",
    )


def _legend(model: GRALE, more: str = "") -> str:
    if not is_molecular(model.space):
        return ""
    return f" What is new beside the molecule before is green, what has another label amber.{more}"


def _text(graph: Graph, model: GRALE) -> str:
    reason = why_invalid(graph, model.space)
    if reason is not None or not is_molecular(model.space):
        return reason or f"{graph.num_nodes} nodes, {graph.num_edges} edges"
    return graph.to_smiles()
