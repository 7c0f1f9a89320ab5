"""Bases and acids: the likelier form is drawn, and nothing but the charge changes."""

from __future__ import annotations

import numpy as np
import pytest
from rdkit import Chem

from grale.graphs.molecules import protonation
from grale.graphs.molecules.molecule import from_smiles, to_smiles
from grale.graphs.molecules.protonation import NUM_FEATURES, SITES, features, places, protonate
from grale.metrics.isomorphism import is_isomorphic

BASES_AND_ACIDS = [
    "CCN", "CN(C)CCc1ccccc1", "OC(=O)c1ccccc1", "NCC(=O)O", "NCCCCCN",
    "Oc1ccccc1", "CS(=O)(=O)O", "CP(=O)(O)OC", "CC(=O)C=C(C)O", "CC(N)=N", "CN=C(C)NC",
]  # fmt: skip
IONS = [  # of the test split of POOL
    "CC(C)C(C)([NH3+])C1CCCC(S(C)(=O)=O)C1",
    "Cn1cc(SC2CCCC([NH2+]C3CC3)(C(=O)[O-])C2)cn1",
]


def always(monkeypatch: pytest.MonkeyPatch, sign: float) -> None:
    """Let every site be an ion, or none."""
    weights = dict.fromkeys(SITES, sign + 0 * protonation._weights()["amine"])
    monkeypatch.setattr(protonation, "_weights", lambda: weights)


@pytest.mark.parametrize("smiles", BASES_AND_ACIDS)
def test_sites_become_ions_just_when_the_weights_say_so(
    smiles: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    charged, neutral = Chem.MolFromSmiles(smiles), Chem.MolFromSmiles(smiles)
    always(monkeypatch, 1.0)
    protonate(charged)
    always(monkeypatch, -1.0)
    protonate(neutral)
    number = sum(len(places(neutral, kind)) for kind in SITES)
    assert number > 0
    assert Chem.MolToSmiles(neutral) == Chem.CanonSmiles(smiles)
    assert sum(atom.GetFormalCharge() != 0 for atom in charged.GetAtoms()) == number
    assert Chem.MolFromSmiles(Chem.MolToSmiles(charged)) is not None
    forms = [from_smiles(Chem.MolToSmiles(form)) for form in (charged, neutral)]
    assert is_isomorphic(*forms)


@pytest.mark.parametrize(
    "smiles",
    [
        "CC(N)=O",
        "CS(=O)(=O)N",
        "Nc1ccccc1",
        "CC#N",
        "NO",
        "NN",
        "CNCl",
        "CN[Si](C)(C)C",
        "CC(=O)OC",
        "c1ccncc1",
    ],
)
def test_amides_anilines_esters_and_their_like_are_no_sites(smiles: str) -> None:
    molecule = Chem.MolFromSmiles(smiles)
    assert not any(places(molecule, kind) for kind in SITES)


def test_both_forms_of_a_site_are_found_and_a_quaternary_nitrogen_is_none() -> None:
    for form in ("C[NH2+]C", "CNC"):
        assert places(Chem.MolFromSmiles(form), "amine") == [1]
    for form in ("CC(=O)[O-]", "CC(=O)O"):
        assert places(Chem.MolFromSmiles(form), "acid") == [3]
    for form in ("CS(=O)(=O)[O-]", "CS(=O)(=O)O"):
        assert places(Chem.MolFromSmiles(form), "oxygen") == [4]
    for form in ("CC(N)=[NH2+]", "CC(N)=N"):
        assert places(Chem.MolFromSmiles(form), "imine") == [3]
    assert places(Chem.MolFromSmiles("C[N+](C)(C)C"), "amine") == []
    assert places(Chem.MolFromSmiles("CC=[N+](C)C"), "imine") == []


def test_the_features_do_not_see_the_charge() -> None:
    both = [Chem.MolFromSmiles(form) for form in ("CCC[NH+](C)C", "CCCN(C)C")]
    found = [sorted(features(protonation.environments(molecule), 3)) for molecule in both]
    assert found[0] == found[1]
    assert max(found[0]) < NUM_FEATURES
    elsewhere = features(protonation.environments(both[1]), 0)
    assert sorted(elsewhere) != found[0]


@pytest.mark.parametrize("smiles", IONS)
def test_molecules_like_those_of_zinc_come_back_as_ions(smiles: str, rng) -> None:
    graph = from_smiles(smiles)
    for order in (range(graph.num_nodes), rng.permutation(graph.num_nodes)):
        assert to_smiles(graph.permuted(np.array(order))) == Chem.CanonSmiles(smiles)


def test_of_two_amines_side_by_side_one_is_charged(monkeypatch: pytest.MonkeyPatch) -> None:
    always(monkeypatch, 1.0)
    assert to_smiles(from_smiles("C1CNCCN1")) == Chem.CanonSmiles("C1C[NH2+]CCN1")
    assert to_smiles(from_smiles("NCC(=O)O")) == Chem.CanonSmiles("[NH3+]CC(=O)[O-]")


def test_common_small_molecules_stay_neutral() -> None:
    for smiles in ("CCN", "CC(=O)O", "c1ccc(CN)cc1", "OC(=O)c1ccccc1", "C1CCNCC1"):
        assert to_smiles(from_smiles(smiles)) == Chem.CanonSmiles(smiles)
