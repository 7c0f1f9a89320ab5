"""Drawing latents: seeds, batches, and conditions that cannot be met."""

from __future__ import annotations

from math import inf

import numpy as np
import pytest

from grale.codec.sample import SampleOptions, sample_latents
from grale.model.autoencoder import GRALE
from grale.prior.conditions import Range


def _rows(model: GRALE, count: int, wanted=None, **options) -> np.ndarray:
    chosen = SampleOptions(**{"steps": 1, **options})
    return np.concatenate(list(sample_latents(model, count, wanted or {}, chosen)))


@pytest.mark.slow
def test_equal_seeds_give_equal_latents_and_others_do_not(generative: GRALE) -> None:
    first, again, other = (_rows(generative, 3, seed=seed) for seed in (1, 1, 2))
    assert np.array_equal(first, again)
    assert not np.allclose(first, other, atol=0.1)


@pytest.mark.slow
def test_a_row_depends_neither_on_the_batches_nor_on_the_count(generative: GRALE) -> None:
    whole = _rows(generative, 5, {"logP": Range(1.0, 3.0)}, batch_size=256)
    assert np.allclose(_rows(generative, 5, {"logP": Range(1.0, 3.0)}, batch_size=2), whole)
    assert np.allclose(_rows(generative, 3, {"logP": Range(1.0, 3.0)}, batch_size=2), whole[:3])


@pytest.mark.slow
def test_sampled_graphs_are_decoded_latents(generative: GRALE) -> None:
    graphs = generative.sample(4, seed=3, steps=1)
    assert graphs == generative.decode(_rows(generative, 4, seed=3))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("count", "wanted", "message"),
    [
        (0, {}, "count must be at least 1, got 0"),
        (1, {"QED": 0.5}, "not trained with the condition 'QED'; it knows size, logP"),
        (1, {"size": 17.0}, "size 17 is impossible: this model has graphs of 1 to 16 nodes"),
        (1, {"size": Range(40.0, inf)}, "size 40 to inf is impossible"),
        (1, {"size": 0.0}, "size 0 is impossible"),
        (1, {"logP": Range(50.0, 60.0)}, "no graph of the training sample has logP"),
    ],
)
def test_bad_requests_fail_before_anything_is_drawn(
    generative: GRALE, count: int, wanted, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        sample_latents(generative, count, wanted, SampleOptions())


@pytest.mark.parametrize(
    "options",
    [{"seed": -1}, {"steps": 0}, {"guidance": -1.0}, {"guidance": inf}, {"batch_size": 0}],
)
def test_bad_options_are_refused(options) -> None:
    with pytest.raises(ValueError, match="must be"):
        SampleOptions(**options)
