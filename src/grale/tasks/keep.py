"""Which tokens belong to a part of a molecule, so that the part can be kept (decisions/015).

With one token per slot (pooling=transport), the tokens of the kept atoms' slots are held while the
others are drawn anew. The atoms are found in the decoded molecule: its atoms are the slots.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

from grale.codec.intake import accept
from grale.codec.refine import ENOUGH_STEPS
from grale.codec.sample import Template
from grale.graphs.graph import Graph
from grale.graphs.molecules.molecule import MoleculeError, is_molecular
from grale.graphs.molecules.substructure import first_match
from grale.metrics.isomorphism import is_isomorphic
from grale.model.autoencoder import GRALE


def template_of(model: GRALE, molecule: Any, pattern: str) -> Template:
    """Latent of a molecule, and the tokens of the atoms that match a pattern."""
    check_keeps(model)
    (graph,) = accept([molecule], model.space)
    if first_match(graph.to_mol(), pattern) is None:
        raise ValueError(f"the molecule {graph.to_smiles()} does not contain {pattern}")
    latent = model.encode([graph], refine=ENOUGH_STEPS)
    with torch.no_grad():
        logits = model.logits_of(torch.from_numpy(latent).to(next(model.parameters())))
    found = logits.most_likely(model.space.directed)
    (decoded,) = found.to_graphs()
    if not is_isomorphic(decoded, graph):
        raise ValueError(
            f"this model does not reconstruct {graph.to_smiles()}, so it cannot keep a part of it"
        )
    atoms = first_match(decoded.to_mol(), pattern)
    assert atoms is not None  # it is the same molecule
    slots = found.node_mask[0].cpu().numpy().nonzero()[0]
    is_held = np.zeros(model.config.num_tokens, dtype=bool)
    is_held[slots[atoms]] = True
    return Template(latent[0], is_held)


def check_keeps(model: GRALE) -> None:
    """Raise unless parts of graphs can be kept with this model."""
    if not is_molecular(model.space):
        raise ValueError("only parts of molecules can be kept; this model has other graphs")
    if model.config.pooling != "transport":
        raise ValueError(
            "this model has no token for each atom (its pooling is attention), so no part of a "
            "molecule can be kept; use a model with pooling=transport, such as molecules"
        )


def contains(graph: Graph, pattern: str) -> bool:
    """Whether a graph is a molecule that contains a pattern."""
    try:
        return first_match(graph.to_mol(), pattern) is not None
    except MoleculeError:
        return False
