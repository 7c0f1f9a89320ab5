"""Remake the golden embeddings of a shipped model: python tests/golden/make_golden.py NAME.

They are the embeddings of 50 graphs of GOLDEN_SEED or of 50 well-known molecules, computed in
double precision: rounding in float32 moves some by 1e-4, in another way on every processor. Remake
them only when the weights change; a test reproduces them to 1e-5.
"""

from __future__ import annotations

import sys
from pathlib import Path

import torch
from safetensors.torch import save_file

import grale
from grale.data.coloring.generate import COLORING_VARIANTS, generate_coloring
from grale.data.samples import usual_data
from grale.graphs.batch import GraphBatch
from grale.graphs.molecules.molecule import is_molecular

GOLDEN_SEED, NUM_GOLDEN = 50, 50
MOLECULES = [
    "C", "O", "CC", "CO", "CCO", "CC=O", "CC#N", "CC(C)=O", "CC(=O)O", "NCC(=O)O", "CC(N)C(=O)O",
    "C1CC1", "C1CCCCC1", "c1ccccc1", "Cc1ccccc1", "Oc1ccccc1", "Nc1ccccc1", "c1ccncc1",
    "c1cc[nH]c1", "c1ccoc1", "c1ccsc1", "c1c[nH]cn1", "c1ccc2ccccc2c1", "c1ccc2[nH]ccc2c1",
    "O=C(O)c1ccccc1", "O=C(O)c1ccccc1O", "CC(=O)Oc1ccccc1C(=O)O", "CC(=O)Nc1ccc(O)cc1",
    "CC(C)Cc1ccc(C)cc1", "C=CC=C", "C#CC#C", "FC(F)(F)F", "ClC(Cl)Cl", "BrCCBr", "CS(C)=O", "CSC",
    "CP(C)C", "C[Si](C)(C)C", "OB(O)c1ccccc1", "O=[N+]([O-])c1ccccc1", "CN1CCCC1c1cccnc1",
    "Cn1cnc2c1c(=O)n(C)c(=O)n2C", "NCCc1ccc(O)c(O)c1", "OCC(O)CO", "OCC1OC(O)C(O)C(O)C1O",
    "NC(N)=O", "O=C1CCCCN1", "C1CN2CCC1CC2", "[Na+].[Cl-]", "CCCCCCCCCCCCCCCC",
]  # fmt: skip


def golden_graphs(model: grale.GRALE) -> list[grale.Graph]:
    if is_molecular(model.space):
        return [grale.Graph.from_smiles(smiles) for smiles in MOLECULES]
    return generate_coloring(NUM_GOLDEN, COLORING_VARIANTS[usual_data(model.space)], GOLDEN_SEED)


@torch.no_grad()
def exact_latents(model: grale.GRALE) -> torch.Tensor:
    """Embeddings of the golden graphs by the model in double precision, rounded at the end."""
    graphs = golden_graphs(model)
    return model.double().embed(GraphBatch.from_graphs(graphs)).float()


if __name__ == "__main__":
    name = sys.argv[1]
    latents = exact_latents(grale.load(name))
    save_file({"latents": latents}, Path(__file__).parent / f"{name}.safetensors")
