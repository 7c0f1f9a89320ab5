"""Which weight is updated how (paper: "we trained with ADAM, a warm-up phase, and cosine").

Departures: Muon for hidden matrices is an option (decisions/006).
"""

from __future__ import annotations

from collections.abc import Mapping

import torch
from torch import Tensor, nn

from grale.training.config import OptimizerConfig
from grale.training.muon import Muon


class Optimizers:
    """All optimisers of a run, stepped together at the same share of their peak rates."""

    def __init__(self, model: nn.Module, config: OptimizerConfig) -> None:
        betas = (config.beta1, config.beta2)
        if config.kind == "adam":
            self.parts: list[torch.optim.Optimizer] = [
                torch.optim.Adam(
                    [weight for weight in model.parameters() if weight.requires_grad],
                    config.learning_rate,
                    betas,
                    weight_decay=config.weight_decay,
                )
            ]
        else:
            hidden, rest = split_parameters(model)
            self.parts = [
                Muon(hidden, config.muon_learning_rate, weight_decay=config.weight_decay),
                torch.optim.AdamW(
                    rest, config.learning_rate, betas, weight_decay=config.weight_decay, fused=True
                ),
            ]
        self.peaks = [[group["lr"] for group in part.param_groups] for part in self.parts]

    def step(self, rate_share: float) -> None:
        """Update all weights at `rate_share` of the peak rates, and drop the gradients."""
        for part, peaks in zip(self.parts, self.peaks):
            for group, peak in zip(part.param_groups, peaks):
                group["lr"] = peak * rate_share
            part.step()
            part.zero_grad(set_to_none=True)


def split_parameters(model: nn.Module) -> tuple[list[nn.Parameter], list[nn.Parameter]]:
    """Hidden matrices for Muon; vectors, tables, queries, first and last layers for AdamW.

    Each part lists the latter in `adam_weights`.
    """
    hidden: list[nn.Parameter] = []
    rest: list[nn.Parameter] = []
    for_adam = weights_named(model, "adam_weights")
    for name, parameter in model.named_parameters():
        is_matrix = parameter.ndim == 2 and min(parameter.shape) > 1
        is_hidden = is_matrix and name not in for_adam
        if parameter.requires_grad:
            (hidden if is_hidden else rest).append(parameter)
    return hidden, rest


def weights_named(model: nn.Module, kind: str) -> set[str]:
    """Names of the weights that the parts of a model list in their attribute `kind`.

    A part lists its weights, or parts of itself.
    """
    named = [
        f"{place}.{weight}" if place else weight
        for place, part in model.named_modules()
        for weight in getattr(part, kind, ())
    ]
    names = (name for name, _ in model.named_parameters())
    return {name for name in names if any(f"{name}.".startswith(f"{part}.") for part in named)}


class AveragedWeights:
    """Exponential moving average of a model's weights, for evaluation and for shipping.

    The decay grows from 0 towards its final value, so that the first weights are forgotten.
    """

    def __init__(self, model: nn.Module, decay: float) -> None:
        self.decay = decay
        self.weights: list[Tensor] = [p.detach().clone() for p in model.parameters()]

    @torch.no_grad()
    def update(self, model: nn.Module, step: int) -> None:
        """Move the average towards the weights after `step`."""
        decay = min(self.decay, (1 + step) / (10 + step)) if self.decay else 0.0
        current = [p.detach() for p in model.parameters()]
        torch._foreach_lerp_(self.weights, current, 1 - decay)

    def to(self, device: torch.device) -> None:
        """Move the averages to a device."""
        self.weights = [weight.to(device) for weight in self.weights]

    def load(self, model: nn.Module, weights: Mapping[str, Tensor]) -> None:
        """Load averages saved under the names of the model's weights."""
        self.weights = [weights[name].clone() for name, _ in model.named_parameters()]

    @torch.no_grad()
    def copy_to(self, model: nn.Module) -> None:
        """Overwrite the model's weights with the averages."""
        torch._foreach_copy_(list(model.parameters()), self.weights)
