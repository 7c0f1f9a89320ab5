"""From files of molecules to a dataset: parse, drop duplicates, split, write shards.

There are two passes, both with constant memory. The first parses chunks of rows in parallel, each
to a part file that a killed run finds again. The second reads the parts in slices of the range of
keys, keeps the first row of each graph and writes shards; keys are hashes, so shards are shuffled.

Departures: the paper uses molecules from PubChem as they are.
"""

from __future__ import annotations

import dataclasses
import json
import shutil
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from itertools import chain
from multiprocessing import get_context
from pathlib import Path
from typing import Protocol, runtime_checkable

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from grale.data.molecules.files import Chunk, Text
from grale.data.molecules.prepare_parts import (
    KEY_RANGE,
    REJECTED,
    SPLITS,
    PrepareConfig,
    is_finished,
    parse_part,
    rejected_of,
)
from grale.data.packed import PackedGraphs
from grale.data.storage import MANIFEST, from_table, write_packed
from grale.files import locked, whole, write_whole
from grale.graphs.molecules.descriptors import training_names
from grale.graphs.molecules.molecule import molecule_space

CHUNK_ROWS = 20_000
SLICE_ROWS = 1_000_000  # rows of the second pass in memory at once


@runtime_checkable
class RowSource(Protocol):
    """Rows of molecules, in a fixed order."""

    @property
    def text(self) -> Text:
        """What an entry is."""

    def name(self) -> str:
        """What a resumed run must find unchanged."""

    def rows(self, size: int) -> Iterator[Chunk]:
        """All rows, `size` at a time."""


@dataclass(frozen=True)
class Prepared:
    """How many rows were kept and rejected."""

    rows: int
    rejected: int
    duplicates: int
    kept: dict[str, int]
    """Graphs in each split."""


def prepare(
    sources: Iterable[RowSource],
    out: Path,
    config: PrepareConfig,
    progress: Callable[[int], object] | None = None,
) -> Prepared:
    """Write the molecules of all sources to `out/train`, `out/valid` and `out/test`.

    Rejected rows are in `out/rejected.parquet`, with their number and the reason. A killed run
    continues when called again with the same sources and config. If a split has no graphs, one
    that an earlier run wrote is removed.
    """
    with locked(out):
        return _prepare(list(sources), out, config, progress)


def _prepare(
    sources: list[RowSource],
    out: Path,
    config: PrepareConfig,
    progress: Callable[[int], object] | None,
) -> Prepared:
    work = out / "unfinished"
    _claim(work, [source.name() for source in sources], config)
    numbers: list[tuple[int, int]] = []
    for done in _parse_all(sources, work, config):
        numbers.append(done)
        if progress is not None:
            progress(done[0])
    rows, rejected = (sum(column) for column in zip(*numbers)) if numbers else (0, 0)
    kept: dict[str, int] = {}
    for split in SPLITS:
        kept[split] = _write_split(out, work, split, rows, config)
        if not kept["train"]:
            shutil.rmtree(work)
            raise ValueError(
                f"there are no molecules to train on: {rejected} of {rows} rows were rejected"
            )
        if not kept[split]:
            _remove_split(out / split)
    _write_rejected(out, work)
    result = Prepared(rows, rejected, rows - rejected - sum(kept.values()), kept)
    write_whole(out / "prepared.json", json.dumps(dataclasses.asdict(result), indent=2))
    shutil.rmtree(work)
    return result


def _claim(work: Path, names: list[str], config: PrepareConfig) -> None:
    """Start the work folder, or make sure that it belongs to the same job."""
    settings = dataclasses.asdict(config)
    del settings["num_workers"]  # changes the time only
    plan = json.dumps({"sources": names, "config": settings}, indent=2)
    path = work / "plan.json"
    is_begun = any(work.glob("part-*.parquet"))
    if is_begun and path.is_file() and path.read_text(encoding="utf-8") != plan:
        raise ValueError(
            f"{work} holds an unfinished preparation of other files or settings; "
            "remove it or choose another folder"
        )
    work.mkdir(parents=True, exist_ok=True)
    write_whole(path, plan)


