"""A loss that is not finite stops the run and saves what is needed to reproduce it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import NoReturn

from jaxtyping import Float
from safetensors.torch import save_file
from torch import Tensor, nn

from grale.data.batching import TrainingBatch
from grale.files import whole, write_whole


class BadLossError(ArithmeticError):
    """The loss of a step, or its gradient, is not finite."""


def stop_on_bad_loss(
    loss: Float[Tensor, ""],
    model: nn.Module,
    batch: TrainingBatch,
    noise: Float[Tensor, "B ..."],
    folder: Path,
) -> NoReturn:
    """Save batch, noise and weights, then raise BadLossError and name the graphs of the batch."""
    graphs = batch.graphs
    tensors = {
        "node_mask": graphs.node_mask,
        "node_labels": graphs.node_labels,
        "edge_labels": graphs.edge_labels,
        "noise": noise,
    }
    if batch.inputs is not None:
        tensors["inputs"] = batch.inputs
    for name, group in (("batch", tensors), ("weights", model.state_dict())):
        stored = {key: value.detach().cpu().contiguous() for key, value in group.items()}
        with whole(folder / f"{name}.safetensors") as partial:
            save_file(stored, partial)
    ids = {"pool": batch.pool_number, "rows": batch.rows.tolist()}
    write_whole(folder / "ids.json", json.dumps(ids))
    shown = ", ".join(map(str, ids["rows"][:5]))
    raise BadLossError(
        f"the loss is {loss.item()} or its gradient is not finite "
        f"(pool {batch.pool_number}, graphs {shown}, ...); batch, noise and weights are saved in "
        f"{folder}. Lower the learning rate, or resume from a checkpoint"
    )
