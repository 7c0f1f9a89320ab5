"""Exported files give what torch gives; a damaged file is caught. Run outside pytest's type checks.

The exporter follows tensors of unknown sizes, which the checks of shapes cannot take.
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
import numpy as np
from grale.catalog import load
from grale.data.samples import sample_graphs
from grale.model.config import ModelConfig
from grale.tasks.export import export_model
from grale.tasks.exported import Exported, differences

name, folder = sys.argv[1], Path(sys.argv[2])
model = load(name)
export_model(model, folder, name)
graphs = sample_graphs(model.space, 7, None, "test")  # another number than it was traced with
found = differences(model, folder, graphs)
with np.errstate(all="ignore"):
    model.decoder.node_heads.weight.data.mul_(1.01)  # the control: a torch model that differs
    wrong = differences(model, folder, graphs)
about = json.loads((folder / "export.json").read_text())
print(json.dumps({"found": found, "wrong": wrong, "parts": list(about["parts"])}))
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "parts"),
    [
        ("coloring-10", ["encoder", "decoder", "description"]),
        ("molecules", ["nodes", "pooling", "decoder", "description"]),
    ],
)
def test_onnxruntime_agrees_with_torch(tmp_path: Path, name: str, parts: list[str]) -> None:
    pytest.importorskip("onnxscript")
    done = subprocess.run(
        [sys.executable, "-c", CHECK, name, str(tmp_path / "out")],
        capture_output=True, text=True, check=True,
    )  # fmt: skip
    said = json.loads(done.stdout.strip().splitlines()[-1])
    assert said["parts"] == parts
    assert set(said["found"]) == {
        "latents", "descriptions", "node_mask", "node_label", "edge_label"
    }  # fmt: skip
    assert max(said["found"].values()) < 1e-4
    assert said["wrong"]["node_label"] > 1e-3
    assert said["wrong"]["latents"] < 1e-4  # the encoder is as before
