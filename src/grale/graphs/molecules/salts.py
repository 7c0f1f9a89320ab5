"""Salts and betaines: lone metals are ions, and acids balance positive charges.

A graph of several parts does not say where the electrons are. A chemist draws sodium acetate as
two ions, and an acid next to a quaternary nitrogen as its anion.
"""

from __future__ import annotations

from typing import Any

from grale.graphs.molecules.substructure import last_atoms

LONE_CATIONS = {
    "Li": 1, "Na": 1, "Mg": 2, "Zn": 2, "Cu": 2, "Ni": 2, "Co": 2, "Fe": 2, "Pb": 2, "Hg": 2,
    "Al": 3, "Bi": 3,
}  # fmt: skip
ACIDS = ("[S,P](=O)[OX2H1]", "[F,Cl,Br,I;D0]", "[CX3](=O)[OX2H1]")
"""SMARTS of acids, the strongest first; the atom that loses the proton is the last."""


def balance_charges(molecule: Any) -> None:
    """Charge lone metals, and enough acids to balance all positive charges.

    The molecule must be sanitised. A metal stays neutral if there are too few acids for its charge.
    """
    lone = [atom for atom in molecule.GetAtoms() if atom.GetDegree() == 0]
    metals = [atom for atom in lone if atom.GetSymbol() in LONE_CATIONS]
    surplus = sum(atom.GetFormalCharge() for atom in molecule.GetAtoms())
    if surplus <= 0 and not metals:
        return
    acids = list(dict.fromkeys(atom for acid in ACIDS for atom in last_atoms(molecule, acid)))
    for metal in metals:
        metal.SetNoImplicit(True)
        metal.SetNumExplicitHs(0)
        charge = LONE_CATIONS[metal.GetSymbol()]
        if surplus + charge <= len(acids):
            metal.SetFormalCharge(charge)
            surplus += charge
    for place in acids[: max(surplus, 0)]:
        molecule.GetAtomWithIdx(place).SetFormalCharge(-1)
    molecule.UpdatePropertyCache()


def largest_organic_part(molecule: Any) -> Any | None:
    """The part with most atoms among those with carbon; None if there is nothing to remove.

    A salt without carbon stays as it is. Of parts of one size, the first is kept.
    """
    from rdkit import Chem

    parts = Chem.GetMolFrags(molecule, asMols=True, sanitizeFrags=False)
    organic = [part for part in parts if any(atom.GetAtomicNum() == 6 for atom in part.GetAtoms())]
    if len(parts) < 2 or not organic:
        return None
    return max(organic, key=lambda part: part.GetNumHeavyAtoms())
