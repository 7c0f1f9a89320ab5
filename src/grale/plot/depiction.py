"""One molecule as RDKit draws it, as shapes that any canvas can draw (not in the paper).

RDKit writes SVG; its few kinds of elements are read back as lines, filled outlines and letters.
So the same depiction goes into a matplotlib figure (PNG and SVG) and onto the page of a map.
Positions are in angstroms, as in RDKit's coordinates: a bond is 1.5 long, and y points up.
"""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from grale.graphs.graph import Graph
from grale.graphs.molecules.molecule import MoleculeError
from grale.plot.palette import Colour
from grale.plot.stress import FloatArray

PIXELS = 50.0  # per angstrom; RDKit rounds to a tenth of a pixel
INK: Colour = (0.13, 0.15, 0.18)  # of carbon and its bonds
ATOM_INKS: dict[int, Colour] = {
    5: (0.75, 0.42, 0.33),
    7: (0.13, 0.33, 0.78),
    8: (0.82, 0.13, 0.13),
    9: (0.18, 0.55, 0.25),
    14: (0.55, 0.45, 0.28),
    15: (0.85, 0.43, 0.05),
    16: (0.69, 0.50, 0.02),
    17: (0.10, 0.53, 0.20),
    34: (0.70, 0.40, 0.05),
    35: (0.56, 0.20, 0.12),
    53: (0.45, 0.15, 0.60),
}
"""Colours of elements by atomic number, dark enough to be read on white."""
DISC = "MCCCCZ"  # commands of a circle

_TOKEN = re.compile(r"[MLQCZ]|-?\d+(?:\.\d+)?")
_NUM_POINTS = {"M": 1, "L": 1, "Q": 2, "C": 3, "Z": 0}


class Shape(NamedTuple):
    """A line, or a filled outline, or a letter."""

    commands: str
    """One letter per step of the outline, as in SVG: M, L, Q, C, Z; a letter has one M."""
    points: FloatArray
    """Points (n, 2) of all steps in order."""
    colour: str
    """#rrggbb"""
    is_filled: bool = False
    letter: str = ""
    """Drawn with its left end on the base line at the only point."""
    height: float = 0.0
    """Font size of the letter."""
    is_centred: bool = False
    """The letter is around its point instead."""
    is_dashed: bool = False


def depicted(
    molecule: Any,
    places: FloatArray,
    atoms: Mapping[int, str] | None = None,
    bonds: Mapping[int, str] | None = None,
    notes: Sequence[str] | None = None,
    as_letters: bool = False,
) -> list[Shape]:
    """Shapes of a sanitised molecule whose atoms are at `places` (n, 2), in drawing order.

    `atoms` and `bonds` give the colours of those to highlight, `notes` a small text per atom. With
    `as_letters`, element symbols are letters; otherwise they are outlines.
    """
    from rdkit import Geometry
    from rdkit.Chem.Draw import rdMolDraw2D

    atoms, bonds = atoms or {}, bonds or {}
    placed = placed_molecule(molecule, places)
    for atom, note in zip(placed.GetAtoms(), notes or ()):
        if note:
            atom.SetProp("atomNote", note)
    drawer = rdMolDraw2D.MolDraw2DSVG(-1, -1, -1, -1, as_letters)
    _set_style(drawer.drawOptions())
    drawer.DrawMolecule(
        rdMolDraw2D.PrepareMolForDrawing(placed, forceCoords=False, addChiralHs=False),
        highlightAtoms=list(atoms),
        highlightBonds=list(bonds),
        highlightAtomColors={atom: _rgb(colour) for atom, colour in atoms.items()},
        highlightBondColors={bond: _rgb(colour) for bond, colour in bonds.items()},
    )
    drawer.FinishDrawing()
    origin = drawer.GetDrawCoords(Geometry.Point2D(0.0, 0.0))
    return _shapes(drawer.GetDrawingText(), np.array([origin.x, origin.y]))


