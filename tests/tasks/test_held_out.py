"""One measure of what is predicted of held-out values."""

import numpy as np
import pytest

from grale.tasks.held_out import explained


@pytest.fixture
def columns(rng):
    """True values and predictions of three columns, the last of which never changes."""
    true = rng.normal(size=(50, 3)) * [1, 100, 0] + [0, -7, 4]
    return true, true + rng.normal(size=true.shape)


def test_it_is_the_r2_of_scikit_learn(columns) -> None:
    r2_score = pytest.importorskip("sklearn.metrics").r2_score
    true, predicted = columns
    expected = r2_score(true, predicted, multioutput="raw_values")
    np.testing.assert_allclose(explained(true, predicted), expected, rtol=1e-12)
    assert explained(true[:, 0], predicted[:, 0]) == pytest.approx(expected[0])
    np.testing.assert_array_equal(
        explained(true, true), r2_score(true, true, multioutput="raw_values")
    )


def test_a_guess_that_is_further_off_leaves_more_to_explain(columns) -> None:
    true, predicted = (each[:, 1] for each in columns)
    assert explained(true, predicted, guess=50.0) > explained(true, predicted)
    assert explained(true, predicted, guess=float(true.mean())) == explained(true, predicted)
    assert explained(true, np.full(len(true), 50.0), guess=50.0) == 0
