"""What frozen embeddings know of seven properties (paper: table "Downstream tasks performance").

    grale reproduce table-downstream --labelled FOLDER --data POOL32_FOLDER --max-minutes 30

Rows: the shipped model; GRALE and its rivals, each pre-trained here on the molecules of --data with
the same minutes; what a chemist would use instead; the paper's numbers. Protocol: `tasks/probe.py`.

Models and scores are kept in FOLDER/runs/table-downstream, so that a second run only adds what is
missing; a score is found again only for the same vectors, targets and head.

Departures: POOL 32 instead of PUBCHEM 32; at `cpu` a sample of QM9. Without --data nothing is
trained. A set that is not in --labelled and cannot be downloaded is "not run", as QM40.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from grale.data.molecules.sets import LabelledMolecules, read_set
from grale.experiments.contest import (
    Contender,
    Contest,
    folder_of,
    settings_of,
    trained,
    transport_pooling,
)
from grale.experiments.kept import kept
from grale.experiments.recipes import at_scale
from grale.experiments.request import Request
from grale.experiments.table import Table
from grale.experiments.tables.embedding_tuning import at_size_of, tuned
from grale.settings.files import override
from grale.tasks.chemnet import check_chemnet
from grale.tasks.contenders import (
    CHEMNET,
    LATENT,
    UNTRAINED,
    Maker,
    Molecules,
    Vectors,
    find_makers,
    join,
    made_with,
    make_vectors,
    read_molecules,
)
from grale.tasks.probe import METRICS, ProbeConfig, left_out, probe, spread

NOT_RUN = "not run"
SHIPPED = "molecules"
RECIPES = {"smoke": "pool16", "cpu": "pool16", "paper": "pubchem32"}
LONGER = ["model.num_tokens=16", "pigvae.latent_dim=512", "graphvae.latent_dim=512"]
"""Embeddings of 512 numbers, the paper's."""
BOTH, ONE = {"": ", description", LATENT: ", latent"}, {"": ""}
"""Readings of a model by the ending of its contender, and what its row is called for it."""
PRETRAINED: tuple[tuple[Contender, dict[str, str]], ...] = (
    (Contender("GRALE, the paper's pooling"), BOTH),
    (Contender("PIGVAE", ["architecture=pigvae"]), BOTH),
    (tuned("SimGRACE", "Muon, batches of 64, eta 0.01"), ONE),
    (tuned("InfoGraph", "published, batches of 256, weights not averaged"), ONE),
    (tuned("GraphMAE", "Muon, batches of 64"), ONE),
    (tuned("VGAE", "Muon, batches of 64"), ONE),
)
"""Whoever is trained for the table. A new rival is a line, with ONE reading if it cannot decode."""
CHEMISTS = ("rdkit", "ecfp", "atompair", "counts", CHEMNET)


class PaperSet(NamedTuple):
    """A column of the table."""

    title: str
    head: str
    paper: Sequence[float]
    """Of each row of PAPER_ROWS."""


class Scores(NamedTuple):
    """What one contender, or all of them, reach on one set."""

    task: str
    num_rows: int
    num_shared: int
    """Tested rows whose molecule was also learned from, all splits."""
    scores: dict[str, dict[str, list[float]]]
    """By contender, metric and split."""


PAPER_ROWS = ("SimGRACE", "InfoGraph", "GraphMAE", "GVAE", "PIGVAE", "GRALE")
SETS = {
    "qm9": PaperSet("QM9", "mlp", (0.110, 0.122, 0.222, 0.765, 0.031, 0.015)),
    "qm40": PaperSet("QM40", "mlp", (0.025, 0.020, 0.247, 0.328, 0.019, 0.018)),
    "esol": PaperSet("ESOL", "svm", (0.293, 0.255, 0.291, 0.306, 0.279, 0.274)),
    "lipophilicity": PaperSet("Lipo", "svm", (0.534, 0.495, 0.527, 0.668, 0.523, 0.511)),
    "freesolv": PaperSet("FreeSolv", "svm", (0.374, 0.297, 0.378, 0.344, 0.283, 0.272)),
    "bbbp": PaperSet("BBBP", "svm", (0.745, 0.729, 0.773, 0.705, 0.675, 0.731)),
    "bace": PaperSet("BACE", "svm", (0.866, 0.845, 0.857, 0.771, 0.816, 0.821)),
}
MOST_ROWS = {"smoke": 40, "cpu": 10_000, "paper": 200_000}
"""Of a set; --count says otherwise. Drawn at random, as QM9 is sorted by size."""


def make(request: Request) -> list[Table]:
    """Train what is missing, probe all on every set that is there."""
    if request.labelled is None:
        raise ValueError("table-downstream needs --labelled FOLDER, which holds esol.csv and so on")
    sets, absent = _read_sets(request.labelled)
    names, left_out = contenders(request)
    makers = find_makers([name for row in names.values() for name in row])
    probed = {key: _probed(request, key, found, names, makers) for key, found in sets.items()}
    rows = [[label, *(_cell(probed.get(key), row) for key in SETS)] for label, row in names.items()]
    rows += [[label, *([NOT_RUN] * len(SETS))] for label in left_out]
    for place, label in enumerate(PAPER_ROWS):
        quoted = (f"{each.paper[place]:.3f}" for each in SETS.values())
        rows.append([f"{label}, quoted from the paper", *quoted])
    caption = _caption(request, probed, {**absent, **left_out})
    values = {
        key: {"rows": found.num_rows, "scores": found.scores} for key, found in probed.items()
    }
    header = ["vectors", *(each.title for each in SETS.values())]
    title = "What frozen embeddings know"
    models = {"models": made_with(makers)}
    return [Table("table-downstream", title, header, rows, caption, values, models)]


