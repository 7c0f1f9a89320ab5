"""How the rivals without a decoder were tuned: short runs, one setting changed at a time.

    grale reproduce table-embedding-tuning --data POOL32_FOLDER --max-minutes 1.5

Embeddings cannot be scored by reconstruction. So a support vector machine, the head of the table
that they are tuned for, predicts properties of validation molecules from them; none of the labelled
sets is looked at. The best setting of each rival is used in Table 3.

Departures: the paper does not say how it tuned its rivals.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from grale.codec.graph_autoencoder import GraphAutoencoder
from grale.experiments.contest import Contender, Contest, trained_and_read, unseen_graphs
from grale.experiments.recipes import Scale
from grale.experiments.request import Request
from grale.experiments.table import Table
from grale.graphs.graph import Graph
from grale.tasks.heads import r2_of
from grale.tasks.properties import named_property
from grale.training.config import TrainConfig

HEAD = "svm"
PROPERTIES = ("logP", "QED", "TPSA")
MINUTES = {"smoke": None, "cpu": 1.5, "paper": 60.0}
COUNTS = {"smoke": 24, "cpu": 2_000, "paper": 10_000}
FITTED_SHARE = 0.75

ADAM = ("optimizer.kind=adam", "optimizer.learning_rate=0.001")
BATCHES = ("batch_size=256",)
LAST = "optimizer.ema_decay=0.0"  # BatchNorm's statistics are of the last weights
TRIALS: dict[str, dict[str, tuple[str, ...]]] = {
    "SimGRACE": {
        "Muon, batches of 64": (),
        "as published: Adam 0.001, batches of 256": (*ADAM, *BATCHES),
        "published, eta 0.1": (*ADAM, *BATCHES, "simgrace.perturbation=0.1"),
        "published, tau 0.2": (*ADAM, *BATCHES, "simgrace.temperature=0.2"),
        "published, 512 wide": (*ADAM, *BATCHES, "simgrace.hidden_dim=512"),
        "Muon, batches of 64, eta 0.1": ("simgrace.perturbation=0.1",),
        "Muon, batches of 64, eta 0.01": ("simgrace.perturbation=0.01",),
        "Muon, batches of 64, eta 0.1, weights not averaged": ("simgrace.perturbation=0.1", LAST),
    },
    "InfoGraph": {
        "Muon, batches of 64": (),
        "as published: Adam 0.001, batches of 128": (*ADAM, "batch_size=128"),
        "published, batches of 256": (*ADAM, *BATCHES),
        "published, Adam 0.0001": (ADAM[0], "optimizer.learning_rate=0.0001", "batch_size=128"),
        "published, batches of 256, weights not averaged": (*ADAM, *BATCHES, LAST),
    },
    "GraphMAE": {
        "Muon, batches of 64": (),
        "as published: Adam 0.001, batches of 256": (*ADAM, *BATCHES),
        "published, half of the nodes hidden": (*ADAM, *BATCHES, "graphmae.mask_share=0.5"),
        "published, alpha 2": (*ADAM, *BATCHES, "graphmae.error_power=2.0"),
        "published, 512 wide": (*ADAM, *BATCHES, "graphmae.hidden_dim=512"),
        "Muon, batches of 64, weights not averaged": (LAST,),
    },
    "VGAE": {
        "Muon, batches of 64": (),
        "as published: Adam 0.01": (ADAM[0], "optimizer.learning_rate=0.01"),
        "Adam 0.001": ADAM,
        "published, KL weight 0.01": (
            ADAM[0], "optimizer.learning_rate=0.01", "vgae.kl_weight=0.01",
        ),
    },
}  # fmt: skip
"""Settings of each rival by what its row is called."""


def tuned(rival: str, trial: str) -> Contender:
    """A rival with the settings of one of its trials, under its own name."""
    return Contender(rival, [f"architecture={rival.lower()}", *TRIALS[rival][trial]])


def at_size_of(scale: Scale, contender: Contender) -> Contender:
    """The contender; a smoke run has few graphs, and keeps its own size of batches."""
    changes = [each for each in contender.changes if not each.startswith("batch_size=")]
    return contender._replace(changes=changes) if scale == "smoke" else contender


def contenders() -> list[Contender]:
    """Each rival with each of its settings."""
    return [
        Contender(f"{rival}, {trial}", tuned(rival, trial).changes)
        for rival, trials in TRIALS.items()
        for trial in trials
    ]


def make(request: Request) -> list[Table]:
    """Train the missing models, and score all."""
    if request.data is None:
        raise ValueError("table-embedding-tuning needs --data: a folder of prepared molecules")
    usual = request.contest("table-embedding-tuning", "molecules")
    minutes = request.minutes or MINUTES[request.scale]
    count = request.count or COUNTS[request.scale]
    contest = replace(usual, minutes=minutes, count=count, split="valid")
    tried = [at_size_of(request.scale, each) for each in contenders()]
    found = {each.name: _scored(contest, each) for each in tried}
    header = ["model", *PROPERTIES, "mean", "steps", "minutes"]
    rows = [
        [
            name,
            *(f"{numbers[each]:.3f}" for each in PROPERTIES),
            f"{np.mean([numbers[each] for each in PROPERTIES]):.3f}",
            f"{int(numbers['steps']):,}",
            f"{numbers['minutes']:.1f}",
        ]
        for name, numbers in found.items()
    ]
    caption = (
        f"R2 of properties of {count:,} validation molecules of {request.data_name('molecules')}, "
        f"predicted by the head `{HEAD}` from three quarters of them; one seed, one setting "
        "changed at a time."
    )
    title = "Tuning of the rivals without a decoder"
    return [Table("table-embedding-tuning", title, header, rows, caption, dict(found))]


def _scored(contest: Contest, contender: Contender) -> dict[str, float]:
    """R2 of every property, and the length of the training."""
    contest.on_model(contender.name)

    def compute(model: GraphAutoencoder, config: TrainConfig) -> dict[str, float]:
        return known_properties(model, unseen_graphs(config, contest.count, contest.split))

    return trained_and_read(contest, contender, "properties", compute)


def known_properties(model: GraphAutoencoder, graphs: list[Graph]) -> dict[str, float]:
    """R2 of each property on the last quarter of the graphs, read from their descriptions."""
    vectors = model.describe(graphs)
    fitted = int(FITTED_SHARE * len(graphs))

    def values(name: str) -> NDArray[np.float64]:
        return np.array([named_property(name)(graph) for graph in graphs])

    return {name: r2_of(HEAD, vectors, values(name), fitted) for name in PROPERTIES}
