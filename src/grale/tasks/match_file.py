"""Matching a file of pairs: one row in, one row out, with a status."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from grale.codec.intake import screen
from grale.files import locked
from grale.graphs.graph import Graph
from grale.matching import solve
from grale.matching.solve import method_called
from grale.metrics.edit_distance import edit_distance
from grale.model.autoencoder import GRALE
from grale.tasks.outputs import check_output, written_whole

ROWS = 1_024
LEARNED = "grale"
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
) -> MatchReport:
    """Match the SMILES of columns `a` and `b`; a pair that cannot be matched keeps its place."""
    method = method_called(method)
    check_output(source, out)
    parquet = pq.ParquetFile(source)
    for name in ("a", "b"):
        kinds = [str(field.type) for field in parquet.schema_arrow if field.name == name]
        if kinds not in (["string"], ["large_string"]):
            raise ValueError(f"{source} needs one text column {name!r}: pairs are in a and b")
    report = MatchReport()
    with locked(out), written_whole(out, MATCHED) as writer:
        for batch in parquet.iter_batches(batch_size=ROWS, columns=["a", "b"]):
            pairs = list(zip(batch["a"].to_pylist(), batch["b"].to_pylist()))
            records = _matched(model, pairs, method, time_limit, tries)
            for record in records:
                record["row"] = report.pairs
                report.pairs += 1
                report.failed += record["status"] != "ok"
                report.edits += record.get("edit_distance") or 0
            writer.write_table(pa.Table.from_pylist(records, MATCHED))
            if progress is not None:
                progress(len(records))
    return report


def _matched(
    model: GRALE,
    pairs: list[tuple[Any, Any]],
    method: str,
    time_limit: float | None,
    noise_draws: int,
) -> list[dict[str, Any]]:
    """Records of some pairs; the model alone matches them in one batch."""
    sides = [screen(side, model.space) for side in zip(*pairs)]
    good = [
        (row, (first, second))
        for row, (first, second) in enumerate(zip(*sides))
        if isinstance(first, Graph) and isinstance(second, Graph)
    ]
    records = [
        {"a": a, "b": b, "status": "failed", "reason": _reason(first, second)}
        for (a, b), first, second in zip(pairs, *sides)
    ]
    if method == LEARNED:
        found = model.match_many([pair for _, pair in good], tries=noise_draws)
        mappings: list[Any] = [match.mapping for match in found]
    else:
        options = (method, time_limit, model, noise_draws)
        mappings = [_solved(pair, *options) for _, pair in good]
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


def _reason(first: Graph | str, second: Graph | str) -> str | None:
    bad = [
        f"{name}: {item}" for name, item in (("a", first), ("b", second)) if isinstance(item, str)
    ]
    return "; ".join(bad) or None
