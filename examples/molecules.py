"""Molecules through a model: SMILES in, vectors, SMILES out.

    python examples/molecules.py [MODEL] [OUT.png]

Without a model, an untrained one shows the calls; what it decodes means nothing.
"""

from __future__ import annotations

import logging
import sys

import torch

import grale
from grale.graphs.molecule import molecule_space

MOLECULES = ["CCO", "c1ccccc1", "CC(=O)Nc1ccc(O)cc1", "CC(=O)Oc1ccccc1C(=O)O", "not a molecule"]


def main(name: str | None, out: str) -> None:
    """Embed, decode, draw."""
    from rdkit import Chem
    from rdkit.Chem import Draw

    if name is None:
        torch.manual_seed(0)
        model = grale.GRALE(molecule_space(16), grale.ModelConfig(num_layers=2, norm="pre"))
    else:
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
    arguments = sys.argv[1:]
    main(
        arguments[0] if arguments else None, arguments[1] if len(arguments) > 1 else "molecules.png"
    )
