"""Find the prepared molecules that an experiment trains on, or prepare them."""

from __future__ import annotations

from pathlib import Path

from grale.data.molecules.pool import open_pool
from grale.data.molecules.prepare import PrepareConfig, prepare
from grale.graphs.molecules.molecule import is_molecular
from grale.graphs.space import GraphSpace

USUAL_FOLDER = Path("data/pool16")
MAX_ATOMS = 16
COLORING_ALONE = "coloring"


def find_molecules(given: str | None, results: Path) -> str | None:
    """Folder of prepared molecules: the given one, or the usual one if it is there.

    "coloring" means none, even if there are any. A folder that holds POOL as published is prepared
    first, into `results/data/pool16`.
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


def prepared_molecules(space: GraphSpace) -> str | None:
    """Usual folder of molecules of exactly the size of a space, if it is there."""
    folder = USUAL_FOLDER.with_name(f"pool{space.max_nodes}")
    return str(folder) if is_molecular(space) and _is_prepared(folder) else None


def _is_prepared(folder: Path) -> bool:
    return (folder / "train" / "manifest.json").is_file()
