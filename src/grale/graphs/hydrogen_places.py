"""Which nitrogen of an aromatic ring bears the hydrogen: what public molecules do most often.

The graph does not say which of several ring nitrogens carries the hydrogen. A table holds, for the
surroundings of a nitrogen up to some bonds away, the log-odds that it does, counted on the train
split of POOL (`benchmarks/count_hydrogens.py`); wider surroundings go before narrower ones.

Departures: not in the paper.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import lru_cache
from importlib.resources import files
from typing import Any
from zlib import crc32

import numpy as np

MAX_RADIUS = 5
MIN_RADIUS = 1
TABLE = "hydrogen_places.npz"


def environments(molecule: Any) -> list[list[int]]:
    """Codes of every atom's surroundings, codes[radius][atom]; same surroundings, same code."""
    labels = [
        crc32(f"{a.GetSymbol()}{a.GetDegree()}{int(a.GetIsAromatic())}".encode())
        for a in molecule.GetAtoms()
    ]
    neighbours: list[list[tuple[int, int]]] = [[] for _ in labels]
    for bond in molecule.GetBonds():
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
    """Log-odds that each atom bears a hydrogen; 0 for surroundings never counted."""
    table = _table()
    codes = environments(molecule)
    odds = {}
    for atom in atoms:
        wider_first = (codes[radius][atom] for radius in range(MAX_RADIUS, MIN_RADIUS - 1, -1))
        odds[atom] = next((table[code] for code in wider_first if code in table), 0.0)
    return odds


@lru_cache(maxsize=1)
def _table() -> dict[int, float]:
    with files("grale.graphs").joinpath(TABLE).open("rb") as file, np.load(file) as stored:
        return dict(zip(stored["codes"].tolist(), stored["odds"].astype(float).tolist()))
