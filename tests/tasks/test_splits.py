"""Splits keep their promise: nothing on both sides, scaffolds whole, large molecules unseen."""

from __future__ import annotations

import numpy as np
import pytest
from rdkit import Chem
from rdkit.Chem.Scaffolds.MurckoScaffold import MurckoScaffoldSmiles

from grale.tasks.splits import SPLITS, make_splits

RINGS = (
    "", "c1ccccc1", "C1CCCC1", "c1ccncc1", "C1CCNCC1", "c1ccoc1", "C1CC1", "c1ccsc1", "C1CCC1",
    "C1CCCCC1", "C1CCOC1", "C1COCCN1", "c1ccc2ccccc2c1", "c1cn[nH]c1", "c1cscn1", "C1CCSC1",
)  # fmt: skip
MOLECULES = [Chem.MolFromSmiles("C" * size + ring) for ring in RINGS for size in range(1, 5)]


@pytest.mark.parametrize("kind", SPLITS)
def test_no_row_is_on_both_sides_and_seeds_differ(kind: str) -> None:
    splits = make_splits(kind, MOLECULES, 3)
    for split in splits:
        assert not set(split.train) & set(split.test)
        assert 1 <= len(split.test) <= len(MOLECULES) // 10
    assert len({tuple(sorted(split.test)) for split in splits}) > 1
    again = make_splits(kind, MOLECULES, 3)
    assert all((a.test == b.test).all() for a, b in zip(splits, again))


def test_random_splits_use_every_row() -> None:
    (split,) = make_splits("random", MOLECULES, 1)
    assert sorted([*split.train, *split.test]) == list(range(len(MOLECULES)))


def test_a_scaffold_is_on_one_side_unlike_in_random_splits() -> None:
    names = np.array([MurckoScaffoldSmiles(mol=molecule) for molecule in MOLECULES])

    def shared(kind: str) -> int:
        splits = make_splits(kind, MOLECULES, 5)
        return sum(len(set(names[s.train]) & set(names[s.test])) for s in splits)

    assert shared("scaffold") == 0
    assert shared("random") > 0


def test_the_largest_are_never_learned_from() -> None:
    sizes = np.array([molecule.GetNumAtoms() for molecule in MOLECULES])
    for split in make_splits("size", MOLECULES, 4):
        assert sizes[split.train].max() <= sizes[split.test].min()
        assert len(split.train) == 52


def test_an_unknown_split_and_no_split_are_refused() -> None:
    with pytest.raises(ValueError, match="split='time'; expected one of random, scaffold, size"):
        make_splits("time", MOLECULES, 5)
    with pytest.raises(ValueError, match="splits must be at least 1"):
        make_splits("random", MOLECULES, 0)


def test_molecules_of_one_scaffold_cannot_be_split_by_it() -> None:
    with pytest.raises(ValueError, match=r"1 scaffold\(s\).*split at random or by size"):
        make_splits("scaffold", MOLECULES[:4] * 6, 2)
