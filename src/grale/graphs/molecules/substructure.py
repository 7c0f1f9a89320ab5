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


@lru_cache(maxsize=64)
def _pattern(smarts: str) -> Any:
    from rdkit import Chem

    return Chem.MolFromSmarts(smarts)
