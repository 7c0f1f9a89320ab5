"""Fit which bases and acids are ions, and write `src/grale/graphs/molecules/protonation.npz`.

    python benchmarks/fit_protonation.py POOL_FOLDER

Fits the train split, about an hour on one core; the valid split chooses between fits and shows what
they mend and break.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from molecule_round_trip import sample
from rdkit import Chem, RDLogger
from rich.progress import track
from scipy.sparse import csr_matrix
from sklearn.linear_model import LogisticRegression
from sparse_rows import SparseRows

from grale.graphs.molecules.hydrogen_places import environments
from grale.graphs.molecules.protonation import (
    MOST_ATOMS,
    NUM_FEATURES,
    SITES,
    WEIGHTS,
    features,
    places,
)

FREEDOMS = (0.1, 0.2)  # the smaller, the smaller the weights; the valid split chooses
COUNTS = {"amine": 3_600_000, "acid": 3_600_000, "oxygen": 1_200_000, "imine": 1_200_000}
"""Molecules to look at for each kind of site."""


def examples(smiles: str, kinds: list[str]) -> Iterator[tuple[str, np.ndarray, bool]]:
    """Sites of a molecule: kind, features, whether it is charged."""
    molecule = Chem.MolFromSmiles(smiles)
    codes: list[list[int]] = []
    for kind in kinds:
        for atom in places(molecule, kind):
            codes = codes or environments(molecule)
            is_charged = molecule.GetAtomWithIdx(atom).GetFormalCharge() == SITES[kind].charge
            yield kind, features(codes, atom), is_charged


def collect(smiles: list[str]) -> dict[str, tuple[csr_matrix, np.ndarray]]:
    """Features and answers of all sites, by kind."""
    rows = {kind: SparseRows() for kind in SITES}
    for place, text in enumerate(track(smiles, "sites")):
        kinds = [kind for kind in SITES if place < COUNTS[kind]]
        for kind, numbers, is_charged in examples(text, kinds):
            rows[kind].add(numbers.tolist(), is_charged)
    return {kind: rows[kind].matrix(NUM_FEATURES) for kind in SITES}


def fit(inputs: csr_matrix, answers: np.ndarray, freedom: float) -> np.ndarray:
    """Weights of all features; the constant goes to the sizes, of which every site has one."""
    model = LogisticRegression(C=freedom, solver="liblinear").fit(inputs, answers)
    weights = model.coef_[0].copy()
    weights[-(MOST_ATOMS + 1) :] += model.intercept_[0]
    return weights.astype(np.float16)


def gain(weights: np.ndarray, inputs: csr_matrix, answers: np.ndarray) -> tuple[int, int]:
    """How many charged sites are found, and minus how many others are called charged."""
    guess = inputs @ weights.astype(np.float32) > 0
    return int((guess & answers).sum()), -int((guess & ~answers).sum())


def main() -> None:
    """Fit, show, write."""
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    options = parser.parse_args()
    RDLogger.DisableLog("rdApp.*")
    train = collect(sample(options.folder, "train", max(COUNTS.values())))
    valid = collect(sample(options.folder, "valid", max(COUNTS.values())))
    found = {}
    for kind in SITES:
        fits = [fit(*train[kind], freedom) for freedom in FREEDOMS]
        found[kind] = max(fits, key=lambda weights: sum(gain(weights, *valid[kind])))
        mended, broken = gain(found[kind], *valid[kind])
        answers, charged = train[kind][1], int(valid[kind][1].sum())
        print(f"{kind}: {len(answers)} sites, {answers.mean():.2%} charged; in valid {charged}")
        print(f"  found {mended} of them and {-broken} others")
    target = Path(__file__).parents[1] / "src" / "grale" / "graphs" / WEIGHTS
    np.savez_compressed(target, **found)
    print(f"-> {target}, {target.stat().st_size / 1e3:.0f} kB")


if __name__ == "__main__":
    main()
