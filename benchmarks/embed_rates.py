"""What embedding a molecule costs: RDKit alone, our featurising, and the network.

    python benchmarks/embed_rates.py [MODEL] MOLECULES.parquet [--count 4000] [--batch-size 256]

MOLECULES.parquet has a column `smiles`; molecules that the model cannot take are left out. The
stages take turns, 1,000 molecules at a time, so that a busy machine slows all of them equally.
"""

from __future__ import annotations

import argparse
import time
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pyarrow.parquet as pq
import torch
from rdkit import Chem, RDLogger

from grale.catalog import load
from grale.codec.intake import by_size, screen
from grale.graphs.graph import Graph
from grale.model.autoencoder import GRALE

TURN = 1_000


def molecules_for(model: GRALE, path: Path, count: int) -> list[str]:
    """SMILES of the first molecules that the model can hold."""
    found: list[str] = []
    for batch in pq.ParquetFile(path).iter_batches(columns=["smiles"]):
        texts = batch["smiles"].to_pylist()[: 2 * count]
        is_held = (isinstance(item, Graph) for item in screen(texts, model.space))
        found += [text for text, held in zip(texts, is_held) if held]
        if len(found) >= count:
            return found[:count]
    return found


def stages(model: GRALE, smiles: list[str], batch_size: int) -> Iterator[tuple[str, float]]:
    """Seconds of each stage of embedding."""
    began = time.perf_counter()
    for text in smiles:
        Chem.MolFromSmiles(text)
    parsed = time.perf_counter()
    yield "RDKit alone", parsed - began
    began = time.perf_counter()
    graphs = screen(smiles, model.space)
    yield "SMILES to graph, RDKit included", time.perf_counter() - began
    began = time.perf_counter()
    inputs = [model.featurizer(batch) for _, batch in by_size(graphs, batch_size)]
    yield "graph to features", time.perf_counter() - began
    began = time.perf_counter()
    for batch in inputs:
        model.encoder(batch, model.matcher)
    yield "network", time.perf_counter() - began


def main() -> None:
    """Print molecules per second of each stage, and of featurising and everything."""
    parser = argparse.ArgumentParser()
    parser.add_argument("model", nargs="?", default="molecules")
    parser.add_argument("molecules", type=Path)
    parser.add_argument("--count", type=int, default=4_000)
    parser.add_argument("--batch-size", type=int, default=256)
    options = parser.parse_args()
    RDLogger.DisableLog("rdApp.*")
    model = load(options.model)
    smiles = molecules_for(model, options.molecules, options.count)
    seconds: dict[str, float] = defaultdict(float)
    with torch.no_grad():
        model.encode(smiles[:64])  # compile before the clock runs
        for start in range(0, len(smiles), TURN):
            for stage, took in stages(model, smiles[start : start + TURN], options.batch_size):
                seconds[stage] += took
    graph, rdkit = seconds["SMILES to graph, RDKit included"], seconds["RDKit alone"]
    seconds["featurising (both steps without RDKit)"] = graph - rdkit + seconds["graph to features"]
    seconds["together"] = graph + seconds["graph to features"] + seconds["network"]
    print(f"{len(smiles)} molecules, {torch.get_num_threads()} threads, molecules per second")
    for stage, took in seconds.items():
        print(f"  {stage:42s} {len(smiles) / took:8.0f}")


if __name__ == "__main__":
    main()
