"""A loss that is not a number stops the run and leaves what is needed to see it again.

Departures: not in the paper.
"""

from __future__ import annotations

import json
from pathlib import Path

from jaxtyping import Float
from safetensors.torch import save_file
from torch import Tensor

from grale.data.batching import TrainingBatch


class BadLossError(RuntimeError):
    """The loss of a step is infinite or not a number."""


def stop_on_bad_loss(
    loss: Float[Tensor, ""],
    batch: TrainingBatch,
    noise: Float[Tensor, "B N n_f"],
    step: int,
    folder: Path,
) -> None:
    """Raise BadLossError naming the step and the batch's graphs, after saving both."""
    if bool(loss.isfinite()):
        return
    place = folder / f"bad-loss-step-{step:09d}"
    place.mkdir(parents=True, exist_ok=True)
    graphs = batch.graphs
    tensors = {
        "node_mask": graphs.node_mask,
        "node_labels": graphs.node_labels,
        "edge_labels": graphs.edge_labels,
        "noise": noise,
    }
    save_file({name: tensor.cpu().contiguous() for name, tensor in tensors.items()},
              place / "batch.safetensors")  # fmt: skip
    ids = {"step": step, "pool": batch.pool_number, "rows": batch.rows.tolist()}
    (place / "ids.json").write_text(json.dumps(ids))
    shown = ", ".join(map(str, ids["rows"][:5]))
    raise BadLossError(
        f"the loss is {loss.item()} at step {step} "
        f"(pool {batch.pool_number}, graphs {shown}, ...); the batch is saved in {place}. "
        "Lower the learning rate, or resume from a checkpoint"
    )
