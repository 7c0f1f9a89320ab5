"""Hostile strings: each is read or has its reason, quickly, and nothing else happens."""

from __future__ import annotations

import runpy
import time
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from grale.graphs.graph import Graph
from grale.graphs.molecules.hydrogen_places import bearer_odds, environments
from grale.graphs.molecules.molecule import MoleculeError, canonical_key, from_molblock, from_smiles

FUZZ = Path(__file__).parents[3] / "benchmarks" / "fuzz_smiles.py"
LIMIT = 1.0  # seconds of this thread: other work on the machine does not count


def read(text: object) -> Graph | str:
    begin = time.thread_time()
    try:
        result: Graph | str = from_smiles(text)
    except MoleculeError as error:
        result = str(error)
    assert time.thread_time() - begin < LIMIT
    return result


@pytest.mark.slow
@settings(max_examples=300, deadline=None)
@given(st.text(max_size=60))
def test_any_text_is_read_or_has_a_reason(text) -> None:
    assert isinstance(read(text), Graph) or read(text)


@pytest.mark.slow
def test_mutations_of_real_molecules_are_read_or_have_a_reason() -> None:
    fuzzed = runpy.run_path(str(FUZZ))["fuzzed"]
    rng = np.random.default_rng(1)
    results = [read(fuzzed(rng)) for _ in range(2_000)]
    assert 0.03 < np.mean([isinstance(result, Graph) for result in results]) < 0.3


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "empty"),
        (" \t\n", "empty"),
        ("\0", "NUL"),
        ("C\0C", "NUL"),
        (b"C\xe9".decode(errors="backslashreplace"), "not UTF-8"),
        ("C\u00e9", "outside ASCII"),
        ("C" * 5_000, "5000 characters"),
        ("C" * 2_000, "2000 atoms"),
        ("[CH2]" * 500 + "Br" * 500 + "O", "1001 atoms"),
        ("C C O", "whitespace"),
        ("CCO ethanol", "whitespace"),
        ("C\vO", "whitespace"),
        ("[H][H]", "no heavy atoms"),
        ("*", "dummy atom"),
        ("[Xx]", "cannot parse"),
        ("C(", "cannot parse"),
        ("C1CC", "cannot parse"),
        (b"CC", "got bytes"),
        (None, "got NoneType"),
        (float("nan"), "got float"),
    ],
)
def test_each_kind_of_bad_string_has_its_own_reason(text, reason) -> None:
    assert reason in read(text)


@pytest.mark.parametrize(
    "text",
    [
        "C" * 500,
        "C(" * 400 + "C" + ")C" * 400,
        "C1CC1" * 300,
        "c1ccccc1" * 150,
        "[Na+].[Cl-]",
        "[235U]",
    ],
    ids=["chain", "branches", "small rings", "biphenyls", "salt", "metal"],
)
def test_large_and_odd_molecules_are_read_quickly(text) -> None:
    result = read(text)
    assert isinstance(result, Graph)


def test_a_cage_of_many_ring_closures_does_not_hang() -> None:
    closures = "".join(f"C%{number}" for number in range(10, 60))
    read(closures + closures)
    read("".join(f"C%{number}%{number + 1}" for number in range(10, 90)))


def fused_pentagons(count: int) -> str:
    """A ribbon of five-rings between two six-rings, none of them aromatic by itself."""
    middle = "".join(f"cc{1 + place % 2}c{2 - place % 2}" for place in range(count))
    return f"c1ccc2c(c1){middle}cccc{2 - count % 2}"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (fused_pentagons(34), None),
        (fused_pentagons(36), "38 fused rings"),
        (fused_pentagons(200), "202 fused rings"),  # took minutes
        (fused_pentagons(790), "atoms"),
        (".".join([fused_pentagons(20)] * 14), "22 fused rings"),
    ],
    ids=["as large as may be", "larger", "large", "4,000 characters", "many"],
)
def test_fused_rings_are_read_quickly_or_refused(text, reason) -> None:
    result = read(text)
    assert isinstance(result, Graph) if reason is None else reason in result


def test_fused_rings_of_an_sdf_are_refused_too() -> None:
    from rdkit import Chem

    molecule = Chem.MolFromSmiles(fused_pentagons(100), sanitize=False)
    begin = time.thread_time()
    with pytest.raises(MoleculeError, match="102 fused rings"):
        from_molblock(Chem.MolToMolBlock(molecule, kekulize=False))
    assert time.thread_time() - begin < LIMIT


def test_entries_of_an_sdf_have_their_reasons() -> None:
    for block, reason in [
        ("", "empty"),
        ("x" * 2_000_000, "characters"),
        ("a\nb\nc", "cannot parse"),
        ("a\nb\0\nc", "NUL"),
        ("\n\n\n" + "  0  0".ljust(33) + " V3000\nM  V30 COUNTS 20500 0 0 0 0\n", "20500 atoms"),
    ]:
        with pytest.raises(MoleculeError, match=reason):
            from_molblock(block)


def test_the_key_tells_graphs_apart_and_not_their_order(rng) -> None:
    molecules = ["c1ccncc1", "c1ccccc1", "C1CCNCC1", "CCO", "COC", "OCCN", "C=CO", "[Na+].[Cl-]"]
    keys = [canonical_key(Graph.from_smiles(text)) for text in molecules]
    assert len(set(keys)) == len(keys)
    for text, key in zip(molecules, keys, strict=True):
        graph = Graph.from_smiles(text)
        assert canonical_key(graph.permuted(rng.permutation(graph.num_nodes))) == key


def test_surroundings_do_not_depend_on_the_order_of_atoms() -> None:
    from rdkit import Chem

    first, second = Chem.MolFromSmiles("Cc1cc[nH]n1"), Chem.MolFromSmiles("n1[nH]ccc1C")
    for ours, theirs in zip(environments(first), environments(second), strict=True):
        assert sorted(ours) == sorted(theirs)
    assert len(set(environments(first)[3])) == 6  # no two atoms of it are alike
    odds = bearer_odds(Chem.MolFromSmiles("c1cc2[nH]ncc2cc1"), [3, 4])
    assert odds[3] > odds[4]  # 1H-indazole is the common form
