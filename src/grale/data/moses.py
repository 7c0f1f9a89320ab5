"""The data of MOSES (Polykovskiy et al. 2020), read from the wheel of `molsets`, without its code.

The package pins old versions of others and is not needed: `pip install --no-deps molsets`.
"""

from __future__ import annotations

import csv
import gzip
from importlib.util import find_spec
from pathlib import Path
from typing import Literal

MosesSplit = Literal["train", "test", "test_scaffolds"]


def moses_folder() -> Path:
    """Folder of the installed package, which is not imported."""
    spec = find_spec("moses")
    places = [] if spec is None else list(spec.submodule_search_locations or [])
    for place in places:
        if (Path(place) / "dataset" / "data").is_dir():
            return Path(place)
    raise ImportError(
        "the data of MOSES is not installed; it comes with molsets: pip install --no-deps molsets"
    )


def read_moses(split: MosesSplit, most: int | None = None) -> list[str]:
    """SMILES of a split, at most that many."""
    path = moses_folder() / "dataset" / "data" / f"{split}.csv.gz"
    found: list[str] = []
    with gzip.open(path, "rt", encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            if most is not None and len(found) == most:
                break
            found.append(row["SMILES"])
    return found


def read_filters() -> list[str]:
    """Patterns (SMARTS) that a molecule of MOSES must not contain: MCF and PAINS."""
    folder = moses_folder() / "metrics"
    with (folder / "mcf.csv").open(encoding="utf-8", newline="") as file:
        medicinal = [row["smarts"] for row in csv.DictReader(file)]
    with (folder / "wehi_pains.csv").open(encoding="utf-8", newline="") as file:
        return [*medicinal, *(row[0] for row in csv.reader(file))]
