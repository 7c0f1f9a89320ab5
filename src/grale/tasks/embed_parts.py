"""Parts of a run that embeds a file: begun once, continued after a kill, never mixed.

Each part appears when it is complete, with a checksum beside it. A plan says which job the parts
belong to; another job does not take them up.
"""

from __future__ import annotations

import json
import logging
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from grale.data.storage import write_table
from grale.files import read_json, sha256_of, unfinished, write_whole
from grale.tasks.vector_columns import VECTORS, is_of_one_size

PLAN = "_plan.json"  # readers of parquet folders ignore such names
OWN = ("part-", "_part-", "staged-", PLAN)
"""How names of files in a folder of parts begin."""
MOST_LETTERS = 300  # of a value in a message
ADVICE = "remove the folder or choose another output"

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class ShardReport:
    """What embedding one shard took."""

    rows: int
    failed: int
    parse_seconds: float = 0.0
    encode_seconds: float = 0.0
    reasons: Counter[str] = field(default_factory=Counter)
    """How many rows failed for which kind of reason."""


def write_part(table: pa.Table, part: Path, report: ShardReport, metadata: dict[str, str]) -> None:
    """Write a part, then its checksum."""
    counts = {"rows": str(report.rows), "failed": str(report.failed)}
    counts["reasons"] = json.dumps(report.reasons)
    checksum_of(part).unlink(missing_ok=True)
    write_table(table.replace_schema_metadata(counts | metadata), part)
    write_whole(checksum_of(part), sha256_of(part))


def checksum_of(part: Path) -> Path:
    """Path of the checksum of a part; readers of parquet folders ignore such names."""
    return part.with_name(f"_{part.stem}.sha256")


def finished(part: Path) -> ShardReport | None:
    """Report of a shard that is done already; None if it must be done again."""
    if not part.is_file() or not checksum_of(part).is_file():
        return None
    if sha256_of(part) != checksum_of(part).read_text(encoding="ascii", errors="replace"):
        logger.warning("%s is damaged: its checksum differs; its rows are embedded again", part)
        return None
    try:
        schema = pq.read_schema(part)
        metadata = schema.metadata or {}
        if any(field.name in VECTORS and is_of_one_size(field) for field in schema):
            logger.warning("%s is of an older version of grale; its rows are embedded again", part)
            return None
        reasons = Counter(json.loads(metadata[b"reasons"]))
        return ShardReport(int(metadata[b"rows"]), int(metadata[b"failed"]), reasons=reasons)
    except (FileNotFoundError, pa.ArrowInvalid, KeyError, ValueError):
        return None


def begin(folder: Path, plan: dict[str, Any]) -> None:
    """Make the folder of parts, or find one that was begun for the same job."""
    if (folder / PLAN).exists() or any(folder.glob("part-*.parquet")):
        _check_same_job(folder, plan)
    folder.mkdir(parents=True, exist_ok=True)
    _remove_unfinished(folder)
    write_whole(folder / PLAN, json.dumps(plan, indent=2).encode())


def _remove_unfinished(folder: Path) -> None:
    """Remove what a kill in the middle of writing has left; the caller has the lock."""
    for partial, name in unfinished(folder).items():
        if name.startswith(OWN):
            partial.unlink()


def _read_plan(folder: Path) -> dict[str, Any]:
    """Read which job the parts of a folder belong to."""
    try:
        plan = read_json(folder / PLAN)
    except ValueError as error:
        raise ValueError(f"{error}; {ADVICE}") from error
    if not isinstance(plan, dict):
        raise ValueError(f"{folder / PLAN} is not the plan of a run; {ADVICE}")
    return plan


def _check_same_job(folder: Path, plan: dict[str, Any]) -> None:
    """Raise unless the parts of a folder were made for this job."""
    if not (folder / PLAN).is_file():
        raise ValueError(
            f"{folder} holds parts of unknown origin (no {PLAN}); remove it or choose another"
        )
    begun = _read_plan(folder)
    if begun.get("on_error") == "raise":  # no row of these parts failed: any other choice fits
        begun["on_error"] = plan["on_error"]
    changed = [name for name in plan if begun.get(name) != plan[name]]
    if changed and changed != ["model"]:  # names do not matter: `./tiny` is `tiny`
        differences = (
            f"its {name} was {_shown(begun.get(name))}, now it is {_shown(plan[name])}"
            for name in changed
        )
        raise ValueError(f"{folder} holds parts of another run: {'; '.join(differences)}; {ADVICE}")


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= MOST_LETTERS else f"{text[:MOST_LETTERS]}..."


@contextmanager
def tidied(folder: Path) -> Iterator[None]:
    """Leave nothing behind of a run that fails before its first part is done."""
    try:
        yield
    except BaseException:  # Ctrl-C, too
        if not any(folder.glob("part-*.parquet")):
            for file in (*folder.glob("staged-*.parquet"), folder / PLAN):
                file.unlink(missing_ok=True)
            _remove_if_empty(folder)
        raise


def whole_parts(folder: Path, source: Path) -> list[Path]:
    """The parts of a run that is done, in order; what a run on Ray left behind is removed."""
    parts = sorted(folder.glob("part-*.parquet"))
    if not parts:
        raise ValueError(f"{source} holds no rows")
    for staged in folder.glob("staged-*.parquet"):  # of an interrupted run on Ray
        staged.unlink()
    return parts


def read_part(part: Path) -> pa.Table:
    """Read a part, or raise if it was damaged since it was written."""
    if finished(part) is None:
        raise ValueError(f"{part} was damaged during the run; start again")
    return pq.read_table(part)


def remove_parts(folder: Path, parts: list[Path]) -> None:
    """Remove the parts; the plan goes last, so that a killed run starts again."""
    for part in parts:
        checksum_of(part).unlink()
        part.unlink()
    (folder / PLAN).unlink()
    _remove_if_empty(folder)


def _remove_if_empty(folder: Path) -> None:
    """Remove a folder, unless it holds files of the user."""
    if not any(folder.iterdir()):
        folder.rmdir()
