"""Memory does not grow with rows or calls, in a process of its own each."""

from __future__ import annotations

import subprocess
import sys

import pytest

from soak.counts import few_or_many

pytestmark = pytest.mark.slow

MOST_MORE = 0.25  # GB
EMBED = """
import sys
from pathlib import Path
from grale.catalog import load
from grale.cli.terminal import keep_freed_memory
from grale.data.molecules.files import open_molecules
from grale.experiments.memory import peak_memory
from grale.tasks.embed import EmbedConfig, embed_file
keep_freed_memory()
model, folder, count = load(sys.argv[1]), Path(sys.argv[2]), int(sys.argv[3])
peaks = []
for rows in (min(10_000, count // 2), count):
    with (folder / "in.smi").open("w") as file:
        for row in range(rows):
            file.write("C" * (row % 5 + 1) + ("O\\n" if row % 2 else "N\\n"))
    embed_file(model, "tiny", open_molecules(folder / "in.smi"), folder / f"{rows}.parquet",
               EmbedConfig(batch_size=2_048))
    peaks.append(peak_memory())
print(*peaks)
"""
CALLS = """
import sys
from grale.catalog import load
from grale.experiments.memory import peak_memory
model, count = load(sys.argv[1]), int(sys.argv[3])
peaks = []
for calls in (min(100, count), count):
    for number in range(calls):
        z = model.encode(["C" * (number % 9 + 1), "CCO"])
        model.decode_smiles(z)
        model.encode(["", "x", "C" * 500], on_error="null")
    peaks.append(peak_memory())
print(*peaks)
"""


@few_or_many(2_000, 1_000_000)
def test_embedding_more_rows_takes_no_more_memory(count, molecule_model, tmp_path, figure) -> None:
    before, after = _peaks(EMBED, molecule_model, tmp_path, count)
    figure(f"memory, embed: {count} rows, {before:.2f} GB after few and {after:.2f} GB after all")
    assert after - before < MOST_MORE


@few_or_many(10, 2_000)
def test_more_calls_take_no_more_memory(count, molecule_model, tmp_path, figure) -> None:
    before, after = _peaks(CALLS, molecule_model, tmp_path, count)
    figure(f"memory, calls: {count}, {before:.2f} GB after few and {after:.2f} GB after all")
    assert after - before < 0.05


def _peaks(program, model, folder, count) -> list[float]:
    model.save_pretrained(folder / "model")
    command = [sys.executable, "-c", program, str(folder / "model"), str(folder), str(count)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return [float(text) for text in done.stdout.split()]
