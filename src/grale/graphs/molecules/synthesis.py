"""How hard a molecule is to make, and the logP that counts it (Ertl and Schuffenhauer 2009).

    penalised logP = logP - SA - max(0, size of the largest ring - 6)

The score SA, from 1 (easy) to 10, is RDKit's. RDKit keeps the table of its fragments as a pickle.
It is read here as text, because unpickling runs whatever a file says.
"""

from __future__ import annotations

import gzip
import re
from functools import lru_cache
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

FOLDER = "SA_Score"  # among RDKit's contributions
TABLE = "fpscores.pkl.gz"
NUMBERS = re.compile(rb"a?([FI])(-?[0-9.e+-]+)\n")
USUAL_RING = 6


def synthetic_accessibility(molecule: Any) -> float:
    """Score from 1 (easy to make) to 10 (hard)."""
    return float(_scorer().calculateScore(molecule))


def penalised_logp(molecule: Any) -> float:
    """Return logP less what makes a molecule hard to make: its SA score and rings above six atoms.

    >>> from rdkit import Chem
    >>> round(penalised_logp(Chem.MolFromSmiles("CCO")), 3)
    -1.982
    """
    from rdkit.Chem.rdMolDescriptors import CalcCrippenDescriptors

    largest = max((len(ring) for ring in molecule.GetRingInfo().AtomRings()), default=0)
    penalty = synthetic_accessibility(molecule) + max(0, largest - USUAL_RING)
    return float(CalcCrippenDescriptors(molecule)[0] - penalty)


@lru_cache(maxsize=1)
def _scorer() -> Any:
    """RDKit's module, with its table filled in, so that it unpickles nothing."""
    from rdkit import RDConfig

    folder = Path(RDConfig.RDContribDir) / FOLDER
    if not (folder / TABLE).is_file():
        raise ImportError(f"this RDKit comes without {FOLDER}/{TABLE}; install it with pip")
    spec = spec_from_file_location("grale_sascorer", folder / "sascorer.py")
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    module._fscores = fragment_scores(folder / TABLE)  # type: ignore[attr-defined]
    return module


def fragment_scores(path: Path) -> dict[int, float]:
    """Score of each fragment by its code: in the file, a score is followed by its codes."""
    with gzip.open(path) as file:
        text = file.read()
    scores: dict[int, float] = {}
    score = float("nan")
    for kind, number in NUMBERS.findall(text):
        if kind == b"F":
            score = float(number)
        else:
            scores[int(number)] = score
    return scores
