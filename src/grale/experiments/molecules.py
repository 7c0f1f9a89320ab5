"""Finds the molecules that an experiment trains on, or prepares them (not in the paper).

Departures: none.
"""

from __future__ import annotations

from pathlib import Path

from grale.data.molecule_pool import open_pool
from grale.data.prepare import PrepareConfig, prepare

USUAL_FOLDER = Path("data/pool16")
MAX_ATOMS = 16
COLORING_ALONE = "coloring"


def find_molecules(given: str | None, results: Path) -> str | None:
    """Folder of prepared molecules: the given one, or the usual one if it is there.

    "coloring" asks for none, even if there are any. A folder that holds POOL as it is published is
    prepared first, into `results/data/pool16`.
    """
    if given == COLORING_ALONE:
        return None
    if given is None:
        return str(USUAL_FOLDER) if _is_prepared(USUAL_FOLDER) else None
    folder = Path(given)
    if _is_prepared(folder):
        return given
    if any(folder.glob("pool-*.parquet")):
        target = results / "data" / USUAL_FOLDER.name
        if not _is_prepared(target):
            prepare(open_pool(folder, MAX_ATOMS), target, PrepareConfig(max_atoms=MAX_ATOMS))
        return str(target)
    raise ValueError(
        f"{given} holds neither prepared molecules (train/manifest.json) nor pool-*.parquet; "
        f"see `grale prepare --help`, or give {COLORING_ALONE!r} for none"
    )


def _is_prepared(folder: Path) -> bool:
    return (folder / "train" / "manifest.json").is_file()
