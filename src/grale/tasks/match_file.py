"""Matching a file of pairs: one row in, one row out, with a status."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice, zip_longest
from pathlib import Path
from typing import Any

import pyarrow as pa

from grale.codec.identity import provenance
from grale.codec.intake import screen
from grale.data.graph_files import text_of
from grale.data.molecules.files import MoleculeFile, kind_of, open_molecules
from grale.data.row_files import TABLES, RowFile, open_rows, parse_entry
from grale.graphs.graph import Graph
from grale.graphs.space import GraphSpace
from grale.matching import solve
from grale.matching.solve import method_called
from grale.metrics.edit_distance import edit_distance
from grale.model.autoencoder import GRALE
from grale.tasks.outputs import check_output
from grale.tasks.row_output import ROW_SUFFIXES, written_rows

ROWS = 1_024
LEARNED = "grale"
FIRST, SECOND = "a", "b"  # columns of a table of pairs
MATCHED = pa.schema(
    [
        ("row", pa.int64()),
        ("a", pa.string()),
        ("b", pa.string()),
        ("mapping", pa.list_(pa.int64())),
        ("edit_distance", pa.int64()),
        ("status", pa.string()),
        ("reason", pa.string()),
    ]
)


@dataclass
class MatchReport:
    """Counts over all pairs."""

    pairs: int = 0
    failed: int = 0
    edits: int = 0

    @property
    def mean_distance(self) -> float:
        """Mean bound of the pairs that could be matched."""
        return self.edits / max(self.pairs - self.failed, 1)


def match_file(
    model: GRALE,
    source: Path,
    out: Path,
    method: str,
    time_limit: float | None,
    progress: Callable[[int], object] | None = None,
    tries: int = 1,
    second: Path | None = None,
    model_name: str = "unnamed",
    column: str | None = None,
) -> MatchReport:
    """Match the SMILES of columns `a` and `b`; a pair that cannot be matched keeps its place.

    With a `second` file, each row of the first is matched with the same row of the second; `column`
    is then that of the SMILES in both.
    """
    method = method_called(method)
    check_output(source, out, ROW_SUFFIXES)
    pairs_left = pairs_of(source, second, model.space, column)
    report = MatchReport()
    with written_rows(out, MATCHED, provenance(model, model_name, "matching")) as write:
        while pairs := list(islice(pairs_left, ROWS)):
            records = _matched(model, pairs, method, time_limit, tries, progress)
            for record in records:
                record["row"] = report.pairs
                report.pairs += 1
                report.failed += record["status"] != "ok"
                report.edits += record.get("edit_distance") or 0
            write(records)
    return report


def pairs_of(
    source: Path, second: Path | None, space: GraphSpace, column: str | None = None
) -> Iterator[tuple[Any, Any]]:
    """Pairs of a table with columns `a` and `b`, or of the rows of two files, as a stream."""
    if second is not None:
        sides = [_items(open_rows(path, space, column)) for path in (source, second)]
        return _row_by_row(sides, source, second)
    pairs = _table_of_pairs(source, column)
    return ((each.entry, each.others.get(SECOND)) for each in pairs.records())


def count_pairs(
    source: Path, second: Path | None, space: GraphSpace, column: str | None = None
) -> int:
    """Pairs that `match_file` reads, for a progress bar."""
    is_one = second is None
    opened = _table_of_pairs(source, column) if is_one else open_rows(source, space, column)
    return opened.survey().num_rows


def _table_of_pairs(source: Path, column: str | None) -> MoleculeFile:
    """Open a table with columns `a` and `b`."""
    if column is not None:
        raise ValueError(f"--column is for two files or rows; {source} has its pairs in a and b")
    advice = (
        "pairs are in the columns a and b; or give two files, or two rows such as FILE:0 FILE:1"
    )
    if kind_of(source) not in TABLES:
        raise ValueError(f"{source}: {advice}")
    try:
        opened = open_molecules(source, FIRST)
    except ValueError as error:
        raise ValueError(f"{error}; {advice}") from error
    if opened.survey().columns.get(SECOND) not in (pa.string(), pa.large_string()):
        raise ValueError(f"{source} needs one text column {SECOND!r}: {advice}")
    return opened


def _items(opened: RowFile) -> Iterator[Any]:
    """Entries that a model of the space reads: SMILES, or graphs."""
    for record in opened.records(False):
        item = parse_entry(record.entry, opened.text) if opened.text != "smiles" else record.entry
        yield record.entry if isinstance(item, str) else item


def _row_by_row(
    sides: list[Iterator[Any]], source: Path, second: Path
) -> Iterator[tuple[Any, Any]]:
    end = object()
    for row, (a, b) in enumerate(zip_longest(*sides, fillvalue=end)):
        if a is end or b is end:
            shorter, longer = (source, second) if a is end else (second, source)
            raise ValueError(f"{shorter} has {row} rows, and {longer} has more; give one each")
        yield a, b


def _matched(
    model: GRALE,
    pairs: list[tuple[Any, Any]],
    method: str,
    time_limit: float | None,
    noise_draws: int,
    progress: Callable[[int], object] | None,
) -> list[dict[str, Any]]:
    """Records of some pairs; the model alone matches them in one batch."""
    sides = [screen(side, model.space) for side in zip(*pairs)]
    good = [
        (row, (first, second))
        for row, (first, second) in enumerate(zip(*sides))
        if isinstance(first, Graph) and isinstance(second, Graph)
    ]
    records: list[dict[str, Any]] = [
        {"a": _text(a), "b": _text(b), "status": "failed", "reason": _reason(first, second)}
        for (a, b), first, second in zip(pairs, *sides)
    ]
    told = progress or (lambda _: None)
    told(len(pairs) - len(good))
    if method == LEARNED:
        found = model.match_many([pair for _, pair in good], tries=noise_draws)
        mappings: list[Any] = [match.mapping for match in found]
        told(len(good))
    else:
        options, mappings = (method, time_limit, model, noise_draws), []
        for _, pair in good:
            mappings.append(_solved(pair, *options))
            told(1)
    for (row, pair), mapping in zip(good, mappings):
        if isinstance(mapping, str):
            records[row]["reason"] = mapping
            continue
        distance = edit_distance(*pair, mapping)
        records[row] |= {"mapping": mapping.tolist(), "edit_distance": distance}
        records[row] |= {"status": "ok", "reason": None}
    return records


def _solved(pair: tuple[Graph, Graph], *options: Any) -> Any:
    """Mapping, or the reason why there is none."""
    try:
        return solve(*pair, *options).mapping
    except TimeoutError as error:
        return str(error)


def _text(item: Any) -> str | None:
    return text_of(item) if isinstance(item, Graph) else item


def _reason(first: Graph | str, second: Graph | str) -> str | None:
    bad = [
        f"{name}: {item}" for name, item in (("a", first), ("b", second)) if isinstance(item, str)
    ]
    return "; ".join(bad) or None
