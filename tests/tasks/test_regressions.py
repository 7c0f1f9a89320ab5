"""Numbers predicted from vectors."""

import numpy as np
import pytest
import torch

from grale.tasks.regressions import Rows, fit_and_score, mlp, ridge, sparse_gp
from grale.tasks.sparse_gp import SparseGpConfig, sparse_gp_predictions


@pytest.fixture
def splits(rng):
    """A linear function and a part that is not, with large units."""
    vectors = rng.normal(size=(600, 5)).astype(np.float32) * [1, 10, 1, 1, 0.1] + 3
    values = 50 * vectors[:, 0] + 5 * vectors[:, 1] + 30 * (vectors[:, 2] - 3) ** 2 - 1000
    rows = Rows(vectors.astype(np.float32), values.astype(np.float64))
    return Rows(rows.vectors[:400], rows.values[:400]), Rows(rows.vectors[400:], rows.values[400:])


def test_errors_are_in_deviations_of_the_fitted_rows_and_r_is_pearsons(splits):
    train, test = splits

    def constant(x, y, others, seed):
        assert abs(float(y.mean())) < 1e-5
        assert float(y.std()) == pytest.approx(1, abs=1e-4)
        assert x.mean(dim=0).abs().max() < 1e-4
        return torch.zeros(len(others))

    fit = fit_and_score(constant, train, test, None, 0)
    expected = np.sqrt(np.mean((test.values - train.values.mean()) ** 2))
    assert fit.rmse == pytest.approx(expected / train.values.std(ddof=1), rel=1e-4)
    assert fit.pearson == 0  # a constant correlates with nothing

    def cheat(x, y, others, seed):
        return torch.from_numpy(-test.values)

    assert fit_and_score(cheat, train, test, None, 0).pearson == pytest.approx(-1)


def test_a_seed_draws_the_rows(splits):
    train, test = splits
    seen = []

    def watch(x, y, others, seed):
        seen.append((len(x), float(x[0, 0])))
        return others[:, 0]

    for seed in (0, 0, 1):
        fit_and_score(watch, train, test, 50, seed)
    assert seen[0] == seen[1] != seen[2]
    assert seen[0][0] == 50


@pytest.mark.slow
def test_curved_regressors_find_what_a_line_cannot(splits):
    line = fit_and_score(ridge, *splits, None, 0)
    curve = fit_and_score(mlp, *splits, None, 0)
    assert 0.3 < line.rmse < 0.7
    assert curve.rmse < 0.6 * line.rmse
    assert curve.pearson > line.pearson


def test_ridge_finds_a_line_exactly(splits):
    train, test = (Rows(part.vectors, part.vectors[:, 1].astype(np.float64)) for part in splits)
    assert fit_and_score(ridge, train, test, None, 0).rmse < 0.01


@pytest.mark.slow
def test_the_sparse_process_comes_close_to_the_exact_one(splits):
    pytest.importorskip("gpytorch")
    from sklearn.gaussian_process import GaussianProcessRegressor
    from sklearn.gaussian_process.kernels import RBF, WhiteKernel

    train, test = splits
    found = {}

    def sparse(x, y, others, seed):
        config = SparseGpConfig(num_inducing=60, num_steps=60, learning_rate=0.1)
        return sparse_gp_predictions(x, y, others, config, torch.Generator().manual_seed(seed))

    def exact(x, y, others, seed):
        kernel = RBF([2.0] * 5) + WhiteKernel(0.1)
        model = GaussianProcessRegressor(kernel, optimizer=None).fit(x.numpy(), y.numpy())
        return torch.from_numpy(model.predict(others.numpy()))

    for name, regressor in (("sparse", sparse), ("exact", exact)):
        found[name] = fit_and_score(regressor, train, test, 150, 0).rmse
    line = fit_and_score(ridge, train, test, 150, 0).rmse
    assert found["sparse"] < 0.9 * line
    assert found["sparse"] < found["exact"] + 0.1
    assert callable(sparse_gp)


@pytest.mark.parametrize(
    ("vectors", "values", "reason"),
    [(3, 2, "3 vectors and 2 values"), (1, 1, "at least two"), (4, 0, "all values .* the same")],
)
def test_what_cannot_be_fitted_is_refused(vectors, values, reason):
    numbers = np.ones(4) if values == 0 else np.arange(values, dtype=np.float64)
    rows = Rows(np.ones((vectors, 2), dtype=np.float32), numbers)
    with pytest.raises(ValueError, match=reason):
        fit_and_score(ridge, rows, rows, None, 0)
