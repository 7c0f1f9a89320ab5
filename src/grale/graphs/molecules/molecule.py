"""Molecules as graphs (paper: appendix "Molecular Datasets").

SMILES are read by RDKit, hydrogens are dropped, atomic numbers become node labels and bond types
edge labels (single 1, double 2, triple 3, aromatic 4). Elements outside the table of 31 share one
label, OTHER. The graph holds neither charges nor hydrogens; `repair.py` restores them.

Departures: the paper does not print its table of elements; this one holds the 31 most frequent
heavy elements of large public collections.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from grale.graphs.graph import Graph
from grale.graphs.space import GraphSpace

ELEMENTS = (
    "C", "N", "O", "F", "P", "S", "Cl", "Br", "I", "B", "Si", "Se", "Sn", "As", "Ge", "Te",
    "Hg", "Zn", "Mg", "Cu", "Al", "Li", "Pb", "Ni", "Pt", "Co", "Pd", "Fe", "Na", "Sb", "Bi",
)  # fmt: skip
OTHER = len(ELEMENTS)
NUM_ATOM_LABELS = len(ELEMENTS) + 1
NUM_BOND_LABELS = 4
SINGLE, DOUBLE, TRIPLE, AROMATIC = 1, 2, 3, 4
MAX_SMILES_LENGTH = 4_000  # before parsing: RDKit's time grows with the length
MAX_BLOCK_LENGTH = 1_000_000
MAX_ATOMS = 1_000
MAX_FUSED_RINGS = 36  # those of C70; RDKit takes 0.05 s for 36, minutes for 200
SHORT_SMILES, SHORT_BLOCK = 140, 2_500  # characters: too short for that many fused rings

_ATOM = re.compile(r"\[[^\]]*\]|Br|Cl|[BCNOPSFIbcnops*]")
_BRACKET = re.compile(r"\[[^\]]*\]")
_BROKEN_BYTE = re.compile(r"\\x[0-9a-f]{2}")  # as readers of files write it
_BLOCK_COUNT = re.compile(r"^(?:M  V30 COUNTS +(\d+)|([ \d]{3})[ \d]{3}.{27,}V2000)", re.MULTILINE)
_CLOSURE = re.compile(r"%\(\d+\)|%\d\d|\d")
_LABEL_OF = {symbol: label for label, symbol in enumerate(ELEMENTS)}
_BOND_LABELS = {
    "SINGLE": SINGLE,
    "DOUBLE": DOUBLE,
    "TRIPLE": TRIPLE,
    "AROMATIC": AROMATIC,
    "DATIVE": SINGLE,  # both electrons come from one atom; often drawn as a single bond
}


def molecule_space(max_atoms: int) -> GraphSpace:
    """All molecules of up to `max_atoms` heavy atoms."""
    return GraphSpace(
        max_nodes=max_atoms, num_node_labels=NUM_ATOM_LABELS, num_edge_labels=NUM_BOND_LABELS
    )


def is_molecular(space: GraphSpace) -> bool:
    """Whether the labels of a space are atoms and bonds."""
    return space == molecule_space(space.max_nodes)


_LABEL_OF_HALF_ORDERS = np.array([0, 0, SINGLE, AROMATIC, DOUBLE, 0, TRIPLE, 0])
"""Label of a bond by twice its order; 0 if the order alone does not decide."""


class MoleculeError(ValueError):
    """A molecule that cannot be read or written, with the reason."""


def from_smiles(smiles: Any) -> Graph:
    """Read a SMILES string; charges, isotopes, stereo and hydrogens are dropped.

    >>> from_smiles("CCO").node_labels.tolist()
    [0, 0, 2]
    """
    if not isinstance(smiles, str):
        raise MoleculeError(f"expected a SMILES string, got {type(smiles).__name__}")
    text = smiles.strip()
    _refuse_text(text)
    from rdkit import Chem

    may_be_fused = len(text) > SHORT_SMILES and _num_closures(text) > MAX_FUSED_RINGS
    return _parsed(Chem.MolFromSmiles, text, may_be_fused, f"SMILES {text[:40]!r}")


def _parsed(parse: Callable[..., Any], text: str, may_be_fused: bool, name: str) -> Graph:
    """Read a molecule by a function of RDKit, quietly; first refuse too many fused rings."""
    from rdkit import rdBase

    with rdBase.BlockLogs():
        try:
            if may_be_fused and (bare := parse(text, sanitize=False)) is not None:
                _refuse_fused(bare)
            molecule = parse(text)
        except MoleculeError:
            raise
        except Exception as error:  # RDKit raises several kinds on hostile input
            raise MoleculeError(f"cannot parse {name}: {error}") from error
    if molecule is None:
        raise MoleculeError(f"cannot parse {name}")
    return _read(molecule)


def _refuse_text(text: str) -> None:
    """Raise if the text cannot be a SMILES, or is too much work for RDKit."""
    if not text:
        raise MoleculeError("the SMILES string is empty")
    if len(text) > MAX_SMILES_LENGTH:
        raise MoleculeError(
            f"the SMILES string has {len(text)} characters, more than {MAX_SMILES_LENGTH}"
        )
    if "\0" in text:
        raise MoleculeError(f"the SMILES string {text[:40]!r} holds a NUL character")
    if not text.isascii():
        raise MoleculeError(f"the SMILES string {text[:40]!r} holds characters outside ASCII")
    if _BROKEN_BYTE.search(text):
        raise MoleculeError(f"the SMILES string {text[:40]!r} holds bytes that are not UTF-8")
    if len(text.split()) > 1:  # RDKit would read the first word and treat the rest as a name
        raise MoleculeError(
            f"cannot parse SMILES {text[:40]!r}: it holds whitespace; give it without a name"
        )
    if len(text) > MAX_ATOMS and (count := len(_ATOM.findall(text))) > MAX_ATOMS:
        raise MoleculeError(f"the SMILES string has {count} atoms, more than {MAX_ATOMS}")


def _num_closures(text: str) -> int:
    """Number of rings that a SMILES closes, over all parts."""
    return len(_CLOSURE.findall(_BRACKET.sub("", text))) // 2


def _refuse_fused(molecule: Any) -> None:
    """Raise for a ring system in which RDKit would look for aromatic rings for minutes."""
    from rdkit import Chem
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    Chem.FastFindRings(molecule)
    bonds = [bond for bond in molecule.GetBonds() if bond.IsInRing()]
    if not bonds:
        return
    pairs = [(bond.GetBeginAtomIdx(), bond.GetEndAtomIdx()) for bond in bonds]
    ends = np.array(pairs, dtype=np.int32).T  # scipy 1.11 finds no parts by wider numbers
    size = molecule.GetNumAtoms()
    links = coo_array((np.ones(len(bonds)), ends), shape=(size, size))
    _, system = connected_components(links, directed=False)
    rings = np.bincount(system[ends[0]], minlength=system.max() + 1) - np.bincount(system) + 1
    if np.sum(rings**2) > MAX_FUSED_RINGS**2:  # the work of several systems adds up
        raise MoleculeError(
            f"the molecule has systems of up to {rings.max()} fused rings, more work than one "
            f"of {MAX_FUSED_RINGS}"
        )


def from_molblock(block: Any) -> Graph:
    """Read one entry of an SDF file; the same is dropped as for SMILES."""
    if not isinstance(block, str) or not block.strip():
        raise MoleculeError("the entry is empty")
    if len(block) > MAX_BLOCK_LENGTH:
        raise MoleculeError(f"the entry has {len(block)} characters, more than {MAX_BLOCK_LENGTH}")
    if "\0" in block:
        raise MoleculeError("the entry holds a NUL character")
    if (count := _num_block_atoms(block)) > MAX_ATOMS:
        raise MoleculeError(f"the entry has {count} atoms, more than {MAX_ATOMS}")
    from rdkit import Chem

    name = f"the SDF entry {block.strip().splitlines()[0][:40]!r}"
    return _parsed(Chem.MolFromMolBlock, block, len(block) > SHORT_BLOCK, name)


def _num_block_atoms(block: str) -> int:
    """Atoms that an SDF entry says it has; 0 if it does not say."""
    counts = (found[1] or found[2] for found in _BLOCK_COUNT.finditer(block))
    return max((int(count) for count in counts if count.strip()), default=0)


def canonical_key(graph: Graph) -> str:
    """Text that two molecular graphs share exactly when they are the same graph.

    A canonical SMILES without charges and hydrogens; not meant to be read as a molecule.

    >>> canonical_key(from_smiles("OCC")) == canonical_key(from_smiles("C(C)[O-]"))
    True
    """
    from rdkit import Chem

    from grale.graphs.molecules.repair import bare_molecule

    molecule = bare_molecule(graph)
    for atom in molecule.GetAtoms():
        atom.SetNoImplicit(True)
    molecule.UpdatePropertyCache(strict=False)
    Chem.FastFindRings(molecule)
    return str(Chem.MolToSmiles(molecule))


def from_mol(molecule: Any) -> Graph:
    """Read an RDKit molecule; hydrogens are dropped, and kekulised rings become aromatic."""
    from rdkit.Chem import GetMolFrags

    graph = _read(molecule)
    num_rings = molecule.GetNumBonds() - molecule.GetNumAtoms() + len(GetMolFrags(molecule))
    if num_rings == 0 or AROMATIC in graph.edge_labels:
        return graph
    return _read(_with_aromatic_bonds(molecule, num_rings))


def _read(molecule: Any) -> Graph:
    """Read a molecule whose aromatic bonds are set."""
    return _plain_molecule(molecule) or _any_molecule(molecule)


def _with_aromatic_bonds(molecule: Any, num_rings: int) -> Any:
    """Copy of a molecule, sanitised or not, with the aromatic bonds that RDKit finds."""
    from rdkit import Chem, rdBase

    if num_rings > MAX_FUSED_RINGS:
        _refuse_fused(Chem.Mol(molecule))
    copy = Chem.Mol(molecule)
    try:
        with rdBase.BlockLogs():
            copy.UpdatePropertyCache(strict=False)
            Chem.GetSymmSSSR(copy)
            Chem.SetAromaticity(copy)
    except Exception as error:  # RDKit raises several kinds on hostile input
        raise MoleculeError(f"cannot find the aromatic bonds: {error}") from error
    return copy


def _plain_molecule(molecule: Any) -> Graph | None:
    """Read a molecule of heavy atoms and ordinary bonds in few calls; None for any other."""
    from rdkit import Chem

    atom, count = molecule.GetAtomWithIdx, molecule.GetNumAtoms()
    numbers = [atom(place).GetAtomicNum() for place in range(count)]
    if not 0 < count <= MAX_ATOMS or min(numbers) < 2:
        return None
    orders = Chem.GetAdjacencyMatrix(molecule, useBO=True, force=True)
    pairs = np.transpose(orders.nonzero())
    pairs = pairs[pairs[:, 0] < pairs[:, 1]]
    half_orders = (2 * orders[pairs[:, 0], pairs[:, 1]]).astype(np.int64)
    labels = _LABEL_OF_HALF_ORDERS.take(half_orders, mode="clip")
    if len(pairs) != molecule.GetNumBonds() or not labels.all():
        return None
    return Graph.trusted(_labels_by_number()[numbers], pairs, labels, False)


@lru_cache(maxsize=1)
def _labels_by_number() -> NDArray[np.int64]:
    from rdkit import Chem

    symbol_of = Chem.GetPeriodicTable().GetElementSymbol
    labels = [OTHER, *(_LABEL_OF.get(symbol_of(number), OTHER) for number in range(1, 119))]
    return np.array(labels)


def _any_molecule(molecule: Any) -> Graph:
    """Read any molecule, or say what is wrong with it."""
    atoms = [atom for atom in molecule.GetAtoms() if atom.GetAtomicNum() != 1]
    if not atoms:
        raise MoleculeError("the molecule has no heavy atoms")
    if len(atoms) > MAX_ATOMS:
        raise MoleculeError(f"the molecule has {len(atoms)} heavy atoms, more than {MAX_ATOMS}")
    if any(atom.GetAtomicNum() == 0 for atom in atoms):
        raise MoleculeError("the molecule has a dummy atom (*)")
    place = {atom.GetIdx(): position for position, atom in enumerate(atoms)}
    labels = [_LABEL_OF.get(atom.GetSymbol(), OTHER) for atom in atoms]
    edges, edge_labels = [], []
    for bond in molecule.GetBonds():
        ends = bond.GetBeginAtomIdx(), bond.GetEndAtomIdx()
        if ends[0] not in place or ends[1] not in place:
            continue
        kind = bond.GetBondType().name
        if kind not in _BOND_LABELS:
            raise MoleculeError(f"the molecule has a bond of type {kind}")
        edges.append((place[ends[0]], place[ends[1]]))
        edge_labels.append(_BOND_LABELS[kind])
    return Graph(np.array(labels), np.array(edges, dtype=np.int64).reshape(-1, 2), edge_labels)


def to_smiles(graph: Graph) -> str:
    """Write a graph as canonical SMILES, charges and hydrogens restored.

    >>> to_smiles(from_smiles("[nH]1cccc1"))
    'c1cc[nH]c1'
    """
    from rdkit import Chem

    return str(Chem.MolToSmiles(to_mol(graph)))


def to_mol(graph: Graph) -> Any:
    """Build a sanitised RDKit molecule, or raise MoleculeError and say what does not fit."""
    from grale.graphs.molecules.repair import repaired_molecule

    return repaired_molecule(graph)
