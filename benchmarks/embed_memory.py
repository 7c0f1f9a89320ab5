"""Peak memory and speed of `grale embed` as the file grows: the memory should not.

    python benchmarks/embed_memory.py MODEL MOLECULES.parquet [ROWS ...]

If the file has fewer rows, it is repeated. MODEL "tiny" is an untrained model of a few thousand
weights, to measure memory alone.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

PROGRAM = """
import sys, time
from pathlib import Path
import torch
from grale.cli.terminal import keep_freed_memory
from grale.data.molecules.files import open_molecules
from grale.experiments.memory import peak_memory
from grale.graphs.molecules.molecule import molecule_space
from grale.model.autoencoder import GRALE
from grale.catalog import load
from grale.model.config import ModelConfig
from grale.tasks.embed import EmbedConfig, embed_file

keep_freed_memory()
name, source, out = sys.argv[1:]
tiny = ModelConfig(num_tokens=2, token_dim=8, num_layers=1, num_heads=2, node_dim=16, edge_dim=8)
model = GRALE(molecule_space(16), tiny).eval() if name == "tiny" else load(name)
reports = []
embed_file(model, name, open_molecules(source), Path(out), EmbedConfig(), reports.append)
rows = sum(r.rows for r in reports)
parse, encode = (sum(getattr(r, f"{k}_seconds") for r in reports) for k in ("parse", "encode"))
print(rows, sum(r.failed for r in reports), peak_memory(), rows / parse, rows / encode)
"""


def write_rows(source: Path, count: int, path: Path) -> None:
    """Copy this many rows of a file; repeat the file if it is too short."""
    schema = pa.schema([("smiles", pa.string())])
    with pq.ParquetWriter(path, schema) as writer:
        while count:
            for batch in pq.ParquetFile(source).iter_batches(columns=["smiles"]):
                part = batch.slice(0, min(count, batch.num_rows))
                writer.write_batch(part.cast(schema))
                count -= part.num_rows
                if not count:
                    break


def main(model: str, molecules: Path, sizes: list[int]) -> None:
    """Print a line per size, each measured in a new process."""
    print("rows, failed, peak GB, parsed per second, encoded per second")
    for size in sizes:
        with tempfile.TemporaryDirectory() as folder:
            source = Path(folder) / "rows.parquet"
            write_rows(molecules, size, source)
            out = str(Path(folder) / "out.parquet")
            command = [sys.executable, "-c", PROGRAM, model, str(source), out]
            subprocess.run(command, check=True)


if __name__ == "__main__":
    main(
        sys.argv[1], Path(sys.argv[2]), [int(rows) for rows in sys.argv[3:]] or [50_000, 1_000_000]
    )