def contenders(request: Request) -> tuple[dict[str, list[str]], dict[str, str]]:
    """Rows by label, each with its contenders of `grale probe`, one per seed; and absent ones."""
    names = {f"{SHIPPED}{label}": [f"{SHIPPED}{ending}"] for ending, label in BOTH.items()}
    names[f"{SHIPPED} and rdkit"] = [f"{SHIPPED}+rdkit"]
    if request.data is not None:
        names |= _pretrained(request, request.data)
    names |= {name: [name] for name in (UNTRAINED, *CHEMISTS, *request.also)}
    try:
        check_chemnet()
    except ImportError as error:
        return {label: row for label, row in names.items() if label != CHEMNET}, {
            CHEMNET: str(error)
        }
    return names, {}


def _pretrained(request: Request, data: str) -> dict[str, list[str]]:
    """Folders of the models that are trained for the table, by row."""
    recipe = at_scale(RECIPES[request.scale], request.scale)
    changes = [f"data.path={data}", *([] if request.scale == "smoke" else LONGER)]
    usual = request.contest("table-downstream", "molecules")
    contest = replace(usual, recipe=override(recipe, changes))
    found: dict[str, list[str]] = {}
    for named, readings in (*PRETRAINED, (transport_pooling(contest), BOTH)):
        contender = at_size_of(request.scale, named)
        folders = [_trained(contest, contender, seed) for seed in range(contest.seeds)]
        for ending, label in readings.items():
            found[f"{contender.name}{label}"] = [f"{folder}{ending}" for folder in folders]
    return found


def _trained(contest: Contest, contender: Contender, seed: int) -> Path:
    """Folder of a model, after training it if it is not there."""
    contest.on_model(f"{contender.name}, seed {seed}")
    folder = folder_of(contest, contender, seed)
    trained(settings_of(contest, contender, seed), folder, contest.minutes, contest.watch)
    return folder


def _read_sets(folder: Path) -> tuple[dict[str, LabelledMolecules], dict[str, str]]:
    """Sets that are there or can be downloaded, and why the others are not."""
    found: dict[str, LabelledMolecules] = {}
    absent: dict[str, str] = {}
    for key, wanted in SETS.items():
        try:
            found[key] = read_set(key, folder)
        except OSError as error:
            absent[wanted.title] = str(error)
    if not found:
        raise ValueError(f"--labelled {folder} holds none of the sets; {absent['ESOL']}")
    return found, absent


def _probed(
    request: Request,
    key: str,
    found: LabelledMolecules,
    names: dict[str, list[str]],
    makers: dict[str, Maker],
) -> Scores:
    """All contenders on one set, on the rows that all of them can take."""
    request.on_model(f"vectors of {SETS[key].title}")
    assert found.targets is not None
    most = request.count or MOST_ROWS[request.scale]
    rows = np.sort(np.random.default_rng(0).permutation(len(found.smiles))[:most])
    molecules = read_molecules([found.smiles[row] for row in rows])
    made = make_vectors(makers, molecules)
    vectors = {name: join(name, made) for row in names.values() for name in row}
    is_left = np.array([why is None for why in left_out(found.targets[rows], vectors)])
    targets = np.where(is_left, found.targets[rows], np.nan)
    each = []
    for name, values in vectors.items():
        request.on_model(f"probing {SETS[key].title}: {name}")
        each.append(_scores(request, key, molecules, targets, {name: values}))
    scores = {name: metrics for one in each for name, metrics in one.scores.items()}
    return each[0]._replace(scores=scores)


def _scores(
    request: Request,
    key: str,
    molecules: Molecules,
    targets: NDArray[np.float64],
    vectors: dict[str, Vectors],
) -> Scores:
    """Scores of one contender, from a file if the same vectors were probed before."""
    config = ProbeConfig(head=SETS[key].head)
    (values,) = (made.values for made in vectors.values())
    digest = sha256(f"{config} {molecules.entries}".encode() + targets.tobytes() + values.tobytes())
    folder = request.folder / "runs" / "table-downstream" / "probes"
    file = folder / f"{key}-{digest.hexdigest()[:16]}.json"

    def compute() -> dict[str, Any]:
        found = probe(molecules, targets, vectors, config)
        scores = Scores(found.task, len(found.rows), sum(found.shared), found.scores)
        return scores._asdict()

    read = Scores(**kept(file, compute))
    (metrics,) = read.scores.values()
    (name,) = vectors
    return read._replace(scores={name: metrics})


def _cell(probed: Scores | None, names: Sequence[str]) -> str:
    """Mean and deviation over splits and seeds."""
    if probed is None:
        return NOT_RUN
    metric = METRICS[probed.task][0]
    return spread([value for name in names for value in probed.scores[name][metric]])


def _caption(request: Request, probed: dict[str, Scores], absent: dict[str, str]) -> str:
    rows = ", ".join(f"{SETS[key].title} {found.num_rows:,}" for key, found in probed.items())
    shared = ", ".join(
        f"{SETS[key].title} {found.num_shared}" for key, found in probed.items() if found.num_shared
    )
    text = (
        "Mean absolute error in deviations, of BBBP and BACE the area under the ROC curve; mean "
        f"and deviation over five random splits of 90 % and 10 %. Rows that all can take: {rows}. "
    )
    if shared:
        text += f"Tested rows whose molecule was also learned from, all splits: {shared}. "
    if request.data is not None:
        text += f"Pre-trained on {request.data_name('molecules')}, {request.budget()}. "
    reasons = "; ".join(f"{name}: {why}" for name, why in absent.items())
    return text + (f"Not run: {reasons}. " if reasons else "") + "The paper's are on PUBCHEM 32."
