"""How hard molecules are to make: RDKit's own score is the oracle."""

import gzip
import pickle
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest
from rdkit import Chem, RDConfig

from grale.graphs.graph import Graph
from grale.graphs.molecules.synthesis import (
    FOLDER,
    TABLE,
    fragment_scores,
    penalised_logp,
    synthetic_accessibility,
)
from grale.tasks.properties import named_property

CONTRIBUTED = Path(RDConfig.RDContribDir) / FOLDER


@pytest.mark.slow
def test_the_table_read_as_text_is_the_one_that_rdkit_unpickles():
    with gzip.open(CONTRIBUTED / TABLE) as file:
        groups = pickle.load(file)
    expected = {code: float(score) for score, *codes in groups for code in codes}
    assert fragment_scores(CONTRIBUTED / TABLE) == expected


@pytest.mark.slow
def test_scores_are_those_of_rdkit():
    spec = spec_from_file_location("sascorer", CONTRIBUTED / "sascorer.py")
    oracle = module_from_spec(spec)
    spec.loader.exec_module(oracle)
    for text in ("CCO", "CC(=O)Oc1ccccc1C(=O)O", "C1CC2CCC1C2", "C1CCCCCCCCC1"):
        molecule = Chem.MolFromSmiles(text)
        assert synthetic_accessibility(molecule) == oracle.calculateScore(molecule)


@pytest.mark.slow
def test_a_large_ring_is_penalised_by_its_surplus_atoms():
    ring = Chem.MolFromSmiles("C1CCCCCCCC1")  # nine atoms
    bare = named_property("logP")
    graph = Graph.from_mol(ring)
    expected = bare(graph) - synthetic_accessibility(ring) - 3
    assert penalised_logp(ring) == pytest.approx(expected)
    assert named_property("penalised logP")(graph) == pytest.approx(expected)
