"""Fit which amines and acids are ions, and write `src/grale/graphs/protonation.npz`.

    python benchmarks/fit_protonation.py POOL_FOLDER [--count 1200000]

Fits the train split; the valid split chooses between fits and shows what they mend and break.
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

from grale.graphs.hydrogen_places import environments
from grale.graphs.protonation import (
    MOST_ATOMS,
    NUM_FEATURES,
    SITES,
    WEIGHTS,
    features,
    places,
)

FREEDOMS = (0.1, 0.2, 0.4)  # the smaller, the smaller the weights; the valid split chooses


def examples(smiles: str) -> Iterator[tuple[str, np.ndarray, bool]]:
    """Sites of a molecule: kind, features, whether it is charged."""
    molecule = Chem.MolFromSmiles(smiles)
    codes: list[list[int]] = []
    for kind, site in SITES.items():
        for atom in places(molecule, kind):
            codes = codes or environments(molecule)
            is_charged = molecule.GetAtomWithIdx(atom).GetFormalCharge() == site.charge
            yield kind, features(codes, atom), is_charged


def collect(smiles: list[str]) -> dict[str, tuple[csr_matrix, np.ndarray]]:
    """Features and answers of all sites, by kind."""
    rows: dict[str, list[np.ndarray]] = {kind: [] for kind in SITES}
    answers: dict[str, list[bool]] = {kind: [] for kind in SITES}
    for text in track(smiles, "sites"):
        for kind, numbers, is_charged in examples(text):
            rows[kind].append(numbers)
            answers[kind].append(is_charged)
    return {kind: (_matrix(rows[kind]), np.array(answers[kind])) for kind in SITES}


def _matrix(rows: list[np.ndarray]) -> csr_matrix:
    ends = np.cumsum([0, *(len(row) for row in rows)])
    ones = np.ones(ends[-1], dtype=np.float32)
    return csr_matrix((ones, np.concatenate(rows), ends), shape=(len(rows), NUM_FEATURES))


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
    parser.add_argument("--count", type=int, default=1_200_000)
    options = parser.parse_args()
    RDLogger.DisableLog("rdApp.*")
    train = collect(sample(options.folder, "train", options.count))
    valid = collect(sample(options.folder, "valid", options.count))
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
