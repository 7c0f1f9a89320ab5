"""Where a pattern occurs in a molecule; each pattern is read once."""

from __future__ import annotations

from functools import lru_cache
from typing import Any


def last_atoms(molecule: Any, smarts: str) -> list[int]:
    """Atoms matched by the last atom of the pattern, each once.

    >>> from rdkit import Chem
    >>> last_atoms(Chem.MolFromSmiles("OC(=O)CC(=O)O"), "C(=O)[OH]")
    [0, 6]
    """
    found = molecule.GetSubstructMatches(_pattern(smarts))
    return list(dict.fromkeys(match[-1] for match in found))


def first_match(molecule: Any, smarts: str) -> list[int] | None:
    """Atoms of the first occurrence of a pattern that a user wrote, or None if there is none.

    >>> from rdkit import Chem
    >>> first_match(Chem.MolFromSmiles("OC(=O)C"), "C=O")
    [1, 2]
    """
    pattern = _pattern(smarts)
    if pattern is None or pattern.GetNumAtoms() == 0:
        raise ValueError(f"{smarts[:100]!r} is not a pattern; write SMARTS or a SMILES")
    found = molecule.GetSubstructMatch(pattern)
    return list(found) or None


@lru_cache(maxsize=64)
def _pattern(smarts: str) -> Any:
    from rdkit import Chem
    from rdkit.rdBase import BlockLogs

    with BlockLogs():  # the caller says what is wrong with a pattern
        return Chem.MolFromSmarts(smarts)


def atoms_of(molecule: Any) -> list[Any]:
    """All atoms; several times as fast as RDKit's iterator."""
    return [molecule.GetAtomWithIdx(place) for place in range(molecule.GetNumAtoms())]


def bonds_of(molecule: Any) -> list[Any]:
    """All bonds, likewise."""
    return [molecule.GetBondWithIdx(place) for place in range(molecule.GetNumBonds())]