def _parse_all(
    sources: list[RowSource], work: Path, config: PrepareConfig
) -> Iterator[tuple[int, int]]:
    """Parse the chunks that have no part yet; yield rows and rejected rows of each."""
    with _pool(config.num_workers) as pool:
        running: set[Future[tuple[int, int]]] = set()
        for number, (start, text, chunk) in enumerate(_numbered(sources)):
            part = work / f"part-{number:06d}.parquet"
            if is_finished(part):
                yield len(chunk.entries), _rejected_of(part).num_rows
                continue
            if pool is None:
                yield parse_part(part, start, text, chunk, config)
                continue
            if len(running) > 2 * config.num_workers:  # few chunks wait: constant memory
                done, running = wait(running, return_when=FIRST_COMPLETED)
                yield from (future.result() for future in done)
            running.add(pool.submit(parse_part, part, start, text, chunk, config))
        yield from (future.result() for future in running)


def _pool(num_workers: int) -> AbstractContextManager[ProcessPoolExecutor | None]:
    """Worker processes; None for one worker, which is this process."""
    if num_workers == 1:
        return nullcontext()
    return ProcessPoolExecutor(num_workers, mp_context=get_context("spawn"))


def _numbered(sources: list[RowSource]) -> Iterator[tuple[int, Text, Chunk]]:
    start = 0
    for source in sources:
        for chunk in source.rows(CHUNK_ROWS):
            yield start, source.text, chunk
            start += len(chunk.entries)


def _parts(work: Path) -> list[Path]:
    return sorted(work.glob("part-*.parquet"))


def _rejected_of(part: Path) -> pa.Table:
    return pq.read_table(rejected_of(part))


def _write_split(out: Path, work: Path, split: str, rows: int, config: PrepareConfig) -> int:
    """Second pass for one split; return its number of graphs."""
    edges = np.linspace(0, KEY_RANGE, -(-rows // SLICE_ROWS) + 1).astype(int).tolist()
    slices = (_slice(work, low, high) for low, high in zip(edges[:-1], edges[1:]))
    shards = _recut((_distinct(table, split) for table in slices), config.shard_rows)
    first = next(shards, None)
    if first is None:
        return 0
    space = molecule_space(config.max_atoms)
    names = training_names() if config.descriptors else ()
    return write_packed(out / split, chain([first], shards), space, names).rows


def _remove_split(folder: Path) -> None:
    """Remove the shards of an earlier run, and no files of the user."""
    for file in (folder / MANIFEST, *folder.glob("graphs-*.parquet*")):
        file.unlink(missing_ok=True)
    if folder.is_dir() and not any(folder.iterdir()):
        folder.rmdir()


def _slice(work: Path, low: int, high: int) -> pa.Table:
    condition = [("prefix", ">=", low), ("prefix", "<", high)]
    return pa.concat_tables([pq.read_table(part, filters=condition) for part in _parts(work)])


def _distinct(table: pa.Table, split: str) -> PackedGraphs:
    """Keep the first row of each key if it is in this split, in the order of the keys.

    A graph that occurs in several splits stays in the split of its first row only.
    """
    keys: NDArray[np.uint64] = table.column("key").to_numpy()
    order = np.lexsort([table.column("row").to_numpy(), keys])
    is_first = np.ones(len(order), dtype=bool)
    is_first[1:] = np.diff(keys[order]) != 0
    is_ours = pc.equal(table.column("split"), split).to_numpy()
    return from_table(table, directed=False).take(order[is_first & is_ours[order]])


def _recut(packs: Iterable[PackedGraphs], rows: int) -> Iterator[PackedGraphs]:
    """Cut packs of any length into packs of `rows` graphs."""
    rest: PackedGraphs | None = None
    for pack in packs:
        if len(pack) == 0:
            continue
        rest = pack if rest is None else PackedGraphs.join([rest, pack])
        while rest is not None and len(rest) >= rows:
            yield rest.take(np.arange(rows))
            rest = rest.take(np.arange(rows, len(rest))) if len(rest) > rows else None
    if rest is not None:
        yield rest


def _write_rejected(out: Path, work: Path) -> None:
    with (
        whole(out / "rejected.parquet") as partial,
        pq.ParquetWriter(partial, REJECTED, compression="zstd") as writer,
    ):
        for part in _parts(work):
            writer.write_table(_rejected_of(part))
