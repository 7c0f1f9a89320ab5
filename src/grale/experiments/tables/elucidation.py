"""From a Morgan fingerprint to the molecule with its bonds (beyond the paper).

    grale reproduce table-elucidation --model PREDICTOR --data PAIRS

Rows add one step at a time: the likeliest graph, more of them, reranking by the fingerprint of the
decoded molecule, and search. The ceiling counts molecules of the dataset with the same fingerprint.
"""

from __future__ import annotations

import time
from dataclasses import replace
from itertools import chain
from pathlib import Path

from grale.data.pairs import SPLITS, first_pairs, open_pairs, stored_pairs
from grale.experiments.picture import PictureConfig, Progress
from grale.experiments.table import Table
from grale.model.predictor import GralePredictor
from grale.tasks.elucidate import ElucidateConfig, check_elucidates, elucidate
from grale.tasks.elucidation_scores import ElucidationReport, ceiling, elucidation_report

FIRST = ElucidateConfig(likeliest=10, reranks=False)
STEPS: dict[str, ElucidateConfig] = {
    "likeliest graphs": FIRST,
    "100 likeliest, reranked by fingerprint": replace(FIRST, likeliest=100, reranks=True),
    "and 4 rounds of search": replace(FIRST, likeliest=100, reranks=True, rounds=4),
}
PASSES = len(STEPS)
PUBLISHED = (
    ("Mendez, Krzakala et al. 2026, PubChem up to 32 atoms", "15.79", "7.01"),
    ("Any2Graph, in the same source", "0.001", "-"),
)
"""Exact in percent and edit distance, as published; other molecules than here."""


def make(model: GralePredictor, config: PictureConfig, progress: Progress = None) -> list[Table]:
    """Score every step on the test split of a dataset of pairs."""
    check_elucidates(model)
    if config.data is None:
        raise ValueError(
            "table-elucidation needs --data: pairs that `grale prepare fingerprints` has made"
        )
    folder = Path(config.data)
    if open_pairs(folder / "test").inputs != model.inputs:
        raise ValueError(f"{folder} holds other inputs than {model.inputs.called()}")
    pairs = first_pairs(folder / "test", config.count)
    assert pairs.inputs is not None
    targets = pairs.graphs()
    rows, values = [], {}
    for name, step in STEPS.items():
        begin = time.perf_counter()
        answers = elucidate(model, pairs.inputs, step, progress or (lambda done: None))
        seconds = (time.perf_counter() - begin) / len(targets)
        report = elucidation_report(targets, answers)
        rows.append(_row(name, report, seconds))
        values[name] = {**report._asdict(), "seconds": seconds}
    everything = chain.from_iterable(stored_pairs(folder / split) for split in SPLITS)
    top = ceiling(pairs.inputs, everything)
    values["ceiling"] = top._asdict()
    rows.append(["ceiling", f"{100 * top.top1:.2f}", f"{100 * top.top10:.2f}", *["-"] * 4])
    rows += [[name, exact, "-", edits, "-", "-", "-"] for name, exact, edits in PUBLISHED]
    header = ["", "top-1, %", "top-10, %", "edit distance", "Tanimoto", "same fingerprint, %"]
    caption = (
        f"{len(targets):,} test molecules of {folder.name}, bonds included; input: "
        f"{model.inputs.called()}, radius 2. Tanimoto and same fingerprint: of the first answer. "
        f"Ceiling: {100 * top.shared:.2f} % of these fingerprints belong to several molecules of "
        "the dataset, which nobody can tell apart. Published rows are on other molecules."
    )
    title = "From fingerprints to molecules"
    return [Table("table-elucidation", title, [*header, "s each"], rows, caption, values)]


def _row(name: str, report: ElucidationReport, seconds: float) -> list[str]:
    return [
        name,
        f"{100 * report.top1:.2f}",
        f"{100 * report.top10:.2f}",
        f"{report.edit_distance:.2f}",
        f"{report.similarity:.3f}",
        f"{100 * report.same_fingerprint:.2f}",
        f"{seconds:.2f}",
    ]
