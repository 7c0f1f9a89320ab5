"""Run the files that `export.py` writes, in onnxruntime, and compare them with torch."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from grale.extras import need
from grale.files import read_json

if TYPE_CHECKING:
    from grale.graphs.graph import Graph
    from grale.model.autoencoder import GRALE

TOLERANCE = 1e-4  # largest difference between torch and onnxruntime
CHECKED = 16  # graphs
Arrays = dict[str, NDArray[Any]]


class Exported:
    """The files of one export; needs numpy, scipy and onnxruntime only."""

    def __init__(self, folder: Path) -> None:
        need("onnxruntime", "running exported models")
        from onnxruntime import InferenceSession

        self.about = read_json(folder / "export.json")
        self._sessions = {
            name: InferenceSession(folder / f"{name}.onnx", providers=["CPUExecutionProvider"])
            for name in self.about["parts"]
        }

    def run(self, part: str, inputs: Arrays) -> Arrays:
        """Outputs of one file by their names."""
        names = self.about["parts"][part]
        wanted = {name: inputs[name] for name in names["inputs"]}
        return dict(zip(names["outputs"], self._sessions[part].run(names["outputs"], wanted)))

    def encode(self, inputs: Arrays) -> NDArray[np.float32]:
        """Latents of featurised graphs, as `grale.tasks.export.featurised` makes them."""
        if "encoder" in self._sessions:
            return self.run("encoder", inputs)["latents"]
        hidden = self.run("nodes", inputs)
        scores = hidden["scores"].astype(np.float64)
        places = np.arange(scores.shape[1]) / scores.shape[1]
        order = self.about.get("tie_break", 0.0) * np.outer(places, places)
        found = [linear_sum_assignment(matrix + order, maximize=True)[1] for matrix in scores]
        hidden |= {"node_mask": inputs["node_mask"], "permutation": np.stack(found)}
        return self.run("pooling", hidden)["latents"]

    def describe(self, latents: NDArray[np.float32]) -> NDArray[np.float32]:
        """Descriptions of latents."""
        return self.run("description", {"latents": latents})["descriptions"]

    def logits(self, latents: NDArray[np.float32]) -> Arrays:
        """Scores of existence, node labels and edge labels; the largest of each is the graph."""
        return self.run("decoder", {"latents": latents})


def differences(model: GRALE, folder: Path, graphs: Sequence[Graph]) -> dict[str, float]:
    """Largest absolute difference between torch and the files, by output."""
    import torch

    from grale.tasks.export import featurised

    exported = Exported(folder)
    latents = model.encode(graphs)
    with torch.no_grad():
        logits = model.logits_of(torch.from_numpy(latents))
    found = exported.logits(latents)
    pairs = {
        "latents": (exported.encode(featurised(model, graphs)), latents),
        "descriptions": (exported.describe(latents), model.describe(latents)),
        **{name: (found[name], getattr(logits, name).numpy()) for name in found},
    }
    return {name: float(np.abs(ours - true).max()) for name, (ours, true) in pairs.items()}
