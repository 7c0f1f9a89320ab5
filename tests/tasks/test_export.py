"""Exported files give what torch gives, for any number of graphs; a model that differs is caught.

Run outside pytest's checks of shapes: the exporter follows tensors whose sizes are not numbers.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

CHECK = """
import json, sys
from pathlib import Path
import torch
from grale.catalog import load
from grale.codec.identity import provenance
from grale.data.samples import sample_graphs
from grale.graphs.molecules.molecule import molecule_space
from grale.model.autoencoder import GRALE
from grale.model.config import FeaturizerConfig, MatcherConfig, ModelConfig
from grale.tasks.export import export_model
from grale.tasks.exported import differences


def untrained(pooling, num_tokens):
    torch.manual_seed(0)
    config = ModelConfig(
        pooling=pooling, num_tokens=num_tokens, token_dim=8, num_layers=1, num_heads=2, node_dim=16,
        edge_dim=8, outer_dim=4, norm="pre", featurizer=FeaturizerConfig(path_dim=4),
        matcher=MatcherConfig(affinity="sphere", temperature=0.1, embedding_dim=8),
    )
    return GRALE(molecule_space(10), config).eval()


name, folder = sys.argv[1], Path(sys.argv[2])
made = {"attention": ("attention", 2), "transport": ("transport", 10)}
model = untrained(*made[name]) if name in made else load(name)
export_model(model, folder, name)
graphs = sample_graphs(model.space, 7, None, "test")  # another number than it was traced with
found = differences(model, folder, graphs)
before = provenance(model, name, "both")
model.decoder.node_heads.weight.data.mul_(1.1)  # the control: a model that differs
wrong = differences(model, folder, graphs)
about = json.loads((folder / "export.json").read_text())
after = provenance(model, name, "both")
said = {"named": [known.items() <= about.items() for known in (before, after)]}
print(json.dumps(said | {"found": found, "wrong": wrong, "parts": list(about["parts"])}))
"""
ONE = ["encoder", "decoder", "description"]
TWO = ["nodes", "pooling", "decoder", "description"]


@pytest.mark.parametrize(
    ("name", "parts"),
    [
        pytest.param("attention", ONE, marks=pytest.mark.soak),  # a minute or more each
        pytest.param("transport", TWO, marks=pytest.mark.slow),
        pytest.param("coloring-10", ONE, marks=pytest.mark.soak),
        pytest.param("molecules@1", TWO, marks=pytest.mark.soak),
    ],
)
def test_onnxruntime_agrees_with_torch(tmp_path: Path, name: str, parts: list[str]) -> None:
    pytest.importorskip("onnxscript")
    done = subprocess.run(
        [sys.executable, "-c", CHECK, name, str(tmp_path / "out")], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout.strip().splitlines()[-1])
    assert said["parts"] == parts
    assert set(said["found"]) == {
        "latents", "descriptions", "node_mask", "node_label", "edge_label"
    }  # fmt: skip
    assert max(said["found"].values()) < 1e-4
    assert said["wrong"]["node_label"] > 1e-3
    assert said["named"] == [True, False]  # its fingerprint is that of the weights as exported
    assert said["wrong"]["latents"] < 1e-4  # the encoder is as before
