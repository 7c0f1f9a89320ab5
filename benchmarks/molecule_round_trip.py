"""How many molecules survive graph -> SMILES, and why the others do not.

python benchmarks/molecule_round_trip.py POOL_FOLDER [--split test] [--count 60000]
"""

from __future__ import annotations

import argparse
from collections import Counter
from pathlib import Path

import numpy as np
import pyarrow.compute as pc
import pyarrow.parquet as pq
from rdkit import Chem, RDLogger

from grale.graphs.graph import Graph
from grale.graphs.molecules.molecule import MoleculeError
from grale.metrics.isomorphism import is_isomorphic


def sample(folder: Path, split: str, count: int) -> list[str]:
    """Molecules of a split, chosen at random among all sizes."""
    smiles: list[str] = []
    for path in sorted(folder.glob("pool-*.parquet")):
        table = pq.read_table(path, columns=["smiles", "split"])
        smiles += table.filter(pc.equal(table["split"], split))["smiles"].to_pylist()
    order = np.random.default_rng(0).permutation(len(smiles))[:count]
    return [smiles[place] for place in order]


def charges(molecule: Chem.Mol) -> list[tuple[str, int]]:
    """Charged atoms, in a fixed order."""
    atoms = [atom for atom in molecule.GetAtoms() if atom.GetFormalCharge()]
    return sorted((atom.GetSymbol(), atom.GetFormalCharge()) for atom in atoms)


def cause(before: str, after: str) -> str:
    """Name what differs."""
    first, second = Chem.MolFromSmiles(before), Chem.MolFromSmiles(after)
    if "*" in after:
        return "an element outside the table"
    if any(atom.GetNumRadicalElectrons() for atom in first.GetAtoms()):
        return "a radical or a bare metal"
    if charges(first) != charges(second):
        has_hydrogen = any(a.GetFormalCharge() > 0 and a.GetTotalNumHs() for a in first.GetAtoms())
        if has_hydrogen or (charges(first) and not charges(second)):
            return "a proton more or less than the neutral molecule (not in the graph)"
        return "another charge"
    return "the hydrogen on another nitrogen of the ring (tautomer)"


def main() -> None:
    """Print both shares and the causes."""
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--split", default="test")
    parser.add_argument("--count", type=int, default=60_000)
    options = parser.parse_args()
    RDLogger.DisableLog("rdApp.*")
    causes: Counter[str] = Counter()
    identical = total = 0
    for before in sample(options.folder, options.split, options.count):
        total += 1
        graph = Graph.from_smiles(before)
        try:
            after = graph.to_smiles()
            identical += is_isomorphic(graph, Graph.from_smiles(after))
        except MoleculeError as error:
            causes["no molecule" if "Kekule" in str(error) else "an element outside the table"] += 1
            continue
        if after != before:
            causes[cause(before, after)] += 1
    print(f"{total} molecules: graph -> SMILES -> graph identical {identical / total:.2%}")
    print(f"canonical SMILES back {1 - causes.total() / total:.2%}; the others:")
    for name, count in causes.most_common():
        print(f"  {count / total:.2%}  {name}")


if __name__ == "__main__":
    main()
