"""Scores of a model of molecules on the test split of POOL, by size and by source.

    python benchmarks/score_pool.py POOL_FOLDER DATASET_FOLDER [--model molecules]
        [--search 128] [--refine 128]

DATASET_FOLDER comes from `grale prepare pool POOL_FOLDER DATASET_FOLDER`: its test split says which
molecules are unseen; POOL_FOLDER says where each comes from.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import pyarrow.parquet as pq

import grale
from grale.codec.options import CodecOptions
from grale.data.sources import stream_held_out
from grale.graphs.molecules.molecule import canonical_key
from grale.training.evaluation import Outcomes, reconstruct_all


def sources(folder: Path, max_atoms: int) -> dict[str, str]:
    """Source of each test molecule by its canonical key."""
    found: dict[str, str] = {}
    for path in sorted(folder.glob("pool-*.parquet")):
        wanted = [("split", "=", "test"), ("n_atoms", "<=", max_atoms)]
        table = pq.read_table(path, columns=["smiles", "source"], filters=wanted)
        for smiles, source in zip(table["smiles"].to_pylist(), table["source"].to_pylist()):
            found[canonical_key(grale.Graph.from_smiles(smiles))] = source
    return found


def line(name: str, part: Outcomes) -> str:
    """One row of a Markdown table."""
    count = len(part.graphs)
    return f"| {name} | {count:,} | {part.exact()} | {part.mean_distance()} | {part.valid()} |"


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser()
    parser.add_argument("pool", type=Path)
    parser.add_argument("dataset")
    parser.add_argument("--model", default="molecules")
    parser.add_argument("--count", type=int, default=10_000)
    parser.add_argument("--search", type=int, default=1)
    parser.add_argument("--refine", type=int, default=0)
    options = parser.parse_args()
    model = grale.load(options.model)
    graphs = list(stream_held_out(options.dataset, options.count, "test"))
    tries = CodecOptions(searched_graphs=options.search, refine_steps=options.refine)
    outcomes = reconstruct_all(model, graphs, tries)
    known = sources(options.pool, model.space.max_nodes)
    origin = [known.get(canonical_key(graph), "another split's row") for graph in graphs]
    header = "| {} | molecules | exactly reconstructed | edit distance (bound) | valid |"
    print(header.format("all"), "|---|---|---|---|---|", line("all", outcomes), sep="\n")
    for title, keys in (("atoms", [g.num_nodes for g in graphs]), ("source", origin)):
        print()
        print(header.format(title), "|---|---|---|---|---|", sep="\n")
        for key, part in outcomes.grouped(keys).items():
            print(line(str(key), part))


if __name__ == "__main__":
    main()
