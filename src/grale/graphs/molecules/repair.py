"""From a bare graph of atoms and bonds to a molecule: charges, hydrogens, aromatic rings.

The rules are those a chemist applies at a glance. A nitrogen with four bonds is positive, and a
lone oxygen next to it is negative (nitro groups, N-oxides). An aromatic ring without a Kekule form
needs a hydrogen on one of its nitrogens (pyrrole), or a charge (pyridinium, pyrylium).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import combinations, islice
from typing import Any

from grale.graphs.graph import Graph
from grale.graphs.molecules.hydrogen_places import bearer_odds
from grale.graphs.molecules.molecule import (
    AROMATIC,
    DOUBLE,
    ELEMENTS,
    OTHER,
    SINGLE,
    TRIPLE,
    MoleculeError,
)
from grale.graphs.molecules.protonation import protonate
from grale.graphs.molecules.salts import balance_charges
from grale.graphs.molecules.substructure import atoms_of, bonds_of

MAX_TRIES = 500  # a wrongly decoded ring fails within about a tenth of a second
MAX_CHANGES = 3  # atoms changed together in one ring system
POSITIVE_AT = {"N": 4, "P": 4, "As": 4, "O": 3, "S": 3, "Se": 3, "Te": 3, "I": 2}
"""Bonds at which an atom is positive: one more than its usual valence (S and P: an odd one)."""
NEGATIVE_AT = {"B": 4, "Al": 4, "P": 6, "As": 6, "Sb": 6}


def repaired_molecule(graph: Graph) -> Any:
    """Build a sanitised molecule from a graph; raise MoleculeError if none fits."""
    from rdkit import Chem, rdBase

    if graph.directed:
        raise MoleculeError("this graph is directed; a molecule must be undirected")
    unknown = (graph.node_labels == OTHER).nonzero()[0]
    if len(unknown):
        raise MoleculeError(f"atom {unknown[0]} is of an element outside the table: no symbol")
    molecule = bare_molecule(graph)
    with rdBase.BlockLogs():
        _set_charges(molecule)
        molecule = _with_kekule_form(molecule)
        try:
            Chem.SanitizeMol(molecule)
            balance_charges(molecule)
            protonate(molecule)
        except (ValueError, RuntimeError) as error:
            raise MoleculeError(f"no valid molecule: {error}") from error
    return molecule


def bare_molecule(graph: Graph) -> Any:
    """Atoms and bonds of the graph, nothing else; not sanitised."""
    from rdkit import Chem

    kinds = {
        SINGLE: Chem.BondType.SINGLE,
        DOUBLE: Chem.BondType.DOUBLE,
        TRIPLE: Chem.BondType.TRIPLE,
        AROMATIC: Chem.BondType.AROMATIC,
    }
    molecule = Chem.RWMol()
    for label in graph.node_labels.tolist():
        if label > OTHER:
            raise MoleculeError(f"atom label {label} is outside the table of {OTHER + 1}")
        molecule.AddAtom(Chem.Atom(ELEMENTS[label] if label < OTHER else 0))
    for (start, end), label in zip(graph.edges.tolist(), graph.edge_labels.tolist()):
        if label not in kinds:
            raise MoleculeError(f"bond label {label} is not one of 1 to 4")
        count = molecule.AddBond(start, end, kinds[label])
        if label == AROMATIC:
            molecule.GetBondWithIdx(count - 1).SetIsAromatic(True)
            molecule.GetAtomWithIdx(start).SetIsAromatic(True)
            molecule.GetAtomWithIdx(end).SetIsAromatic(True)
    return molecule


def _set_charges(molecule: Any) -> None:
    """Charge atoms outside aromatic rings that have one bond too many, and their partners."""
    atoms = atoms_of(molecule)
    for atom in atoms:
        if atom.GetIsAromatic():
            continue
        bonds = sum(bond.GetBondTypeAsDouble() for bond in atom.GetBonds())
        if bonds == 4 and _is_phosphine_oxide(atom):
            atom.SetNumExplicitHs(1)
        elif bonds == POSITIVE_AT.get(atom.GetSymbol()):
            atom.SetFormalCharge(1)
        elif bonds == NEGATIVE_AT.get(atom.GetSymbol()):
            atom.SetFormalCharge(-1)
        elif atom.GetSymbol() in ("Cl", "Br") and bonds > 1:
            _set_halogen_acid(atom, int(bonds) - 1)
    stuck = _union(_stuck_sets(molecule))
    for atom in atoms:
        is_oxide = stuck and atom.GetIsAromatic() and _oxide_of(atom) is not None
        if is_oxide and any(end.GetIdx() in stuck for end, _ in _ends(atom)):
            atom.SetFormalCharge(1)  # N-oxide; N-hydroxy in rings that need no charge
        if atom.GetFormalCharge() == 1:
            _give_negative_partner(atom)


def _is_phosphine_oxide(atom: Any) -> bool:
    """Whether a phosphorus has a doubly bonded oxygen: its fifth bond is then to a hydrogen."""
    return atom.GetSymbol() == "P" and any(
        end.GetSymbol() == "O" and order == 2.0 for end, order in _ends(atom)
    )


def _set_halogen_acid(atom: Any, charge: int) -> None:
    """Chlorate and the like: the surplus bonds go to negative oxygens."""
    atom.SetFormalCharge(charge)
    oxygens = [neighbour for neighbour in atom.GetNeighbors() if _is_lone(neighbour, "O")]
    for oxygen in oxygens[:charge]:
        oxygen.SetFormalCharge(-1)


def _oxide_of(atom: Any) -> Any | None:
    """The oxygen of an aromatic N-oxide: a lone, singly bonded neighbour."""
    if atom.GetSymbol() not in ("N", "P", "As"):
        return None
    return next((n for n, bond in _ends(atom) if _is_lone(n, "O", "S") and bond == 1.0), None)


def _give_negative_partner(atom: Any) -> None:
    """Make one end atom next to a positive atom negative: nitro, N-oxide, azide, isocyanide."""
    for symbols, order in ((("O", "S", "Se"), 1.0), (("N",), 2.0), (("C",), 3.0), (("N",), 1.0)):
        for neighbour, bond in _ends(atom):
            if bond == order and _is_lone(neighbour, *symbols):
                is_amine = order == 1.0 and symbols == ("N",)
                if is_amine and not atom.GetIsAromatic():
                    continue
                neighbour.SetFormalCharge(-1)
                return


def _ends(atom: Any) -> Iterator[tuple[Any, float]]:
    for bond in atom.GetBonds():
        yield bond.GetOtherAtom(atom), bond.GetBondTypeAsDouble()


def _is_lone(atom: Any, *symbols: str) -> bool:
    return atom.GetDegree() == 1 and atom.GetSymbol() in symbols and atom.GetFormalCharge() == 0


def _with_kekule_form(molecule: Any) -> Any:
    """Give hydrogens or charges to ring atoms until each ring is aromatic and has a Kekule form."""
    stuck, lost = _stuck_sets(molecule), _lost_atoms(molecule)
    systems = _stuck_together(molecule, stuck)
    for system in sorted(systems, key=_union(stuck).isdisjoint):  # stuck ones first
        is_stuck = not system.isdisjoint(_union(stuck))
        if is_stuck or lost is None or not system.isdisjoint(lost):
            molecule = _first_that_fits(molecule, system, needs_change=is_stuck)
            stuck, lost = _stuck_sets(molecule), _lost_atoms(molecule)
    return molecule


def _first_that_fits(molecule: Any, system: frozenset[int], needs_change: bool) -> Any:
    """Likeliest change that gives the system a Kekule form and leaves all of it aromatic."""
    second_best = None if needs_change else molecule
    for changed in islice(_changes(molecule, system), MAX_TRIES):
        if system.isdisjoint(_union(_stuck_sets(changed))):
            lost = _lost_atoms(changed)
            if lost is not None and system.isdisjoint(lost):
                return changed
            second_best = second_best or changed
    if second_best is None:
        raise MoleculeError(f"the aromatic ring with atoms {sorted(system)} has no Kekule form")
    return second_best


def _stuck_sets(molecule: Any) -> list[frozenset[int]]:
    """Atoms of each ring system without a Kekule form."""
    from rdkit import Chem

    return [
        frozenset(problem.GetAtomIndices())
        for problem in Chem.DetectChemistryProblems(molecule)
        if problem.GetType() == "KekulizeException"
    ]


def _union(sets: Iterable[frozenset[int]]) -> frozenset[int]:
    return frozenset().union(*sets)


def _stuck_together(molecule: Any, stuck_sets: list[frozenset[int]]) -> list[frozenset[int]]:
    """Aromatic systems; those joined by a ring without a Kekule form count as one.

    RDKit treats fused rings as a whole, so it cannot say which of them is the problem.
    """
    systems = aromatic_systems(molecule)
    for stuck in stuck_sets:
        joined = _union(system for system in systems if system & stuck)
        systems = [system for system in systems if not system & stuck] + [joined]
    return [system for system in systems if system]


def aromatic_systems(molecule: Any) -> list[frozenset[int]]:
    """Sets of atoms joined by aromatic bonds, that of the lowest atom first."""
    joined: dict[int, set[int]] = {}
    for bond in bonds_of(molecule):
        if bond.GetIsAromatic():
            start, end = bond.GetBeginAtomIdx(), bond.GetEndAtomIdx()
            both = joined.get(start, {start}) | joined.get(end, {end})
            joined.update(dict.fromkeys(both, both))
    systems = {id(system): system for _, system in sorted(joined.items())}
    return [frozenset(system) for system in systems.values()]


def _lost_atoms(molecule: Any) -> frozenset[int] | None:
    """Atoms with aromatic bonds that RDKit, when it reads the molecule again, does not find so.

    None if it cannot read the molecule.
    """
    from rdkit import Chem

    copy = Chem.RWMol(molecule)
    aromatic = [bond.GetIdx() for bond in bonds_of(copy) if bond.GetIsAromatic()]
    if Chem.SanitizeMol(copy, catchErrors=True):
        return None
    again = map(copy.GetBondWithIdx, aromatic)
    return frozenset(bond.GetBeginAtomIdx() for bond in again if not bond.GetIsAromatic())


def _changes(molecule: Any, system: frozenset[int]) -> Iterator[Any]:
    """Molecules with few atoms of the system changed, the likeliest first."""
    from rdkit import Chem

    molecule.UpdatePropertyCache(strict=False)
    Chem.FastFindRings(molecule)
    ranks = list(Chem.CanonicalRankAtoms(molecule))
    atoms = [molecule.GetAtomWithIdx(index) for index in sorted(system, key=ranks.__getitem__)]
    bearers = [atom for atom in atoms if _may_bear_hydrogen(atom)]
    odds = bearer_odds(molecule, (atom.GetIdx() for atom in bearers))
    bearers.sort(key=lambda atom: (-odds[atom.GetIdx()], _reluctance(atom)))
    hydrogens = [(atom.GetIdx(), "hydrogen") for atom in bearers]
    positive = sorted(filter(_may_be_positive, atoms), key=lambda atom: atom.GetSymbol() != "N")
    charges = [(atom.GetIdx(), "charge") for atom in positive]
    carbons = [(atom.GetIdx(), "charge") for atom in atoms if _may_be_carbanion(atom)]
    for options in (hydrogens, charges, hydrogens + charges, carbons, hydrogens + carbons):
        for count in range(1, MAX_CHANGES + 1):
            for chosen in combinations(options, count):
                yield _changed(molecule, chosen)


def _may_bear_hydrogen(atom: Any) -> bool:
    is_bare = not atom.GetFormalCharge() and not atom.GetNumExplicitHs()
    return is_bare and atom.GetSymbol() in ("N", "P", "As", "B") and atom.GetDegree() == 2


def _may_be_positive(atom: Any) -> bool:
    degrees = {"N": 3, "P": 3, "O": 2, "S": 2, "Se": 2, "Te": 2}
    return bool(atom.GetDegree() == degrees.get(atom.GetSymbol()) and not atom.GetFormalCharge())


def _may_be_carbanion(atom: Any) -> bool:
    return bool(atom.GetSymbol() == "C" and not atom.GetFormalCharge())


def _reluctance(atom: Any) -> tuple[bool, bool, int, int]:
    """Sort key: how unlikely a ring nitrogen is to have the hydrogen.

    Likeliest are lactams (next to C=O), then five-membered rings, and there the nitrogen next to a
    substituted or fused atom.
    """
    neighbours = list(atom.GetNeighbors())
    beside_carbonyl = any(
        bond.GetBondTypeAsDouble() == 2.0 for n in neighbours for bond in n.GetBonds()
    )
    in_five_ring = atom.IsInRingSize(5)
    fused = sum(n.GetDegree() == 3 and _num_aromatic(n) == 3 for n in neighbours)
    substituted = sum(n.GetDegree() == 3 for n in neighbours)
    return not beside_carbonyl, not in_five_ring, -fused, -substituted


def _num_aromatic(atom: Any) -> int:
    return sum(bond.GetIsAromatic() for bond in atom.GetBonds())


def _changed(molecule: Any, chosen: tuple[tuple[int, str], ...]) -> Any:
    from rdkit import Chem

    changed = Chem.RWMol(molecule)
    for index, change in chosen:
        atom = changed.GetAtomWithIdx(index)
        if change == "hydrogen":
            atom.SetNumExplicitHs(1)
        else:
            atom.SetFormalCharge(-1 if atom.GetSymbol() == "C" else 1)
            if (oxide := _oxide_of(atom)) is not None:
                oxide.SetFormalCharge(-1)
    return changed
