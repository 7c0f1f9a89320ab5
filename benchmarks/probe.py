"""What vectors say about measured properties: error of a support vector machine, in deviations.

    python benchmarks/probe.py DATA_FOLDER [CONTENDER ...] [--sets esol freesolv lipophilicity]

Contenders are models (their descriptions), `rdkit` (all 217 descriptors) and `ecfp` (counts of
radius 2 in 2,048 buckets). Molecules of at most 32 heavy atoms, five random splits of 90 to 10;
C and gamma are chosen on a tenth of the training rows.
"""

from __future__ import annotations

import argparse
import warnings
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
from numpy.typing import NDArray
from rdkit import Chem
from rdkit.Chem import Descriptors, rdFingerprintGenerator
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVR

import grale

MAX_ATOMS, SPLITS = 32, 5
GRID = [(c, gamma) for c in (1.0, 3.0, 10.0, 30.0, 100.0) for gamma in (1.0, 0.3)]
FURTHEST = 10.0  # deviations; descriptors of a few molecules are extreme


def vectors(contender: str, smiles: list[str]) -> NDArray[np.float64]:
    """One row per molecule; NaN where the contender cannot take it."""
    molecules = [Chem.MolFromSmiles(text) for text in smiles]
    if contender == "rdkit":
        rows = [[f(mol) for _, f in Descriptors.descList] for mol in molecules]
        return np.nan_to_num(np.array(rows, dtype=np.float64)).clip(-1e5, 1e5)
    if contender == "ecfp":
        generator = rdFingerprintGenerator.GetMorganGenerator(radius=2, fpSize=2048)
        return np.array([generator.GetCountFingerprintAsNumPy(mol) for mol in molecules], float)
    return grale.load(contender).describe(smiles, on_error="null").astype(np.float64)


def errors(x: NDArray[np.float64], y: NDArray[np.float64]) -> list[float]:
    """Mean absolute error on each split's test rows, in deviations of its training rows."""
    found = []
    for seed in range(SPLITS):
        order = np.random.default_rng(seed).permutation(len(y))
        test, train = order[: len(y) // 10], order[len(y) // 10 :]
        choice, fit = train[: len(train) // 10], train[len(train) // 10 :]
        values = (y - y[train].mean()) / y[train].std()
        scaled = StandardScaler().fit(x[train]).transform(x).clip(-FURTHEST, FURTHEST)

        def error(rows, held_out, c, gamma, scaled=scaled, values=values) -> float:
            head = SVR(C=c, gamma=gamma / scaled.shape[1], epsilon=0.05)
            missed = head.fit(scaled[rows], values[rows]).predict(scaled[held_out])
            return float(np.abs(missed - values[held_out]).mean())

        best = min(GRID, key=lambda setting, fit=fit, choice=choice: error(fit, choice, *setting))
        found.append(error(train, test, *best))
    return found


def main() -> None:
    """Print a row for each set and contender."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("contenders", nargs="*", default=["molecules-32", "rdkit", "ecfp"])
    parser.add_argument("--sets", nargs="+", default=["esol", "freesolv", "lipophilicity"])
    options = parser.parse_args()
    warnings.filterwarnings("ignore", module="rdkit")
    for name in options.sets:
        table = pq.read_table(options.folder / f"{name}.parquet")
        table = table.filter(np.array(table["n_atoms"]) <= MAX_ATOMS)
        smiles, target = table["smiles"].to_pylist(), np.array(table["target"], dtype=np.float64)
        rows = {contender: vectors(contender, smiles) for contender in options.contenders}
        taken = np.all([np.isfinite(x).all(axis=1) for x in rows.values()], axis=0)
        for contender, x in rows.items():
            found = errors(x[taken], target[taken])
            print(f"{name}, {taken.sum()} molecules, {contender}: "
                  f"{np.mean(found):.3f} +- {np.std(found):.3f}", flush=True)  # fmt: skip


if __name__ == "__main__":
    main()
