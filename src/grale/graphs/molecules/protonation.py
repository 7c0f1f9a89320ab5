"""Which bases and acids are drawn as ions: as in most public molecules.

An amine and its ammonium ion are the same graph, and so are an acid and its anion. Collections
differ in which form they hold, and their molecules look different. So a linear model of the
composition of a molecule and the surroundings of the site predicts the likelier form. Its weights
are fitted on the train split of POOL (`benchmarks/fit_protonation.py`).
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from importlib.resources import files
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from grale.graphs.molecules.hydrogen_places import environments
from grale.graphs.molecules.substructure import last_atoms

WEIGHTS = "protonation.npz"
NUM_CODES = 1 << 16
MOLECULE_RADIUS, SITE_RADIUS = 3, 5
MOST_ATOMS = 40  # larger molecules count as this large
TOO_NEAR = 3  # bonds between two ions of the same charge: piperazine takes one proton
NUM_FEATURES = 2 * NUM_CODES + MOST_ATOMS + 1


class Site(NamedTuple):
    """A kind of atom that may be charged."""

    pattern: str
    """SMARTS of both forms; the atom itself is the last of a match."""
    charge: int


SITES = {
    "amine": Site(
        "[$([NX3]),$([NX4+;!H0]);!$(N=*);!$(N#*);!$(N-C=[O,S,Se,N,C]);!$(N-a);"
        "!$(N-[!#6;!#1]);!$(N-C#*)]",
        1,
    ),
    "acid": Site("[CX3](=O)[OX1-,OX2H]", -1),
    "oxygen": Site("[c,S,P,$(C=[!O])]-[$([OX2H1]),$([OX1-])]", -1),
    "imine": Site("[#6]=[$([NX2;+0]),$([NX3;+1;!H0])]", 1),
}


def protonate(molecule: Any) -> None:
    """Charge those sites of a neutral, sanitised molecule where the ion is the likelier form.

    Hydrogens must be implicit. The surest sites come first; a site too near to another of the same
    charge stays neutral.
    """
    from rdkit import Chem

    found = [(score, atom, SITES[kind].charge) for kind, atom, score in _scored_sites(molecule)]
    likely = sorted((site for site in found if site[0] > 0), reverse=True)
    if not likely:
        return
    bonds_between = Chem.GetDistanceMatrix(molecule)
    charged: list[tuple[int, int]] = []
    for _, atom, charge in likely:
        rivals = [place for place, other in charged if other == charge]
        if all(bonds_between[atom][place] > TOO_NEAR for place in rivals):
            molecule.GetAtomWithIdx(atom).SetFormalCharge(charge)
            charged.append((atom, charge))
    molecule.UpdatePropertyCache()


def _scored_sites(molecule: Any) -> Iterator[tuple[str, int, float]]:
    """Kind, atom, and log-odds of being an ion, for every site."""
    codes: list[list[int]] = []
    for kind in SITES:
        for atom in places(molecule, kind):
            codes = codes or environments(molecule)
            weights = _weights()[kind][features(codes, atom)]
            yield kind, atom, float(weights.sum(dtype=np.float64))


def places(molecule: Any, kind: str) -> list[int]:
    """Atoms of a molecule that are sites of a kind."""
    return last_atoms(molecule, SITES[kind].pattern)


def features(codes: list[list[int]], atom: int) -> NDArray[np.int64]:
    """Numbers of the features of a site, each once, from the codes of all surroundings."""
    size = min(len(codes[0]), MOST_ATOMS)
    around = (codes[radius][atom] % NUM_CODES for radius in range(1, SITE_RADIUS + 1))
    anywhere = {code % NUM_CODES for ring in codes[: MOLECULE_RADIUS + 1] for code in ring}
    numbers = [*anywhere, *(NUM_CODES + code for code in set(around)), 2 * NUM_CODES + size]
    return np.array(numbers)


@lru_cache(maxsize=1)
def _weights() -> dict[str, NDArray[np.float32]]:
    with (
        files("grale.graphs.molecules").joinpath(WEIGHTS).open("rb") as file,
        np.load(file) as stored,
    ):
        return {kind: stored[kind].astype(np.float32) for kind in SITES}
