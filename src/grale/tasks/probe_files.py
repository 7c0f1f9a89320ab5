"""A probe from a file to files: a picture, its numbers, and a table with a row for every row.

    OUT.png      contenders beside each other, and a parity plot or ROC curves
    OUT.json     protocol, counts, every score of every split
    OUT.parquet  one row per row of the input: target, why it was left out, mean predictions

They are written together at the end, each whole; what fails leaves nothing behind.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from matplotlib.figure import Figure

from grale.data.molecules.records import GRALE_KEY
from grale.files import whole, write_whole
from grale.plot.figures import save_figure
from grale.plot.probing import best_of, parity_figure, roc_figure
from grale.tasks.contenders import Molecules
from grale.tasks.heads import REGRESSION
from grale.tasks.probe import METRICS, ProbeConfig, Probed

PICTURES = (".png", ".svg")


def check_picture(source: Path, out: Path) -> None:
    """Raise, before any work is done, if the files could not be written or would hide the input."""
    if out.suffix.lower() not in PICTURES:
        raise ValueError(f"{out}: let the picture's name end in one of {', '.join(PICTURES)}")
    for path in files_of(out):
        if path.resolve() == source.resolve():
            raise ValueError(f"{path} would be written over its own input; choose another --out")
        if path.is_dir():
            raise ValueError(f"{path} is a folder; choose another --out")


def files_of(out: Path) -> tuple[Path, Path, Path]:
    """Picture, numbers and rows."""
    return out, out.with_suffix(".json"), out.with_suffix(".parquet")


def write_probed(
    probed: Probed,
    molecules: Molecules,
    targets: np.ndarray,
    config: ProbeConfig,
    out: Path,
    models: Mapping[str, Mapping[str, str | None]] | None = None,
) -> tuple[Path, Path, Path]:
    """Write all three files; `models` says which models stand behind the contenders."""
    picture, numbers, rows = files_of(out)
    table = row_table(probed, molecules, targets)
    made_with = {"models": dict(models or {})}
    table = table.replace_schema_metadata({GRALE_KEY.decode(): json.dumps(made_with)})
    data = as_data(probed, config) | made_with
    text = json.dumps(data, indent=2) + "\n"
    save_figure(figure_of(probed, targets), picture)
    write_whole(numbers, text)
    with whole(rows) as partial:
        pq.write_table(table, partial, compression="zstd")
    return picture, numbers, rows


def figure_of(probed: Probed, targets: np.ndarray) -> Figure:
    """Parity plot of the best contender, or ROC curves of all."""
    metric = METRICS[probed.task][0]
    scores = {name: found[metric] for name, found in probed.scores.items()}
    is_tested = np.isfinite(next(iter(probed.predictions.values())))
    if probed.task == REGRESSION:
        best = best_of(scores, is_error=True)
        said = probed.predictions[best][is_tested]
        return parity_figure(scores, metric, best, targets[is_tested], said)
    classes = (targets[is_tested] == np.unique(targets[probed.rows])[1]).astype(np.int64)
    said_by_all = {name: each[is_tested] for name, each in probed.predictions.items()}
    return roc_figure(scores, metric, classes, said_by_all)


def as_data(probed: Probed, config: ProbeConfig) -> dict[str, Any]:
    """Everything but the predictions, for a JSON file."""
    return {
        "protocol": {**asdict(config), "task": probed.task},
        "rows": len(probed.reasons),
        "compared": len(probed.rows),
        "left_out": dict(reasons_by_count(probed.reasons)),
        "tested_rows_whose_molecule_was_learned_from": probed.shared,
        "tested_rows": [len(split.test) for split in probed.splits],
        "scores": probed.scores,
    }


def reasons_by_count(reasons: Sequence[str | None]) -> list[tuple[str, int]]:
    """Why rows were left out, the commonest first."""
    return Counter(why for why in reasons if why).most_common()


def row_table(probed: Probed, molecules: Molecules, targets: np.ndarray) -> pa.Table:
    """One row for every row of the input."""
    times = np.zeros(len(targets), dtype=np.int64)
    for split in probed.splits:
        times[probed.rows[split.test]] += 1
    columns = {
        "entry": pa.array(molecules.entries, pa.string()),
        "target": pa.array(targets, mask=~np.isfinite(targets)),
        "reason": pa.array(probed.reasons, pa.string()),
        "times_tested": pa.array(times),
    }
    for name, said in probed.predictions.items():
        columns[f"predicted by {name}"] = pa.array(said, mask=~np.isfinite(said))
    return pa.table(columns)
