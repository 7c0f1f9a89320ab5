"""How many molecules keep their Morgan fingerprint as graphs: charges and hydrogens are restored.

python benchmarks/restored_fingerprints.py POOL_FOLDER
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
from rdkit import Chem, rdBase

from grale.graphs.graph import Graph
from grale.graphs.molecules.fingerprints import morgan_counts
from grale.graphs.molecules.molecule import MoleculeError

EACH = 150  # test molecules of each file


def main(folder: Path) -> None:
    """Compare fingerprints of SMILES and of the molecules that their graphs stand for."""
    rng, total, same = np.random.default_rng(0), 0, 0
    for path in sorted(folder.glob("pool-*.parquet")):
        table = pq.read_table(path, columns=["smiles", "split"], filters=[("split", "=", "test")])
        for smiles in rng.choice(table["smiles"].to_numpy(), EACH, replace=False):
            total += 1
            try:
                restored = morgan_counts(Graph.from_smiles(smiles).to_mol())
            except MoleculeError:
                continue
            same += np.array_equal(restored, morgan_counts(Chem.MolFromSmiles(smiles)))
    print(f"{same} of {total} molecules keep their fingerprint ({same / total:.1%})")


if __name__ == "__main__":
    with rdBase.BlockLogs():
        main(Path(sys.argv[1]))
