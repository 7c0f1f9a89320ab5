"""Two sets of molecules compared, as MOSES does (Polykovskiy et al. 2020), with RDKit and ChemNet.

FCD        Frechet distance of ChemNet's last layer, as Gaussians
SNN        mean similarity to the nearest molecule of the reference (Morgan, radius 2, 1024 bits)
Frag, Scaf cosine of the counts of BRICS fragments and of Bemis-Murcko scaffolds
IntDiv     1 - mean similarity of all pairs
Filters    share that passes MCF and PAINS, has MOSES's atoms, no charge, no ring of 8 or more
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import lru_cache
from math import sqrt
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from grale.data.moses import read_filters
from grale.graphs.molecules.fingerprints import morgan_generator
from grale.tasks.chemnet import chemnet_vectors

NUM_BITS = 1_024  # MOSES's
ATOMS = {"C", "N", "S", "O", "F", "Cl", "Br", "H"}
SMALLEST_BAD_RING = 8
FEWEST_RINGS = 2  # of a scaffold that counts
CHUNK = 512  # molecules given to ChemNet at once


class MoleculeSet(NamedTuple):
    """What is compared of a set."""

    fingerprints: list[Any]
    fragments: Counter[str]
    scaffolds: Counter[str]
    mean: NDArray[np.float64]
    covariance: NDArray[np.float64]


def summarise(smiles: Sequence[str]) -> MoleculeSet:
    """Everything that comparisons need of a set of valid molecules."""
    molecules = [_molecule(text) for text in smiles]
    activations = np.concatenate(
        [chemnet_vectors(smiles[start : start + CHUNK]) for start in range(0, len(smiles), CHUNK)]
    )
    return MoleculeSet(
        [morgan_generator(NUM_BITS).GetFingerprint(molecule) for molecule in molecules],
        Counter(piece for molecule in molecules for piece in fragments(molecule)),
        Counter(found for molecule in molecules if (found := scaffold(molecule))),
        activations.mean(axis=0),
        np.cov(activations, rowvar=False),
    )


def frechet_distance(first: MoleculeSet, second: MoleculeSet) -> float:
    """FCD of two sets of at least two molecules each.

    |m - m'|^2 + tr(S) + tr(S') - 2 tr((S^1/2 S' S^1/2)^1/2)
    """
    values, vectors = np.linalg.eigh(first.covariance)
    root = (vectors * np.sqrt(values.clip(0))) @ vectors.T
    shared = np.linalg.eigvalsh(root @ second.covariance @ root).clip(0)
    traces = np.trace(first.covariance) + np.trace(second.covariance)
    apart = np.square(first.mean - second.mean).sum()
    return float(apart + traces - 2 * np.sqrt(shared).sum())


def nearest_similarity(found: MoleculeSet, reference: MoleculeSet) -> float:
    """Mean over the first set of the highest similarity to the second."""
    from rdkit.DataStructs import BulkTanimotoSimilarity

    known = reference.fingerprints
    return float(np.mean([max(BulkTanimotoSimilarity(f, known)) for f in found.fingerprints]))


def internal_diversity(found: MoleculeSet) -> float:
    """1 - mean similarity over all pairs, each molecule with itself included, as in MOSES."""
    from rdkit.DataStructs import BulkTanimotoSimilarity

    sums = [sum(BulkTanimotoSimilarity(f, found.fingerprints)) for f in found.fingerprints]
    return 1 - sum(sums) / len(sums) ** 2


def cosine(first: Counter[str], second: Counter[str]) -> float:
    """Cosine of two tables of counts; NaN if one is empty.

    >>> cosine(Counter("aab"), Counter("aabcc"))
    0.7453559924999299
    """
    norms = [sqrt(sum(count**2 for count in each.values())) for each in (first, second)]
    if 0 in norms:
        return float("nan")
    return sum(count * second[name] for name, count in first.items()) / (norms[0] * norms[1])


def fragments(molecule: Any) -> list[str]:
    """Pieces between the bonds that BRICS cuts, as SMILES.

    >>> sorted(fragments(_molecule("CCOc1ccccc1")))
    ['[16*]c1ccccc1', '[3*]O[3*]', '[4*]CC']
    """
    from rdkit import Chem

    found: str = Chem.MolToSmiles(Chem.FragmentOnBRICSBonds(molecule))
    return found.split(".")


def scaffold(molecule: Any) -> str | None:
    """Bemis-Murcko scaffold of at least two rings, or None."""
    from rdkit import Chem
    from rdkit.Chem.Scaffolds.MurckoScaffold import GetScaffoldForMol

    found = GetScaffoldForMol(molecule)
    if found.GetRingInfo().NumRings() < FEWEST_RINGS:
        return None
    return Chem.MolToSmiles(found) or None


def passes_filters(smiles: str) -> bool:
    """Whether MOSES would have taken the molecule."""
    from rdkit import Chem

    molecule = _molecule(smiles)
    if any(len(ring) >= SMALLEST_BAD_RING for ring in molecule.GetRingInfo().AtomRings()):
        return False
    for atom in molecule.GetAtoms():
        if atom.GetFormalCharge() != 0 or atom.GetSymbol() not in ATOMS:
            return False
    full = Chem.AddHs(molecule)
    return not any(full.HasSubstructMatch(pattern) for pattern in _patterns())


def canonical(smiles: str) -> str:
    """SMILES as the installed RDKit writes it; versions differ.

    >>> canonical("OCC")
    'CCO'
    """
    from rdkit import Chem

    found: str = Chem.CanonSmiles(smiles)
    return found


def _molecule(smiles: str) -> Any:
    from rdkit import Chem

    return Chem.MolFromSmiles(smiles)


@lru_cache(maxsize=1)
def _patterns() -> list[Any]:
    from rdkit import Chem

    return [Chem.MolFromSmarts(text) for text in read_filters()]
