"""Count which ring nitrogens bear hydrogens, and write `src/grale/graphs/hydrogen_places.npz`.

    python benchmarks/count_hydrogens.py POOL_FOLDER

Reads the train split only; molecules with one ring nitrogen have no choice and are left out.
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pyarrow.compute as pc
import pyarrow.parquet as pq
from rdkit import Chem, RDLogger

from grale.graphs.hydrogen_places import MAX_RADIUS, MIN_RADIUS, TABLE, environments

LEAST = 8  # surroundings seen less often are left out
MOST_MOLECULES = 600_000


def main(folder: Path) -> None:
    """Count and write the table."""
    RDLogger.DisableLog("rdApp.*")
    seen: Counter[int] = Counter()
    bearing: Counter[int] = Counter()
    left = MOST_MOLECULES
    for path in sorted(folder.glob("pool-*.parquet")):
        table = pq.read_table(path, columns=["smiles", "split"])
        chosen = pc.and_(
            pc.equal(table["split"], "train"), pc.match_substring(table["smiles"], "[nH]")
        )
        smiles = table.filter(chosen)["smiles"].to_pylist()[: MOST_MOLECULES // 6]
        for text in smiles[:left]:
            _count(text, seen, bearing)
        left -= len(smiles)
    codes = np.array(
        sorted(code for code, count in seen.items() if count >= LEAST), dtype=np.uint32
    )
    with_h = np.array([bearing[int(code)] for code in codes])
    total = np.array([seen[int(code)] for code in codes])
    odds = np.log((with_h + 0.5) / (total - with_h + 0.5)).astype(np.float16)
    target = Path(__file__).parents[1] / "src" / "grale" / "graphs" / TABLE
    np.savez_compressed(target, codes=codes, odds=odds)
    print(f"{len(codes)} surroundings from {MOST_MOLECULES - max(left, 0)} molecules -> {target}")


def _count(text: str, seen: Counter[int], bearing: Counter[int]) -> None:
    molecule = Chem.MolFromSmiles(text)
    if molecule is None:
        return
    atoms = [
        atom
        for atom in molecule.GetAtoms()
        if atom.GetSymbol() == "N" and atom.GetIsAromatic() and atom.GetDegree() == 2
        and not atom.GetFormalCharge()
    ]  # fmt: skip
    if len(atoms) < 2:
        return
    codes = environments(molecule)
    for atom in atoms:
        for radius in range(MIN_RADIUS, MAX_RADIUS + 1):
            code = codes[radius][atom.GetIdx()]
            seen[code] += 1
            bearing[code] += atom.GetTotalNumHs() > 0


if __name__ == "__main__":
    main(Path(sys.argv[1]))
