"""
Molecules in and out
====================

SMILES to vectors and back to SMILES.

python examples/molecules.py [MODEL] [OUT.png]
"""

from __future__ import annotations

import logging
import sys

import grale

MOLECULES = ["CCO", "c1ccccc1", "CC(=O)Nc1ccc(O)cc1", "CC(=O)Oc1ccccc1C(=O)O", "not a molecule"]


def main(name: str, out: str) -> None:
    """Embed, decode, draw."""
    from rdkit import Chem
    from rdkit.Chem import Draw

    model = grale.load(name)
    for smiles, reason in zip(MOLECULES, model.why_not(MOLECULES)):
        logging.info(f"{smiles:28} {'can be embedded' if reason is None else reason}")
    good = [s for s, reason in zip(MOLECULES, model.why_not(MOLECULES)) if reason is None]
    vectors = model.encode(good)
    again = model.decode_smiles(vectors, tries=20)
    for smiles, decoded in zip(good, again):
        logging.info(f"{smiles:28} -> {decoded}")
    pairs = [(Chem.MolFromSmiles(s), s) for s in good]
    pairs += [(Chem.MolFromSmiles(s or ""), s or "no valid molecule") for s in again]
    picture = Draw.MolsToGridImage(
        [molecule for molecule, _ in pairs],
        molsPerRow=len(good),
        subImgSize=(260, 220),
        legends=[legend for _, legend in pairs],
    )
    picture.save(out)
    logging.info(f"wrote {out}")


if __name__ == "__main__":
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    name, out = (sys.argv[1:] + ["molecules", "molecules.png"][len(sys.argv) - 1 :])[:2]
    main(name, out)
