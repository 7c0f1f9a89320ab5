"""
Graphs from images
==================

A small network learns to read maps of coloured cells: from the pixels to the latent of the graph
of touching cells, and from there to the graph by a decoder that is trained already. Here it only
memorises a few maps, which takes seconds; docs/prediction.md has what it does with unseen ones.
"""

from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np

import grale
from grale.data.pairs import first_pairs, prepare_images
from grale.matching.local_search import edit_distance_bound
from grale.plot.figures import save_figure
from grale.plot.predictions import prediction_figure
from grale.settings.files import load_settings
from grale.tasks.pair_latents import cache_pair_latents
from grale.training.config import TrainConfig
from grale.training.loop import Trainer

SETTINGS = [
    "reader.dim=64", "reader.num_layers=1", "reader.channels=[8, 16]", "reader.turns=false",
    "batch_size=8", "max_steps=150", "num_validation=1", "optimizer.ema_decay=0.9",
    "optimizer.learning_rate=2e-3", "optimizer.muon_learning_rate=1e-2",
]  # fmt: skip


def train(folder: Path) -> tuple:
    """Draw ten maps, compute the latents of their graphs once, and learn to predict them."""
    prepare_images("coloring10", folder / "pairs", 10)
    model = grale.load("coloring-10")
    cache_pair_latents(model, "coloring-10", folder / "pairs", folder / "latents")
    settings = [*SETTINGS, f"data.path={folder / 'latents'}"]
    config = load_settings(TrainConfig, "predict", settings)
    trainer = Trainer(config, folder / "run")
    return trainer.run(lambda step: None), first_pairs(folder / "latents" / "train", 4)


def main() -> None:
    """Train, predict what was trained on, and draw."""
    with TemporaryDirectory() as folder:
        model, pairs = train(Path(folder))
    targets, predictions = pairs.graphs(), model.predict(pairs.inputs)
    found = [edit_distance_bound(*pair) for pair in zip(targets, predictions)]
    figure = prediction_figure(
        list(np.asarray(pairs.inputs).reshape(-1, 32, 32, 3)),
        targets,
        predictions,
        [bound.mapping for bound in found],
        [f"{bound.edit_distance} edits" for bound in found],
        [bound.edit_distance == 0 for bound in found],
    )
    save_figure(figure, "predict.png")


if __name__ == "__main__":
    main()
