"""Graphs between two graphs, and the mean of a dataset (paper: figure "Interpolating graphs")."""

from __future__ import annotations

from grale.data.samples import sample_graphs
from grale.experiments.picture import Picture, PictureConfig, Progress
from grale.graphs.molecules.molecule import is_molecular
from grale.model.autoencoder import GRALE
from grale.plot.figures import interpolation_figure
from grale.plot.look import look_of
from grale.tasks.interpolate import barycenter, interpolate

FRAMES = 7
NEARBY = 12  # graphs of which the smallest and the largest are the ends
EXAMPLES = 6  # graphs shown next to their mean


def make(model: GRALE, config: PictureConfig, progress: Progress = None) -> list[Picture]:
    """Draw the strip from a small graph to a large one, and the barycentre of all graphs."""
    graphs = sample_graphs(model.space, config.count, config.data, "test")
    nearby = graphs[config.seed : config.seed + NEARBY]
    if len(nearby) < 2:
        raise ValueError(f"need two graphs, starting at number {config.seed}; got {len(graphs)}")
    look = look_of(model.space)
    small, *_, large = sorted(range(len(nearby)), key=lambda k: nearby[k].num_nodes)
    path = interpolate(model, nearby[small], nearby[large], FRAMES)
    strip = interpolation_figure(
        path.graphs,
        path.mappings,
        [f"t = {t:.2f}" for t in path.positions],
        look,
    )
    mean = barycenter(model, graphs, progress=progress)
    examples = graphs[:EXAMPLES]
    together = interpolation_figure(
        [*examples, mean.graph],
        captions=["one of the graphs"] * len(examples) + [f"barycentre of {mean.num_graphs:,}"],
        look=look,
    )
    return [
        Picture(
            "interpolation",
            "Graphs between two graphs",
            strip,
            f"Points on the straight line between the embeddings of two graphs, decoded. The ends "
            f"are the reconstructions of graphs {config.seed + small} and {config.seed + large}, "
            "refined until they are these graphs.",
            command="grale reproduce figure-interpolation",
        ),
        Picture(
            "barycenter",
            "The mean of a dataset",
            together,
            f"Some graphs of a dataset and, on the right, the decoded mean of the embeddings of "
            f"all {mean.num_graphs:,}.",
            command="grale barycenter coloring10 --model coloring-10"
            if not is_molecular(model.space)
            else "grale barycenter library",
        ),
    ]
