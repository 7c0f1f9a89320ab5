"""Three graph-level autoencoders reconstruct graphs (paper: "Reconstruction performances").

    grale reproduce table-reconstruction --scale cpu --data POOL16_FOLDER

Departures: at `cpu`, COLORING 10 and POOL 16, and the same minutes for every model. There are more
rows: PIGVAE with the size it predicts, both rivals with the settings that helped in `table-tuning`,
and GRALE with pooling by transport (decisions/012). Both metrics are also computed with the true
size given to every model.
"""

from __future__ import annotations

from grale.experiments.contest import Contender, Score, compete, spread, transport_pooling
from grale.experiments.request import Dataset, Request
from grale.experiments.table import Table

CPU_SHARE = {"coloring": 0.5, "molecules": 1.3}  # of the usual minutes: molecules learn slower
RIVALS = (
    Contender("GRALE"),
    Contender("PIGVAE", ["architecture=pigvae"]),
    Contender("GraphVAE", ["architecture=graphvae"]),
    Contender(
        "GraphVAE, KL 0.0001, sums",
        ["architecture=graphvae", "graphvae.kl_weight=0.0001", "graphvae.aggregation=sum"],
    ),
)
ON_COLORING = (
    Contender("PIGVAE, messages 128", ["architecture=pigvae", "pigvae.message_dim=128"]),
)
"""A third of the steps in the same minutes, which is not enough on molecules."""
PAPER = {
    "coloring": {"GRALE": (0.02, 99.20), "PIGVAE": (0.09, 85.30), "GraphVAE": (2.13, 35.90)},
    "molecules": {"GRALE": (0.11, 93.0), "PIGVAE": (1.69, 41.0), "GraphVAE": (3.72, 7.8)},
}
"""Edit distance and accuracy; PIGVAE's with the true size given."""


def make(request: Request) -> list[Table]:
    """Train the missing models, and score all; one table per dataset."""
    return [_table(request, name) for name in request.datasets()]


def rivals(data: str) -> list[Contender]:
    """Rows of the table of one dataset, except pooling by transport."""
    return [*RIVALS, *(ON_COLORING if data == "coloring" else ())]


def _table(request: Request, data: Dataset) -> Table:
    contest = request.contest("table-reconstruction", data, CPU_SHARE[data])
    scores = compete(contest, [*rivals(data), transport_pooling(contest)])
    header = ["model", "edit distance", "exact, %", "edit distance*", "exact*, %", "size right, %"]
    header += ["steps", "minutes", "parameters", "paper"]
    rows = [_row(name, found, PAPER[data]) for name, found in scores.items()]
    caption = (
        f"{contest.count:,} unseen graphs of {request.data_name(data)}; "
        f"{request.budget(CPU_SHARE[data])}. "
        "Stars: the true number of nodes is given (as in the paper's PIGVAE row). "
        "The paper's numbers are for COLORING 20 and PUBCHEM 16, after GPU-hours of training."
    )
    values = {name: [score._asdict() for score in found] for name, found in scores.items()}
    title = f"Reconstruction, {request.data_name(data)}"
    return Table(f"table-reconstruction-{data}", title, header, rows, caption, values)


def _row(name: str, found: list[Score], paper: dict[str, tuple[float, float]]) -> list[str]:
    printed = "{}, {} %".format(*paper[name]) if name in paper else "-"
    return [
        name,
        spread([score.edit_distance for score in found]),
        spread([score.exact for score in found], 100.0),
        spread([score.edit_distance_at_size for score in found]),
        spread([score.exact_at_size for score in found], 100.0),
        spread([score.size_right for score in found], 100.0),
        f"{sum(score.steps for score in found) // len(found):,}",
        f"{sum(score.minutes for score in found) / len(found):.1f}",
        f"{found[0].parameters:,}",
        printed + ("*" if name == "PIGVAE" else ""),
    ]