def placed_molecule(molecule: Any, places: FloatArray) -> Any:
    """Copy of a molecule with the positions (n, 2) of its atoms as its only conformer."""
    from rdkit import Chem

    placed = Chem.Mol(molecule)
    placed.RemoveAllConformers()
    conformer = Chem.Conformer(len(places))
    for atom, (x, y) in enumerate(np.asarray(places, dtype=np.float64).tolist()):
        conformer.SetAtomPosition(atom, (x, y, 0.0))
    placed.AddConformer(conformer)
    return placed


def valid_molecule(graph: Graph) -> Any | None:
    """RDKit molecule of a graph; None if it is not a valid molecule."""
    try:
        return graph.to_mol()
    except MoleculeError:
        return None


def _set_style(options: Any) -> None:
    options.scalingFactor = PIXELS
    options.minFontSize = options.maxFontSize = -1  # letters grow with the bonds
    options.padding = 0.0
    options.setAtomPalette({-1: INK, 0: INK, 1: INK, 6: INK, **ATOM_INKS})
    options.setAnnotationColour((0.45, 0.48, 0.52))
    options.annotationFontScale = 0.62
    options.highlightRadius = 0.42
    options.highlightBondWidthMultiplier = 16
    options.fillHighlights = True
    options.continuousHighlight = True
    options.standardColoursForHighlightedAtoms = True
    options.multipleBondOffset = 0.16


def _shapes(svg: str, origin: FloatArray) -> list[Shape]:
    """Elements of RDKit's SVG but for its background; `origin` is where (0, 0) was drawn."""
    shapes = []
    for element in ElementTree.fromstring(svg.encode("iso-8859-1")):
        kind = element.tag.rpartition("}")[2]
        style = {"fill": element.get("fill", "none")}
        style |= dict(part.split(":") for part in element.get("style", "").split(";") if part)
        if kind == "path":
            shapes.append(_path(element.get("d", ""), style))
        elif kind == "ellipse":
            centre, radii = (_numbers(element, *keys) for keys in (("cx", "cy"), ("rx", "ry")))
            shapes.append(disc(centre, float(radii.max()), style["fill"].strip()))
        elif kind == "text" and element.text:
            at = _numbers(element, "x", "y")[None]
            height = float(style["font-size"].removesuffix("px")) / PIXELS
            shapes.append(Shape("M", at, style["fill"].strip(), True, element.text, height))
    upward = np.array([1.0, -1.0])
    return [shape._replace(points=(shape.points - origin) * upward / PIXELS) for shape in shapes]


def _numbers(element: ElementTree.Element, *keys: str) -> FloatArray:
    return np.array([float(element.get(key, 0)) for key in keys])


def _path(description: str, style: Mapping[str, str]) -> Shape:
    tokens = _TOKEN.findall(description)
    commands, numbers, steps = "", [], iter(tokens)
    for token in steps:
        commands += token
        numbers += [float(next(steps)) for _ in range(2 * _NUM_POINTS[token])]
    is_filled = style["fill"].strip() != "none"
    colour = style["fill" if is_filled else "stroke"].strip()
    return Shape(commands, np.array(numbers).reshape(-1, 2), colour, is_filled)


def disc(centre: FloatArray, radius: float, colour: str) -> Shape:
    """A filled circle, as four Bezier curves."""
    bend = 0.5523  # of a quarter of a circle
    quarter = np.array([[1, bend], [bend, 1], [0, 1]])
    turn = np.array([[0, 1], [-1, 0]])
    turns = [np.linalg.matrix_power(turn, k) for k in range(4)]
    corners = np.concatenate([[[1.0, 0.0]], *(quarter @ matrix for matrix in turns)])
    return Shape(DISC, centre + radius * corners, colour, True)


def _rgb(colour: str) -> Colour:
    red, green, blue = (int(colour[k : k + 2], 16) / 255 for k in (1, 3, 5))
    return red, green, blue
