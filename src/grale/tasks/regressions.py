"""Numbers predicted from vectors on a fixed split, over several seeds (paper: table on BN).

    rmse = sqrt(mean (y_hat - y)^2),   r = Pearson's correlation of y_hat and y

Vectors and numbers are standardised by the rows that a regressor is fitted to, and errors are in
those units. A seed draws the rows, if not all are taken, and everything random in the regressor.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import torch
from jaxtyping import Float
from numpy.typing import NDArray
from torch import Tensor

from grale.tasks.latent_predictor import FitConfig, deviations, fit_regressor
from grale.tasks.sparse_gp import SparseGpConfig, sparse_gp_predictions

RIDGE = 1e-3  # of the largest eigenvalue: enough to keep the solution finite
MANY_ROWS = 20_000
FEW_EPOCHS, MANY_EPOCHS = 30, 100
FLOOR = 1e-6  # of the penalty

Regressor = Callable[
    [Float[Tensor, "n d"], Float[Tensor, " n"], Float[Tensor, "m d"], int], Float[Tensor, " m"]
]
"""Fits rows and values, both standardised, and predicts the values of other rows, given a seed."""


class Rows(NamedTuple):
    """Vectors and the number that belongs to each."""

    vectors: NDArray[np.float32]
    values: NDArray[np.float64]


class Fit(NamedTuple):
    """How well other rows are predicted."""

    rmse: float
    """In deviations of the rows it was fitted to."""
    pearson: float


def fit_and_score(
    regressor: Regressor, train: Rows, test: Rows, most_rows: int | None, seed: int
) -> Fit:
    """Fit to the training rows, or to that many drawn at random, and score on the others."""
    for name, rows in (("train", train), ("test", test)):
        if len(rows.vectors) != len(rows.values) or len(rows.values) < 2:
            sizes = f"{len(rows.vectors)} vectors and {len(rows.values)} values"
            raise ValueError(f"{name} has {sizes}; give one each, and at least two")
    chosen = np.random.default_rng(seed).permutation(len(train.values))[:most_rows]
    x, others = (torch.from_numpy(part) for part in (train.vectors[chosen], test.vectors))
    y, true = (torch.from_numpy(part) for part in (train.values[chosen], test.values))
    if float(y.std()) == 0:
        raise ValueError("all values of the training rows are the same; there is nothing to learn")
    mean, deviation = x.mean(dim=0), deviations(x)
    standard = ((y - y.mean()) / y.std()).float()
    found = regressor((x - mean) / deviation, standard, (others - mean) / deviation, seed)
    missed = found.double() - (true - y.mean()) / y.std()
    pair = torch.stack([found.double(), true])
    correlation = torch.corrcoef(pair)[0, 1] if float(found.std()) > 0 else torch.zeros(())
    return Fit(float(missed.square().mean().sqrt()), float(correlation))


def ridge(
    x: Float[Tensor, "n d"], y: Float[Tensor, " n"], others: Float[Tensor, "m d"], seed: int
) -> Float[Tensor, " m"]:
    """Linear function of the vectors, nearly unpenalised; `heads` has one that is regularised."""
    products = (x.T @ x).double()
    penalty = RIDGE * float(torch.linalg.eigvalsh(products)[-1]) / len(x) + FLOOR
    identity = torch.eye(len(products), dtype=products.dtype)
    weights = torch.linalg.solve(products + penalty * identity, (x.T @ y).double())
    return others @ weights.float()


def mlp(
    x: Float[Tensor, "n d"], y: Float[Tensor, " n"], others: Float[Tensor, "m d"], seed: int
) -> Float[Tensor, " m"]:
    """Two hidden layers of 256; fewer epochs if there are many rows."""
    many = len(x) > MANY_ROWS
    config = FitConfig(
        num_hidden=2,
        epochs=FEW_EPOCHS if many else MANY_EPOCHS,
        batch_size=1024 if many else 256,
        weight_decay=0.01 if many else 0.1,
        seed=seed,
    )
    model = fit_regressor(x, y, config, torch.Generator().manual_seed(seed))
    with torch.no_grad():
        return model(others)


def sparse_gp(
    x: Float[Tensor, "n d"], y: Float[Tensor, " n"], others: Float[Tensor, "m d"], seed: int
) -> Float[Tensor, " m"]:
    """Gaussian process with 500 inducing points; see `grale.tasks.sparse_gp`."""
    generator = torch.Generator().manual_seed(seed)
    return sparse_gp_predictions(x, y, others, SparseGpConfig(), generator)
