"""How the rivals were tuned: short runs with one setting changed at a time.

    grale reproduce table-tuning --scale cpu

All models take the same steps on the same graphs, so that a busy machine changes nothing. Settings
that help by more than chance are used in Table 1.

Departures: the paper does not say how it tuned its rivals.
"""

from __future__ import annotations

from dataclasses import replace

from grale.experiments.contest import Contender, Score, compete, spread
from grale.experiments.request import Request
from grale.experiments.table import Table
from grale.settings.files import override

STEPS = {"cpu": 600, "paper": 20_000}
COUNTS = {"smoke": 8, "cpu": 1_000, "paper": 10_000}
RATES = {
    "muon": [f"optimizer.muon_learning_rate={rate}" for rate in ("0.004", "0.016")],
    "adam": [f"optimizer.learning_rate={rate}" for rate in ("0.00005", "0.0003")],
}
TRIALS = {
    "pigvae": [
        *(f"pigvae.temperature={heat}" for heat in ("0.1", "0.01", "0.001", "0.0001")),
        "pigvae.kl_weight=0.001",
        "pigvae.entropy_weight=0.1",
        "pigvae.noise_std=0.01",
        "pigvae.position_dim=64",
        "pigvae.message_dim=128",
    ],
    "graphvae": [
        *(f"graphvae.kl_weight={weight}" for weight in ("0.0", "0.00001", "0.0001", "0.01", "1.0")),
        "graphvae.aggregation=sum",
        "graphvae.num_convolutions=3",
        "graphvae.encoder_dim=256",
        "graphvae.decoder_dims=[1024,2048]",
        "graphvae.kl_weight=0.0001 graphvae.aggregation=sum",
    ],
}
"""Changes to each rival, one setting at a time; the last of GraphVAE combines the two that help."""
BASES = {
    "pigvae": ["architecture=pigvae"],
    "graphvae": ["architecture=graphvae", "graphvae.kl_weight=0.001"],
}
NAMES = {"pigvae": "PIGVAE", "graphvae": "GraphVAE"}


def contenders(optimizer: str) -> list[Contender]:
    """GRALE, and each rival unchanged and with each change."""
    found = [Contender("GRALE")]
    for rival, base in BASES.items():
        found.append(Contender(NAMES[rival], base))
        for changes in [*RATES[optimizer], *TRIALS[rival]]:
            setting = changes.replace(f"{rival}.", "").replace("optimizer.", "")
            found.append(Contender(f"{NAMES[rival]}, {setting}", [*base, *changes.split()]))
    return found


def make(request: Request) -> list[Table]:
    """Train the missing models, and score all."""
    contest = request.contest("table-tuning", "coloring")
    if request.scale != "smoke":
        steps = [f"max_steps={STEPS[request.scale]}"]
        contest = replace(contest, recipe=override(contest.recipe, steps))
    count = request.count or COUNTS[request.scale]
    contest = replace(contest, minutes=request.minutes, count=count, split="valid")
    kind = contest.recipe.get("optimizer", {}).get("kind", "adam")
    scores = compete(contest, contenders(kind))
    rows = [_row(name, found) for name, found in scores.items()]
    header = ["model", "edit distance", "exact, %", "exact*, %", "steps", "minutes"]
    caption = (
        f"{count:,} validation graphs of {request.data_name('coloring')}, {request.num_seeds} "
        "seed(s), one setting changed at a time; steps and minutes as shown. Star: the true number "
        "of nodes is given."
    )
    values = {name: [score._asdict() for score in found] for name, found in scores.items()}
    return [Table("table-tuning", "Tuning of the rivals", header, rows, caption, values)]


def _row(name: str, found: list[Score]) -> list[str]:
    return [
        name,
        spread([score.edit_distance for score in found]),
        spread([score.exact for score in found], 100.0),
        spread([score.exact_at_size for score in found], 100.0),
        f"{sum(score.steps for score in found) // len(found):,}",
        f"{sum(score.minutes for score in found) / len(found):.1f}",
    ]
