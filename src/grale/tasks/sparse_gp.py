"""A Gaussian process with inducing points, as D-VAE predicts scores with (Zhang et al. 2019).

    k(x, x') = s^2 exp(-|x - x'|^2 / (2 l^2)),   q(x, x') = k(x, U) k(U, U)^-1 k(U, x')

Kernel, noise, mean and the 500 points U are fitted to the marginal likelihood of the approximate
process by 100 steps of Adam (gpytorch). The library is an extra: `pip install 'grale[gp]'`.

Departures: D-VAE's own code fits the same kind of process by 100 passes over minibatches of 1,000
at a rate of 5e-4; here each step sees all rows.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from jaxtyping import Float
from torch import Tensor


@dataclass(frozen=True, kw_only=True)
class SparseGpConfig:
    """How large the process is, and how long it is fitted."""

    num_inducing: int = 500
    """Most inducing points."""
    num_steps: int = 100
    learning_rate: float = 0.05


def sparse_gp_predictions(
    x: Float[Tensor, "n d"],
    y: Float[Tensor, " n"],
    others: Float[Tensor, "m d"],
    config: SparseGpConfig,
    generator: torch.Generator,
) -> Float[Tensor, " m"]:
    """Fit a process to rows and values, both standardised, and predict the values of other rows."""
    gpytorch = _library()
    x, y, others = x.double(), y.double(), others.double()  # float32 loses the factors of k(U, U)
    start = x[torch.randperm(len(x), generator=generator)[: config.num_inducing]]
    likelihood = gpytorch.likelihoods.GaussianLikelihood()
    model = _process(gpytorch, x, y, start, likelihood).double()
    target = gpytorch.mlls.ExactMarginalLogLikelihood(likelihood, model)
    optimizer = torch.optim.Adam(model.parameters(), config.learning_rate)
    model.train()
    for _ in range(config.num_steps):
        optimizer.zero_grad()
        (-target(model(x), y)).backward()
        optimizer.step()
    model.eval()
    with torch.no_grad(), gpytorch.settings.skip_posterior_variances():
        return model(others).mean.float()


def _process(
    gpytorch: Any,
    x: Float[Tensor, "n d"],
    y: Float[Tensor, " n"],
    start: Float[Tensor, "u d"],
    likelihood: Any,
) -> Any:
    """A process whose covariance goes through the inducing points `start`."""

    class SparseGp(gpytorch.models.ExactGP):  # type: ignore[misc, name-defined]
        def __init__(self) -> None:
            super().__init__(x, y, likelihood)
            self.mean_module = gpytorch.means.ConstantMean()
            kernel = gpytorch.kernels.ScaleKernel(gpytorch.kernels.RBFKernel())
            kernel.base_kernel.lengthscale = x.shape[1] ** 0.5  # a usual distance of two rows
            self.covariance = gpytorch.kernels.InducingPointKernel(
                kernel, inducing_points=start.clone(), likelihood=likelihood
            )

        def forward(self, rows: Tensor) -> Any:
            return gpytorch.distributions.MultivariateNormal(
                self.mean_module(rows), self.covariance(rows)
            )

    return SparseGp()


def _library() -> Any:
    try:
        import gpytorch
    except ImportError as error:
        raise ImportError("the Gaussian process needs gpytorch: pip install 'grale[gp]'") from error
    return gpytorch
