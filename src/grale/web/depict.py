"""Pictures of graphs as SVG: molecules by RDKit, other graphs as coloured discs.

The page shows them as images, in which nothing runs and no text is markup.
"""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from typing import Any

from grale.graphs.graph import Graph
from grale.graphs.molecules.molecule import MoleculeError, is_molecular
from grale.graphs.space import GraphSpace
from grale.plot.layout import layout
from grale.plot.look import palette_of, texts_of
from grale.plot.palette import text_colour

WIDTH, HEIGHT = 320, 240
CHANGED = (1.0, 0.80, 0.62)
MOST_DRAWN = 60  # nodes: a larger graph is a blot


def picture(
    graph: Graph, space: GraphSpace, changed: Iterable[int] = (), numbered: bool = False
) -> str:
    """SVG of a graph; `changed` nodes stand out."""
    marked = [node for node in changed if node < graph.num_nodes]
    if is_molecular(space):
        try:
            return _molecule(graph.to_mol(), marked, numbered)
        except MoleculeError:
            pass  # drawn as a graph
    return _discs(graph, space, marked, numbered)


def _molecule(molecule: Any, marked: list[int], numbered: bool) -> str:
    from rdkit.Chem import rdDepictor
    from rdkit.Chem.Draw import rdMolDraw2D

    rdDepictor.Compute2DCoords(molecule)
    drawer = rdMolDraw2D.MolDraw2DSVG(WIDTH, HEIGHT)
    options: Any = drawer.drawOptions()
    options.clearBackground, options.padding = False, 0.06
    options.fixedBondLength, options.bondLineWidth = 30, 1.6
    if numbered:
        for atom in molecule.GetAtoms():
            atom.SetProp("atomNote", str(atom.GetIdx()))
    rdMolDraw2D.PrepareAndDrawMolecule(
        drawer, molecule, highlightAtoms=marked, highlightAtomColors=dict.fromkeys(marked, CHANGED)
    )
    drawer.FinishDrawing()
    return str(drawer.GetDrawingText())


def _discs(graph: Graph, space: GraphSpace, marked: list[int], numbered: bool) -> str:
    """Nodes in the square from -1 to 1; edges with a label above 1 are thicker."""
    opening = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="-1.35 -1.15 2.7 2.3">'
    if graph.num_nodes > MOST_DRAWN:
        text = f"{graph.num_nodes} nodes, {graph.num_edges} edges"
        return f'{opening}<text text-anchor="middle" font-size="0.2">{text}</text></svg>'
    places, palette = layout(graph).tolist(), palette_of(space)
    texts = [escape(text) for text in texts_of(graph, space)]
    parts = [opening]
    for (start, end), label in zip(graph.edges.tolist(), graph.edge_labels.tolist()):
        (x1, y1), (x2, y2) = places[start], places[end]
        line = f'x1="{x1:.3f}" y1="{-y1:.3f}" x2="{x2:.3f}" y2="{-y2:.3f}"'
        parts.append(f'<line {line} stroke="#6b7280" stroke-width="{0.02 + 0.02 * label:.2f}"/>')
    radius = 0.13 if graph.num_nodes <= 12 else 0.09
    for node, ((x, y), label) in enumerate(zip(places, graph.node_labels.tolist())):
        red, green, blue = (round(255 * part) for part in palette[label % len(palette)])
        edge = "#e8590c" if node in marked else "#1f2937"
        width = 0.05 if node in marked else 0.015
        circle = f'cx="{x:.3f}" cy="{-y:.3f}" r="{radius}"'
        colours = f'fill="rgb({red},{green},{blue})" stroke="{edge}" stroke-width="{width}"'
        parts.append(f"<circle {circle} {colours}/>")
        text = str(node) if numbered else texts[node]
        if text:
            style = f'font-size="{radius}" text-anchor="middle" dominant-baseline="central"'
            ink = text_colour(palette[label % len(palette)])
            parts.append(f'<text x="{x:.3f}" y="{-y:.3f}" {style} fill="{ink}">{text}</text>')
    return "".join([*parts, "</svg>"])
