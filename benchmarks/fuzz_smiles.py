"""Give broken SMILES to the parser: it must not crash or take over a second.

python benchmarks/fuzz_smiles.py [COUNT]

Four of five strings are mutations of real molecules; the others come from hypothesis.
"""

from __future__ import annotations

import re
import sys
import time
from collections import Counter

import numpy as np
import scipy.sparse.csgraph  # noqa: F401  (so that no string is charged with the import)
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from grale.graphs.molecules.molecule import MoleculeError, from_smiles

REAL = (
    "CC(=O)Oc1ccccc1C(=O)O", "CN1C=NC2=C1C(=O)N(C(=O)N2C)C", "C[C@H](N)C(=O)O", "[Na+].[Cl-]",
    "c1ccc2c(c1)[nH]c1ccccc12", "O=[N+]([O-])c1ccccc1", "C1CC2CCC1CC2", "F/C=C/F", "[13CH4]",
    "CC(C)(C)OC(=O)N1CCC(CC1)c1ccc(cc1)C#N", "[O-]S(=O)(=O)c1ccccc1", "B1OC(C)(C)C(C)(C)O1",
    "[Pt](Cl)(Cl)(N)N", "C12C3C4C1C5C2C3C45", "OCC1OC(O)C(O)C(O)C1O", "*c1ccccc1", "[2H]O[2H]",
)  # fmt: skip
PIECES = list("CNOPSFIBcnops[]()=#-+@/\\.:123456789%0*$~&{}<> \t\n\0") + [
    "Cl", "Br", "[nH]", "[N+]", "[O-]", "%10", "[C@@H]", "[Fe]", "[H]", "((((", "))))", "[[", "]]",
    "é", "\ud83d\ude00".encode("utf-16", "surrogatepass").decode("utf-16"), "[999C]", "C" * 50,
    "c1" * 10, "C(" * 20, "[C+99]", "[Xx]", "->", ">>", "|$;$|",
    "c1ccc2c(c1)" + "cc1c2cc2c1" * 30 + "cccc2.", "cc1c2cc2c1" * 20,
]  # fmt: skip


def fuzzed(rng: np.random.Generator) -> str:
    """A real molecule with a few cuts, doublings and insertions, or pieces thrown together."""
    if rng.random() < 0.3:
        return "".join(rng.choice(PIECES, rng.integers(0, 40)))
    text = REAL[rng.integers(len(REAL))]
    for _ in range(rng.integers(1, 6)):
        place = int(rng.integers(len(text) + 1))
        kind = rng.integers(4)
        if kind == 0:
            text = text[:place] + str(rng.choice(PIECES)) + text[place:]
        elif kind == 1:
            text = text[:place] + text[place + int(rng.integers(1, 4)) :]
        elif kind == 2:
            text = text[:place] + text[:place] + text[place:]
        else:
            text = text * int(rng.integers(1, 4))
    return text[:20_000]


class Reader:
    """Reads strings and remembers what became of them."""

    def __init__(self) -> None:
        self.kinds: Counter[str] = Counter()
        self.slowest, self.text_of_slowest = 0.0, ""

    def __call__(self, text: str) -> None:
        """Read one; anything but a graph or a `MoleculeError` ends the program."""
        begin = time.process_time()  # of this process: others may keep it waiting
        try:
            from_smiles(text)
            self.kinds["read"] += 1
        except MoleculeError as error:
            self.kinds[re.split(r"['\"]| has ", str(error))[0][:40]] += 1
        took = time.process_time() - begin
        if took > self.slowest:
            self.slowest, self.text_of_slowest = took, text


def invented(count: int, read: Reader) -> None:
    """Let hypothesis invent this many strings: any text, and pieces of SMILES in any order."""
    pieces = st.lists(st.sampled_from([*PIECES, *REAL]), max_size=60).map("".join)

    @settings(
        max_examples=count, database=None, deadline=None, suppress_health_check=list(HealthCheck)
    )
    @given(st.text(max_size=80) | pieces)
    def run(text: str) -> None:
        read(text)

    run()


def main(count: int) -> None:
    """Read this many broken strings and print what happened."""
    rng, read = np.random.default_rng(0), Reader()
    invented(count // 5, read)
    by_hypothesis = read.kinds.total()
    for _ in range(count - by_hypothesis):
        read(fuzzed(rng))
    print(
        f"{read.kinds.total()} strings ({by_hypothesis} by hypothesis), "
        f"slowest {read.slowest:.3f} s ({read.text_of_slowest[:60]!r})"
    )
    for kind, number in read.kinds.most_common():
        print(f"  {number:7d}  {kind}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 100_000)
