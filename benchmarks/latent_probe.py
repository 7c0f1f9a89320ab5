"""What embeddings say of molecules: how much of descriptors' variance simple models explain.

    python benchmarks/latent_probe.py MOLECULES.parquet MODEL [MODEL ...]

6,000 molecules of at most 16 heavy atoms drawn at random, three quarters to fit on. `ridge` asks
whether a property is a linear function of the embedding, `neighbours` (the five nearest) whether
near embeddings have near properties.
"""

from __future__ import annotations

import sys

import numpy as np
import pyarrow.parquet as pq
from rdkit import Chem
from rdkit.Chem import QED, Crippen, rdMolDescriptors
from sklearn.linear_model import RidgeCV
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import grale

COUNT, FITTED, MAX_ATOMS = 6_000, 4_500, 16
DESCRIPTORS = {
    "logP": Crippen.MolLogP,
    "QED": QED.qed,
    "TPSA": rdMolDescriptors.CalcTPSA,
    "rings": rdMolDescriptors.CalcNumRings,
}


def molecules(path: str) -> list[str]:
    """Draw SMILES from a file with the columns `smiles` and `n_atoms`."""
    table = pq.read_table(path, columns=["smiles", "n_atoms"])
    smiles = np.array(table["smiles"].to_pylist())[np.array(table["n_atoms"]) <= MAX_ATOMS]
    return np.random.default_rng(0).choice(smiles, COUNT, replace=False).tolist()


def main(path: str, names: list[str]) -> None:
    """Print a row for each model and descriptor."""
    smiles = molecules(path)
    mols = [Chem.MolFromSmiles(text) for text in smiles]
    for name in names:
        latents = grale.load(name).encode(smiles)
        for label, describe in DESCRIPTORS.items():
            values = np.array([describe(mol) for mol in mols])
            scores = {
                "ridge": make_pipeline(StandardScaler(), RidgeCV(np.logspace(-2, 4, 13))),
                "neighbours": KNeighborsRegressor(5),
            }
            found = {
                kind: model.fit(latents[:FITTED], values[:FITTED]).score(
                    latents[FITTED:], values[FITTED:]
                )
                for kind, model in scores.items()
            }
            print(name, latents.shape[1], label, {k: round(v, 3) for k, v in found.items()})


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2:])
