"""What each term of training brings to the two readings (docs/decisions/013).

    grale prepare pool POOL data/pool16d --descriptors
    grale reproduce table-description --data data/pool16d --max-minutes 8

Pooling by transport with one term after the other, equal minutes: exactness, how much five
neighbours and a ridge know of logP (not among the targets), and what a wrong step costs.

Departures: not in the paper.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import islice

from grale.data.sources import DataConfig, open_source, stream_held_out
from grale.experiments.contest import Contender, Contest, trained_and_read
from grale.experiments.recipes import at_scale
from grale.experiments.request import Request
from grale.experiments.table import Table
from grale.model.autoencoder import GRALE
from grale.settings.files import override
from grale.tasks.geometry import measure_geometry, suits
from grale.training.config import TrainConfig
from grale.training.evaluation import evaluate

PROPERTY = "logP"
MANY = 100  # molecules looked at for each that has 8 to 16 atoms, at most
MINUTES = {"smoke": None, "cpu": 8.0, "paper": 120.0}
COUNTS = {"smoke": 16, "cpu": 2_000, "paper": 10_000}

SPHERE = ("model.latent.on_sphere=true",)
NOISE = (*SPHERE, "model.latent.noise_std=0.3")
COUNTED = "model.description.counts=0.1"
DESCRIBED = "model.description.properties=0.2"
CONTENDERS = (
    Contender("no term"),
    Contender("tokens on a sphere", SPHERE),
    Contender("sphere, noise 0.3", NOISE),
    Contender("sphere, noise, counts", (*NOISE, COUNTED)),
    Contender("sphere, noise, descriptors", (*NOISE, DESCRIBED)),
    Contender("sphere, noise, counts, descriptors", (*NOISE, COUNTED, DESCRIBED)),
    Contender(
        "the same, a tenth of the labels hidden",
        (*NOISE, COUNTED, DESCRIBED, "model.featurizer.hidden_share=0.1"),
    ),
)
READ = ("neighbours_latent", "neighbours_description", "ridge_latent", "ridge_description")
HEADER = [
    "terms", "exact", "neighbours, latent", "neighbours, description", "ridge, latent",
    "ridge, description", "valid after a step of 30 %", "valid half way", "steps",
]  # fmt: skip


def make(request: Request) -> list[Table]:
    """Train the missing models, and measure all."""
    if request.data is None:
        raise ValueError(
            "table-description needs --data: molecules prepared by grale prepare pool --descriptors"
        )
    tokens = open_source(DataConfig(source="shards", path=request.data)).space.max_nodes
    changes = [f"data.path={request.data}", f"model.num_tokens={tokens}"]
    contest = replace(
        request.contest("table-description", "molecules"),
        recipe=override(at_scale("pool16-transport", request.scale), changes),
        minutes=request.minutes or MINUTES[request.scale],
        count=request.count or COUNTS[request.scale],
        split="valid",
    )
    found = {each.name: _measured(contest, each) for each in CONTENDERS}
    rows = [
        [
            name,
            f"{numbers['exact']:.1%}",
            *(f"{numbers[key]:.3f}" for key in READ),
            f"{numbers['moved']:.1%}",
            f"{numbers['midpoints']:.1%}",
            f"{int(numbers['steps']):,}",
        ]
        for name, numbers in found.items()
    ]
    length = f"{contest.minutes:g} minutes" if contest.minutes else "the recipe's steps"
    caption = (
        f"{contest.count:,} validation molecules of {request.data_name('molecules')}, one seed, "
        f"{length} each. R2 of {PROPERTY}, read from the latent and from "
        "the description of molecules of 8 to 16 atoms; valid: valid molecules in one piece."
    )
    title = "What each term of training brings"
    return [Table("table-description", title, HEADER, rows, caption, dict(found))]


def _measured(contest: Contest, contender: Contender) -> dict[str, float]:
    """Exactness and geometry of one model, and the length of its training."""
    contest.on_model(contender.name)

    def compute(model: GRALE, config: TrainConfig) -> dict[str, float]:
        path = str(config.data.path)
        graphs = list(stream_held_out(path, contest.count, contest.split))
        others = stream_held_out(path, MANY * contest.count, contest.split)
        suited = islice((graph for graph in others if suits(model.space, graph)), contest.count)
        found = measure_geometry(model, list(suited))
        knn, ridge = found.neighbours[PROPERTY], found.ridge[PROPERTY]
        return {
            "exact": evaluate(model, graphs).accuracy,
            **dict(zip(READ, (*knn, *ridge))),
            "moved": found.moved.value,
            "midpoints": found.midpoints.value,
        }

    return trained_and_read(contest, contender, "readings", compute)
