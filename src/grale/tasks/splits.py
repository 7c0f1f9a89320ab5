"""Which rows are learned from and which are tested (paper: random splits of 90 % and 10 %).

random    any tenth is tested (the paper's)
scaffold  all molecules of one Bemis-Murcko scaffold are on one side; scaffolds are drawn at random
size      the largest fifth is never learned from, and each split tests a random half of it
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from grale.graphs.graph import Graph

TEST_SHARE = 0.1
LARGE_SHARE = 2 * TEST_SHARE
LEAST_ROWS = 20  # of which two are tested

Rows = NDArray[np.int64]


class Split(NamedTuple):
    """Places of rows."""

    train: Rows
    test: Rows


def make_splits(kind: str, molecules: Sequence[Any], count: int) -> list[Split]:
    """Split RDKit molecules, or graphs, so many times; the seeds are 0, 1, 2, ..."""
    if kind not in SPLITS:
        raise ValueError(f"split={kind!r}; expected one of {', '.join(SPLITS)}")
    if count < 1:
        raise ValueError(f"splits must be at least 1, got {count}")
    draw = SPLITS[kind](molecules)
    return [draw(np.random.default_rng(seed)) for seed in range(count)]


def shared_rows(split: Split, keys: Sequence[str]) -> int:
    """How many tested rows hold a molecule that is also learned from.

    >>> shared_rows(Split(np.array([0, 1]), np.array([2, 3])), ["a", "b", "a", "c"])
    1
    """
    learned = {keys[row] for row in split.train}
    return sum(keys[row] in learned for row in split.test)


Draw = Callable[[np.random.Generator], Split]


def _random(molecules: Sequence[Any]) -> Draw:
    tested = int(TEST_SHARE * len(molecules))

    def draw(rng: np.random.Generator) -> Split:
        order = rng.permutation(len(molecules))
        return Split(order[tested:], order[:tested])

    return draw


def _by_scaffold(molecules: Sequence[Any]) -> Draw:
    from rdkit.Chem.Scaffolds.MurckoScaffold import MurckoScaffoldSmiles

    if any(isinstance(item, Graph) for item in molecules):
        raise ValueError("only molecules have scaffolds; split at random or by size")
    names = np.array([MurckoScaffoldSmiles(mol=molecule) for molecule in molecules])
    groups = [np.flatnonzero(names == name) for name in np.unique(names)]
    tested = int(TEST_SHARE * len(molecules))
    if min(len(group) for group in groups) > tested:
        raise ValueError(
            f"the rows have {len(groups)} scaffold(s), none of which has {tested} rows or fewer; "
            "split at random or by size"
        )

    def draw(rng: np.random.Generator) -> Split:
        test: list[int] = []
        for place in rng.permutation(len(groups)):
            if len(test) + len(groups[place]) <= tested:
                test.extend(groups[place])
        train = np.setdiff1d(np.arange(len(names)), test)
        return Split(rng.permutation(train), np.array(test))

    return draw


def _by_size(molecules: Sequence[Any]) -> Draw:
    sizes = np.array([
        item.num_nodes if isinstance(item, Graph) else item.GetNumHeavyAtoms() for item in molecules
    ])  # fmt: skip
    tested, large = (int(share * len(sizes)) for share in (TEST_SHARE, LARGE_SHARE))
    by_size = np.lexsort((np.random.default_rng(0).random(len(sizes)), sizes))  # ties at random

    def draw(rng: np.random.Generator) -> Split:
        return Split(rng.permutation(by_size[:-large]), rng.permutation(by_size[-large:])[:tested])

    return draw


SPLITS: dict[str, Callable[[Sequence[Any]], Draw]] = {
    "random": _random,
    "scaffold": _by_scaffold,
    "size": _by_size,
}
