"""Vectors that chemists make of a molecule without any training, by name.

ecfp      counts of the neighbourhoods of radius 2, hashed into 2,048 places
atompair  counts of pairs of atoms and the bonds between them, hashed likewise
rdkit     all of RDKit's two-dimensional descriptors; NaN where RDKit cannot say
counts    how many atoms of each element and bonds of each type: the least one can know
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from grale.graphs.molecules.descriptors import all_descriptors
from grale.graphs.molecules.molecule import NUM_ATOM_LABELS, NUM_BOND_LABELS, from_mol

NUM_PLACES = 2_048
RADIUS = 2


def morgan_counts(molecule: Any, num_places: int = NUM_PLACES) -> NDArray[np.uint8]:
    """Counts of the neighbourhoods of radius 2, hashed; at most 255. Above 0: the bits.

    >>> from rdkit import Chem
    >>> int(morgan_counts(Chem.MolFromSmiles("CCO")).sum())  # 3 atoms, 2 bonds' ends, 1 whole
    6
    """
    found = morgan_generator(num_places).GetCountFingerprintAsNumPy(molecule)
    return np.asarray(found.clip(max=255), dtype=np.uint8)


def ecfp(molecule: Any) -> NDArray[np.float64]:
    """Extended-connectivity fingerprint (ECFP4) as counts."""
    return np.asarray(morgan_generator().GetCountFingerprintAsNumPy(molecule), np.float64)


def atompair(molecule: Any) -> NDArray[np.float64]:
    """Atom-pair fingerprint as counts."""
    return np.asarray(_atompair_generator().GetCountFingerprintAsNumPy(molecule), np.float64)


def counts(molecule: Any) -> NDArray[np.float64]:
    """Atoms by element and bonds by type.

    >>> from rdkit import Chem
    >>> found = counts(Chem.MolFromSmiles("CC=O"))
    >>> found[:3].tolist(), found[-NUM_BOND_LABELS:].tolist()  # C, N, O; single, double, ...
    ([2.0, 0.0, 1.0], [1.0, 1.0, 0.0, 0.0])
    """
    graph = from_mol(molecule)
    atoms = np.bincount(graph.node_labels, minlength=NUM_ATOM_LABELS)
    bonds = np.bincount(graph.edge_labels, minlength=NUM_BOND_LABELS + 1)[1:]
    return np.concatenate([atoms, bonds]).astype(np.float64)


FINGERPRINTS: dict[str, Callable[[Any], NDArray[np.float64]]] = {
    "ecfp": ecfp,
    "atompair": atompair,
    "rdkit": all_descriptors,
    "counts": counts,
}


@lru_cache(maxsize=4)
def morgan_generator(num_places: int = NUM_PLACES) -> Any:
    """RDKit's generator of Morgan fingerprints of radius 2, hashed into `num_places`."""
    from rdkit.Chem import rdFingerprintGenerator

    return rdFingerprintGenerator.GetMorganGenerator(radius=RADIUS, fpSize=num_places)


@lru_cache(maxsize=1)
def _atompair_generator() -> Any:
    from rdkit.Chem import rdFingerprintGenerator

    return rdFingerprintGenerator.GetAtomPairGenerator(fpSize=NUM_PLACES)
