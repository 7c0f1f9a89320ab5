"""Where to draw the atoms of molecules, so that what they share stays in place (not in the paper).

RDKit places the atoms. Along a row of molecules, the atoms and bonds that two neighbours share (the
common core) keep their places if the rest fits around them; otherwise the molecule is placed
afresh, and turned onto the one before. Positions are in angstroms.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import networkx
import numpy as np
from numpy.typing import ArrayLike

from grale.graphs.graph import Graph, IntArray
from grale.graphs.molecules.molecule import MoleculeError
from grale.graphs.molecules.repair import bare_molecule
from grale.plot.depiction import placed_molecule, valid_molecule
from grale.plot.layout import align, checked_mapping, layout
from grale.plot.stress import FloatArray, count_flaws

BOND = 1.5  # angstroms, the length of RDKit's bonds
FLAW_COST = 0.05  # what a crossing or an overlap is worth, as in the layouts of graphs
STRETCH_COST = 4.0  # of bonds that are twice too long
DRIFT_COST = 0.1  # of atoms that moved by a bond
LEAST_CORE = 2  # atoms


def molecule_places(graph: Graph, known: FloatArray | None = None) -> FloatArray:
    """Positions (n, 2) as RDKit draws the molecule, or what looks most like it.

    Rows of `known` (n, 2) that are finite are wanted positions, such as those in another molecule.
    """
    from rdkit import rdBase
    from rdkit.Chem import rdDepictor

    molecule = drawable(graph)
    if molecule is None:
        return BOND * layout(graph) * np.sqrt(graph.num_nodes) / 2
    with rdBase.BlockLogs():
        rdDepictor.Compute2DCoords(molecule)
        rdDepictor.StraightenDepiction(molecule)
        free = _places(molecule)
        if known is None or not np.isfinite(known).any():
            return free
        ends = [_turned(molecule, free, known)]
        core = _core(graph, known)
        if len(core) >= LEAST_CORE and (held := _around(molecule, known, core)) is not None:
            ends.append(held)
    return min(ends, key=lambda places: _badness(graph, places, known))


def places_along(graphs: Sequence[Graph], mappings: Sequence[ArrayLike]) -> list[FloatArray]:
    """Positions of a row of molecules; `mappings` as in `grale.plot.layout.layout_along`."""
    if len(mappings) != max(len(graphs) - 1, 0):
        raise ValueError(f"{len(graphs)} graphs need one mapping per step, got {len(mappings)}")
    frames: list[FloatArray] = []
    for step, graph in enumerate(graphs):
        if step == 0:
            frames.append(molecule_places(graph))
            continue
        name = f"mappings[{step - 1}]"
        origin = checked_mapping(mappings[step - 1], graph.num_nodes, len(frames[-1]), name)
        frames.append(molecule_places(graph, carried(frames[-1], origin)))
    return frames


def carried(places: FloatArray, origin: IntArray) -> FloatArray:
    """Positions of the atoms that each atom continues; NaN where `origin` is -1."""
    return np.where((origin >= 0)[:, None], places[origin], np.nan)


def drawable(graph: Graph) -> Any | None:
    """Molecule that RDKit can place: valid if possible; None if RDKit cannot place it at all."""
    from rdkit import Chem, rdBase
    from rdkit.Chem import rdDepictor

    molecule = valid_molecule(graph)
    if molecule is not None or graph.directed:
        return molecule
    try:
        with rdBase.BlockLogs():
            bare = bare_molecule(graph)
            bare.UpdatePropertyCache(strict=False)
            Chem.GetSymmSSSR(bare)
            rdDepictor.Compute2DCoords(bare)
    except (MoleculeError, ValueError, RuntimeError):
        return None
    return bare


def _core(graph: Graph, known: FloatArray) -> list[int]:
    """Atoms of the largest connected part that has places one bond apart already."""
    is_known = np.isfinite(known).all(axis=1)
    ends = known[graph.edges]
    lengths = np.linalg.norm(ends[:, 0] - ends[:, 1], axis=1)
    kept = graph.edges[np.abs(lengths / BOND - 1) < 0.2]
    common = networkx.empty_graph(np.flatnonzero(is_known).tolist())
    common.add_edges_from(kept.tolist())
    return sorted(max(networkx.connected_components(common), key=len, default=()))


def _around(molecule: Any, known: FloatArray, core: list[int]) -> FloatArray | None:
    """Positions with the core where it is; None if RDKit cannot place the rest around it."""
    from rdkit import Geometry
    from rdkit.Chem import rdDepictor

    fixed = {atom: Geometry.Point2D(*known[atom].tolist()) for atom in core}
    try:
        rdDepictor.Compute2DCoords(molecule, canonOrient=False, coordMap=fixed)
    except (ValueError, RuntimeError):
        return None
    wanted = np.full_like(known, np.nan)
    wanted[core] = known[core]
    places = align(_places(molecule), wanted)
    return places if np.isfinite(places).all() else None


def _turned(molecule: Any, free: FloatArray, known: FloatArray) -> FloatArray:
    """RDKit's own drawing, turned onto the wanted places but for its bonds' usual directions."""
    from rdkit.Chem import rdDepictor

    placed = placed_molecule(molecule, align(free, known))
    rdDepictor.StraightenDepiction(placed, minimizeRotation=True)
    places = _places(placed)
    return places + np.nanmean(known - places, axis=0)


def _places(molecule: Any) -> FloatArray:
    return np.asarray(molecule.GetConformer().GetPositions(), dtype=np.float64)[:, :2]


def _badness(graph: Graph, places: FloatArray, known: FloatArray) -> float:
    ends = places[graph.edges]
    lengths = np.linalg.norm(ends[:, 0] - ends[:, 1], axis=1) / BOND
    stretch = float(np.mean((lengths - 1) ** 2)) if len(lengths) else 0.0
    drift = float(np.nanmean(((places - known) ** 2).sum(axis=1))) / BOND**2
    flaws = count_flaws(graph, places / BOND)
    return FLAW_COST * flaws + STRETCH_COST * stretch + DRIFT_COST * drift
