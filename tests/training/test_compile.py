"""torch.compile gives the losses and gradients of the plain path."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys

import pytest

# Capturing the graph and its gradients takes seconds, generating C++ for it minutes: the latter
# only where this variable says "inductor".
BACKEND = os.environ.get("GRALE_COMPILE_BACKEND", "aot_eager")

# A process of its own: here every function is wrapped by the checks of shapes and types, which a
# compiler cannot see through.
PROGRAM = """
import json, sys, torch
from grale.data.coloring.generate import COLORING_VARIANTS, generate_coloring
from grale.graphs.batch import GraphBatch
from grale.graphs.space import GraphSpace
from grale.model.autoencoder import GRALE
from grale.model.config import LossConfig, MatcherConfig, ModelConfig
from grale.training.config import TrainConfig
from grale.training.objective import ReconstructionObjective
from grale.training.step_input import StepInput

torch.set_num_threads(1)
torch.manual_seed(0)
config = ModelConfig(
    num_tokens=2, token_dim=8, num_layers=1, num_heads=2, node_dim=16, edge_dim=8, outer_dim=4,
    norm="pre", matcher=MatcherConfig(affinity="sphere", num_sweeps=4, grad_sweeps=2),
    loss=LossConfig(marginal=1.0, normalise_by="size"),
)
model = GRALE(GraphSpace(max_nodes=10, num_node_labels=4), config)
plain = ReconstructionObjective(model, TrainConfig())
graphs = GraphBatch.from_graphs(generate_coloring(6, COLORING_VARIANTS["coloring10"], seed=0))
noise = plain.model.draw_noise(6, torch.Generator().manual_seed(0))
inputs = StepInput(graphs.node_mask, graphs.node_labels, graphs.edge_labels, noise)

def run(objective):
    plain.zero_grad()
    loss = objective(inputs)["loss"]
    loss.backward()
    return loss.item(), [p.grad.clone() for p in plain.parameters()]

loss, gradients = run(plain)
compiled_loss, compiled = run(torch.compile(plain, backend=sys.argv[1]))
scale = max(g.abs().max() for g in gradients).item()
worst = max((a - b).abs().max().item() for a, b in zip(gradients, compiled))
print(json.dumps({"loss": loss, "compiled": compiled_loss, "worst": worst, "scale": scale}))
"""


@pytest.mark.soak
@pytest.mark.skipif(shutil.which("g++") is None, reason="torch.compile needs a C++ compiler")
def test_a_compiled_step_equals_the_plain_one() -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM, BACKEND], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-2_000:]
    found = json.loads(done.stdout.splitlines()[-1])
    assert found["compiled"] == pytest.approx(found["loss"], rel=1e-4)
    assert found["worst"] < 1e-3 * found["scale"]
    assert found["scale"] > 1e-3  # there is something to compare
