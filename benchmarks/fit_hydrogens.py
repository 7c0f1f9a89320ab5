"""Fit which ring nitrogens have hydrogens, and write `hydrogen_places.npz`.

    python benchmarks/fit_hydrogens.py POOL_FOLDER [--count 5000000]

Fits the train split: of two nitrogens of one aromatic system, one with a hydrogen and one without,
the first should score higher. The valid split shows how often all are placed right.
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

from grale.graphs.molecules.hydrogen_places import NUM_CODES, WEIGHTS, environments, features
from grale.graphs.molecules.repair import aromatic_systems

FREEDOM = 0.3  # the smaller, the smaller the weights


def choices(smiles: str) -> Iterator[list[tuple[np.ndarray, bool]]]:
    """Aromatic systems that leave a choice: features of each nitrogen, whether it has hydrogen."""
    molecule = Chem.MolFromSmiles(smiles)
    ring = [
        atom
        for atom in molecule.GetAtoms()
        if atom.GetSymbol() == "N" and atom.GetIsAromatic() and atom.GetDegree() == 2
        and not atom.GetFormalCharge()
    ]  # fmt: skip
    if len(ring) < 2:
        return
    codes, distances = environments(molecule), Chem.GetDistanceMatrix(molecule).astype(np.int64)
    for system in aromatic_systems(molecule):
        inside = [atom.GetIdx() for atom in ring if atom.GetIdx() in system]
        bears = [molecule.GetAtomWithIdx(place).GetTotalNumHs() > 0 for place in inside]
        if any(bears) and not all(bears):
            yield [
                (features(codes, distances[place], place), answer)
                for place, answer in zip(inside, bears)
            ]


def collect(smiles: list[str]) -> tuple[csr_matrix, np.ndarray, np.ndarray]:
    """Features, answers and the number of the choice of all nitrogens."""
    rows, groups, group = SparseRows(), [], 0
    for text in track(smiles, "choices"):
        if "[nH]" in text:
            for nitrogens in choices(text):
                for numbers, answer in nitrogens:
                    rows.add(numbers.tolist(), answer)
                    groups.append(group)
                group += 1
    return *rows.matrix(NUM_CODES), np.array(groups)


def fit(inputs: csr_matrix, bears: np.ndarray, groups: np.ndarray) -> np.ndarray:
    """Weights by which nitrogens with a hydrogen score above the others of their choice."""
    pairs = np.array(
        [
            (one, other)
            for members in np.split(np.arange(len(groups)), np.flatnonzero(np.diff(groups)) + 1)
            for one in members[bears[members]]
            for other in members[~bears[members]]
        ]
    )
    signs = np.where(np.arange(len(pairs)) % 2, 1.0, -1.0)  # the fit wants both answers
    differences = inputs[pairs[:, 0]] - inputs[pairs[:, 1]]
    differences = differences.multiply(signs[:, None]).tocsr()
    model = LogisticRegression(C=FREEDOM, fit_intercept=False, solver="liblinear")
    return model.fit(differences, signs > 0).coef_[0].astype(np.float16)


def share_right(
    weights: np.ndarray, inputs: csr_matrix, bears: np.ndarray, groups: np.ndarray
) -> float:
    """Share of choices in which the highest scores are those with a hydrogen."""
    scores = inputs @ weights.astype(np.float32)
    right = [
        scores[members[bears[members]]].min() > scores[members[~bears[members]]].max()
        for members in np.split(np.arange(len(groups)), np.flatnonzero(np.diff(groups)) + 1)
    ]
    return float(np.mean(right))


def main() -> None:
    """Fit, show, write."""
    parser = argparse.ArgumentParser()
    parser.add_argument("folder", type=Path)
    parser.add_argument("--count", type=int, default=5_000_000)
    options = parser.parse_args()
    RDLogger.DisableLog("rdApp.*")
    train = collect(sample(options.folder, "train", options.count))
    valid = collect(sample(options.folder, "valid", options.count))
    weights = fit(*train)
    print(f"{train[2][-1] + 1} choices; right in {share_right(weights, *valid):.2%} of valid")
    target = Path(__file__).parents[1] / "src" / "grale" / "graphs" / WEIGHTS
    np.savez_compressed(target, weights=weights)
    print(f"-> {target}, {target.stat().st_size / 1e3:.0f} kB")


if __name__ == "__main__":
    main()
