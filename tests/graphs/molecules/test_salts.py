"""Salts come back as ions, metals without a partner as they are."""

from __future__ import annotations

import pytest
from rdkit import Chem

from grale.graphs.molecules.molecule import from_smiles, to_smiles


@pytest.mark.parametrize(
    "smiles",
    [
        "[Na+].[Cl-]",
        "CC(=O)[O-].[Na+]",
        "[Cu+2].O=S(=O)([O-])[O-]",
        "[Mg+2].[Cl-].[Cl-]",
        "[Cl-].C[N+](C)(C)C",
        "[Br-].CC[n+]1ccccc1",
        "CCCC[N+](CCCC)(CCCC)CCCC.F[P-](F)(F)(F)(F)F",
        "c1ccc([I+]c2ccccc2)cc1",
        "C[N+](C)(C)CC(=O)[O-]",
        "C[N+](C)(C)CCS(=O)(=O)[O-]",
        "CCN.Cl",  # nobody gave a proton away
        "[Na]",
        "[Mg].Cl",  # one acid is too few
        "CC.CO",
    ],
)
def test_a_salt_comes_back_as_it_is_drawn(smiles: str) -> None:
    assert to_smiles(from_smiles(smiles)) == Chem.CanonSmiles(smiles)
