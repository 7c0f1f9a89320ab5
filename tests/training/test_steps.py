"""One step of each objective of pairs, without the loop: shapes fit, and the loss teaches."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
import torch

from grale.data.batching import batches_from
from grale.data.sources import open_source
from grale.training.new_model import new_model
from grale.training.objective import OBJECTIVES
from grale.training.step_input import StepInput
from prediction_setup import quick


@pytest.mark.parametrize("rival", ["", "-any2graph", "-relationformer", "-fgwbary"])
def test_a_step_on_pairs_has_a_loss_that_reaches_what_is_trained(
    rival: str, image_pairs: Path, latent_pairs: Path
) -> None:
    if rival == "-fgwbary":
        pytest.importorskip("ot")
    config = quick(f"predict{rival}", image_pairs if rival else latent_pairs, batch_size=4)
    fgwbary = replace(config.fgwbary, num_templates=2, num_rounds=1)
    config = replace(config, fgwbary=fgwbary)
    source = open_source(config.data)
    torch.manual_seed(0)
    model = new_model(config, source)
    objective = OBJECTIVES[config.objective](model, config)
    noise = model.draw_noise(4, torch.Generator().manual_seed(0))
    batch = next(batches_from(source, 4, 0, 0))
    loss = objective(StepInput.of(batch, noise, torch.device("cpu")))["loss"]
    loss.backward()
    assert loss.isfinite()
    trained = [weight for weight in model.parameters() if weight.requires_grad]
    assert any(weight.grad is not None and weight.grad.abs().max() > 0 for weight in trained)
