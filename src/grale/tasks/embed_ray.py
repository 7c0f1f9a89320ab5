"""The same shards as `embed.py`, on Ray Data: all cores of a machine, or a cluster.

The driver cuts the file into staged shards next to the parts. Ray's workers, each with its own copy
of the model, embed them with the code of the local engine. On a cluster, the output folder and any
model that is not shipped must be on storage that all machines share.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from grale.catalog import load_any
from grale.codec.identity import provenance
from grale.data.molecules.columns import Survey
from grale.data.molecules.files import Text
from grale.data.row_files import RowFile
from grale.data.storage import write_table
from grale.files import locked
from grale.tasks.embed import EmbedConfig, Shard, embed_shard, shards_of, start_or_resume
from grale.tasks.embed_parts import ShardReport, finished, tidied
from grale.tasks.vector_output import finish

if TYPE_CHECKING:
    from numpy.typing import NDArray

ENTRY = "entry"  # column of a staged shard; behind it come the columns beside the entries
COUNTS = ("rows", "failed", "parse_seconds", "encode_seconds")
THIS_MACHINE = "127.0.0.1"  # a Ray that we start listens on this machine only


class ShardEmbedder:
    """One Ray worker: a model, and staged shards to embed with it."""

    def __init__(
        self,
        model_name: str,
        folder: str,
        text: Text,
        config: EmbedConfig,
        made_with: dict[str, str | None],
    ) -> None:
        import torch

        torch.set_num_threads(1)  # Ray gives a worker one core
        self.model, self.folder = load_any(model_name), Path(folder)
        self.text, self.config = text, config
        self.made_with = made_with

    def __call__(self, batch: dict[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
        """Embed each staged shard of the batch; return a report of each."""
        reports = [self._embed(Path(str(path))) for path in batch["path"]]
        found = {name: np.array([getattr(each, name) for each in reports]) for name in COUNTS}
        return found | {"reasons": np.array([json.dumps(each.reasons) for each in reports])}

    def _embed(self, staged: Path) -> ShardReport:
        part = staged.with_name(staged.name.replace("staged", "part"))
        if report := finished(
            part
        ):  # Ray hands a shard out again if it loses contact with a worker
            return report
        table = pq.read_table(staged)
        first_row = int(table.schema.metadata[b"first_row"])
        number = int(staged.stem.removeprefix("staged-"))
        entries = table.column(0).to_pylist()
        others = dict(zip(table.column_names[1:], table.columns[1:]))
        shard = Shard(number, first_row, entries, self.text, others)
        report = embed_shard(self.model, shard, self.folder, self.config, self.made_with)
        staged.unlink(missing_ok=True)
        return report


def embed_with_ray(
    model_name: str,
    file: RowFile,
    out: Path,
    config: EmbedConfig,
    address: str | None = None,
    num_workers: int | None = None,
    progress: Callable[[ShardReport], object] | None = None,
    survey: Survey | None = None,
) -> int:
    """Embed all rows of a file on Ray; return how many rows were done before.

    By default, there is one worker per core of the machine, or of the cluster at `address`.
    """
    model = load_any(model_name)
    made_with = provenance(model, model_name, config.what)
    with locked(out):
        folder = start_or_resume(out.resolve(), file, model, made_with, config)
        if Path(model_name).is_dir():
            model_name = str(Path(model_name).resolve())  # workers run in other folders
        with tidied(folder):
            staged = _stage(file, folder, config, progress, survey or file.survey())
            what = (model_name, str(folder), file.text, config, made_with)
            _run(what, staged.paths, address, num_workers, progress)
            finish(folder, out.resolve(), file.path)
    return staged.rows_done


def _run(
    what: tuple[Any, ...],
    staged: list[Path],
    address: str | None,
    num_workers: int | None,
    progress: Callable[[ShardReport], object] | None,
) -> None:
    """Embed the staged shards; `what` is given to each `ShardEmbedder`."""
    import ray

    if not staged:
        return
    is_ours = not ray.is_initialized()
    if is_ours:
        _start(address, num_workers)
    try:
        ray.data.DataContext.get_current().raise_original_map_exception = True
        num_workers = num_workers or int(ray.cluster_resources()["CPU"])
        shards = ray.data.from_items(
            [{"path": str(path)} for path in staged], override_num_blocks=len(staged)
        )
        reports = shards.map_batches(
            ShardEmbedder,
            fn_constructor_args=what,
            batch_size=1,
            concurrency=min(num_workers, len(staged)),
        )
        for row in reports.iter_rows():
            if progress is not None:
                reasons = Counter(json.loads(row["reasons"]))
                progress(ShardReport(**{n: row[n] for n in COUNTS}, reasons=reasons))
    except ray.exceptions.RayTaskError as error:  # an error of a worker, wrapped by Ray
        if isinstance(error.cause, ValueError):
            first_line, *_ = str(error.cause).splitlines()  # Ray appends its own advice
            raise ValueError(first_line) from error
        raise
    finally:
        if is_ours:
            ray.shutdown()


def _start(address: str | None, num_workers: int | None) -> None:
    """Join the cluster at `address`, or start a new Ray.

    Without address="local", Ray would join the last cluster started on this machine.
    """
    import ray

    if address:
        ray.init(address=address, log_to_driver=False)
        return
    ray.init(
        address="local",
        num_cpus=num_workers,
        log_to_driver=False,
        include_dashboard=False,
        _node_ip_address=THIS_MACHINE,
    )


class Staged(NamedTuple):
    """Shards to embed."""

    paths: list[Path]
    rows_done: int
    """Rows of the other shards, which an earlier run has embedded."""


def _stage(
    file: RowFile,
    folder: Path,
    config: EmbedConfig,
    progress: Callable[[ShardReport], object] | None,
    survey: Survey,
) -> Staged:
    """Write each shard that has no part yet to a file, as a stream."""
    staged, skipped = [], 0
    for shard in shards_of(file, config.shard_rows, survey):
        if report := finished(shard.part(folder)):
            skipped += report.rows
            if progress is not None:
                progress(report)
            continue
        path = folder / f"staged-{shard.number:06d}.parquet"
        columns = [pa.array(shard.entries, pa.string()), *shard.others.values()]
        table = pa.Table.from_arrays(columns, [ENTRY, *shard.others])
        metadata = {"first_row": str(shard.first_row)}
        write_table(table.replace_schema_metadata(metadata), path)
        staged.append(path)
    return Staged(staged, skipped)
