"""SMILES to graph and back: what the graph holds returns, what it drops is restored sensibly."""

from __future__ import annotations

import pytest
from rdkit import Chem

from grale.graphs.graph import Graph
from grale.graphs.molecules.molecule import (
    AROMATIC,
    MAX_SMILES_LENGTH,
    NUM_ATOM_LABELS,
    OTHER,
    MoleculeError,
    from_mol,
    from_smiles,
    to_mol,
    to_smiles,
)
from grale.metrics.isomorphism import is_isomorphic

RETURNING = [
    "C",
    "CCO",
    "c1ccccc1",
    "c1cc[nH]c1",  # a hydrogen on an aromatic nitrogen
    "c1ccc2[nH]ccc2c1",
    "c1ncc2[nH]cnc2n1",  # purine, the form of PubChem
    "O=c1cc[nH]cc1",  # pyridone
    "O=c1[nH]cnc2[nH]cnc12",  # two hydrogens
    "O=[N+]([O-])c1ccccc1",  # nitro
    "[O-][n+]1ccccc1",  # N-oxide
    "[O-][n+]1cc[n+]([O-])c2ccccc12",  # two of them, in a ring that is well without
    "Cc1sc2ccccc2[n+]1C",  # the nitrogen is positive, not the sulfur
    "C[n+]1ccccc1",  # pyridinium
    "C[N+](C)(C)C",
    "C[S+](C)C",
    "CC[P+](CC)(CC)CC",
    "CN=[N+]=[N-]",  # azide
    "[C-]#[N+]C",  # isocyanide
    "c1cc[o+]cc1",  # pyrylium
    "F[B-](F)(F)F",
    "CS(=O)(=O)N",
    "CP(=O)(O)O",
    "OCl(=O)(=O)=O",
    "C[Si](C)(C)C",
    "c1cc[se]c1",
    "CC.CO",  # two parts
    "O=c1[nH]c2ccccc2[nH]1",  # loses its aromatic ring without both hydrogens
    "Cc1csc(C)n1",
    "c1ccc2c(c1)oc1ccccc12",
]


@pytest.mark.parametrize("smiles", RETURNING)
def test_the_molecule_returns(smiles: str) -> None:
    if Chem.MolFromSmiles(smiles) is None:
        pytest.skip("this RDKit does not accept the molecule")
    canonical = Chem.CanonSmiles(smiles)
    assert to_smiles(from_smiles(smiles)) == canonical


@pytest.mark.parametrize("smiles", RETURNING)
def test_the_order_of_atoms_changes_nothing(smiles: str, rng) -> None:
    if Chem.MolFromSmiles(smiles) is None:
        pytest.skip("this RDKit does not accept the molecule")
    graph = from_smiles(smiles)
    for _ in range(3):
        assert to_smiles(graph.permuted(rng.permutation(graph.num_nodes))) == to_smiles(graph)


def test_labels_are_elements_and_bond_types() -> None:
    graph = from_smiles("N#CC=Cc1ccccc1[Xe]")
    assert graph.node_labels.tolist() == [1, 0, 0, 0, 0, 0, 0, 0, 0, 0, OTHER]
    assert sorted(graph.edge_labels.tolist()) == [1, 1, 1, 2, 3, *[AROMATIC] * 6]
    assert max(graph.node_labels) < NUM_ATOM_LABELS


def test_hydrogens_isotopes_charges_and_stereo_are_dropped() -> None:
    assert from_smiles("[2H]C([2H])([2H])[O-]") == from_smiles("CO")
    assert is_isomorphic(from_smiles("C[C@H](N)O"), from_smiles("CC(N)O"))
    assert from_mol(Chem.AddHs(Chem.MolFromSmiles("CCO"))) == from_smiles("CCO")


KEKULISED = [
    *RETURNING,
    "O=c1[nH]c(=O)[nH]c(=O)[nH]1",
    "c1ccccc1.CC.O",
    "C1=CC=CC=CC=C1",
    "C1CC1=O",
]


@pytest.mark.parametrize("clear", [True, False])
@pytest.mark.parametrize("smiles", KEKULISED)
def test_a_kekulised_molecule_is_the_same_graph_and_stays_as_it_is(smiles, clear) -> None:
    molecule = Chem.MolFromSmiles(smiles)
    kekulised = Chem.Mol(molecule)
    Chem.Kekulize(kekulised, clearAromaticFlags=clear)
    before = kekulised.ToBinary()
    assert from_mol(kekulised) == from_mol(molecule) == from_smiles(smiles)
    assert kekulised.ToBinary() == before
    assert from_mol(Chem.AddHs(kekulised)) == from_smiles(smiles)


def test_a_molecule_that_changes_is_read_anew() -> None:
    molecule = Chem.RWMol(Chem.MolFromSmiles("CCC"))
    assert from_mol(molecule) == from_smiles("CCC")
    molecule.GetBondWithIdx(0).SetBondType(Chem.BondType.DOUBLE)
    assert from_mol(molecule) == from_smiles("C=CC")


def test_a_molecule_that_is_not_sanitised_is_read_with_its_aromatic_bonds() -> None:
    molecule = Chem.MolFromSmiles("C1=CC=CC=C1C(=O)O", sanitize=False)
    assert from_mol(molecule) == from_smiles("C1=CC=CC=C1C(=O)O")
    fused = Chem.MolFromSmiles("C1=CC=C2C(=C1)" + "C=C1C2=CC2=C1" * 100 + "C=CC=C2", sanitize=False)
    with pytest.raises(MoleculeError, match="202 fused rings"):
        from_mol(fused)


def test_the_methods_of_graph_are_the_functions() -> None:
    graph = Graph.from_smiles("CCN")
    assert graph == from_smiles("CCN")
    assert graph.to_smiles() == "CCN"
    assert Graph.from_mol(graph.to_mol()) == graph
    assert to_mol(graph).GetNumAtoms() == 3


@pytest.mark.parametrize(
    ("smiles", "reason"),
    [
        ("", "empty"),
        ("   ", "empty"),
        ("not a molecule", "cannot parse"),
        ("C1CC", "cannot parse"),
        ("C(C)(C)(C)(C)C", "cannot parse"),
        ("[H][H]", "no heavy atoms"),
        ("*CC", "dummy"),
        ("C" * (MAX_SMILES_LENGTH + 1), "characters"),
        ("C\0C", "NUL"),
        ("Ć", "ASCII"),
        (None, "NoneType"),
        (3.5, "float"),
    ],
)
def test_what_cannot_be_read_says_why(smiles: object, reason: str) -> None:
    with pytest.raises(MoleculeError, match=reason):
        from_smiles(smiles)


@pytest.mark.parametrize(
    ("graph", "reason"),
    [
        (Graph([0, 0], [(0, 1)], directed=True), "undirected"),
        (Graph([99]), "outside the table"),
        (Graph([0, 0], [(0, 1)], [9]), "not one of 1 to 4"),
        (Graph([0] * 6, [(0, i) for i in range(1, 6)]), "no valid molecule"),
        (Graph([0, 0, 0], [(0, 1), (1, 2)], [4, 4]), "no valid molecule"),
    ],
)
def test_what_cannot_be_written_says_why(graph: Graph, reason: str) -> None:
    with pytest.raises(MoleculeError, match=reason):
        to_smiles(graph)


def test_an_element_outside_the_table_has_no_smiles() -> None:
    with pytest.raises(MoleculeError, match="atom 1 is of an element outside the table"):
        to_smiles(from_smiles("C[U]"))
