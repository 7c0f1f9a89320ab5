"""Which nitrogen of an aromatic ring has the hydrogen: as in most public molecules.

The graph does not say which of several ring nitrogens has the hydrogen. A linear model of the
surroundings of a nitrogen ranks them; its weights are fitted on the train split of POOL
(`benchmarks/fit_hydrogens.py`).
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from importlib.resources import files
from typing import Any
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from grale.graphs.molecules.substructure import atoms_of, bonds_of

MAX_RADIUS = 5
NUM_CODES = 1 << 17
FAR, NEAR = 7, 4  # in bonds: how far atoms count alone, and with their neighbours
WEIGHTS = "hydrogen_places.npz"


def environments(molecule: Any) -> list[list[int]]:
    """Codes of every atom's surroundings, codes[radius][atom]; same surroundings, same code."""
    labels = [
        crc32(f"{a.GetSymbol()}{a.GetDegree()}{int(a.GetIsAromatic())}".encode())
        for a in atoms_of(molecule)
    ]
    neighbours: list[list[tuple[int, int]]] = [[] for _ in labels]
    for bond in bonds_of(molecule):
        start, end, kind = bond.GetBeginAtomIdx(), bond.GetEndAtomIdx(), int(bond.GetBondType())
        neighbours[start].append((kind, end))
        neighbours[end].append((kind, start))
    codes = [labels]
    for radius in range(1, MAX_RADIUS + 1):
        last = codes[-1]
        codes.append(
            [
                crc32(repr((radius, last[a], sorted((k, last[b]) for k, b in around))).encode())
                for a, around in enumerate(neighbours)
            ]
        )
    return codes


def bearer_odds(molecule: Any, atoms: Iterable[int]) -> dict[int, float]:
    """Score of each atom; in a ring system, the hydrogen is more likely at a higher one."""
    from rdkit import Chem

    weights, codes = _weights(), environments(molecule)
    distances = Chem.GetDistanceMatrix(molecule).astype(np.int64)
    return {
        atom: float(weights[features(codes, distances[atom], atom)].sum(dtype=np.float64))
        for atom in atoms
    }


def features(codes: list[list[int]], distances: NDArray[np.int64], atom: int) -> NDArray[np.int64]:
    """Numbers of the features of an atom, each once.

    They are its surroundings at each radius, and the kinds of atoms at each distance in bonds.
    """
    around = [codes[radius][atom] for radius in range(1, MAX_RADIUS + 1)]
    alone, in_company = np.array(codes[0]), np.array(codes[1])
    far, near = distances <= FAR, distances <= NEAR
    numbers = np.concatenate(
        [
            np.array(around),
            alone[far] * 31 + distances[far] * 2_654_435_761 + 7,
            in_company[near] * 37 + distances[near] * 2_246_822_519 + 11,
        ]
    )
    return np.asarray(np.unique((numbers ^ (numbers >> 17)) % NUM_CODES))


@lru_cache(maxsize=1)
def _weights() -> NDArray[np.float32]:
    with (
        files("grale.graphs.molecules").joinpath(WEIGHTS).open("rb") as file,
        np.load(file) as stored,
    ):
        return np.asarray(stored["weights"], dtype=np.float32)
