"""Numbers that users choose have limits, whatever they are used for."""

from __future__ import annotations

import pytest

from grale.codec.options import MOST_CANDIDATES, CodecOptions
from grale.tasks.predict import PredictConfig


@pytest.mark.parametrize("kind", [CodecOptions, PredictConfig])
def test_more_candidates_than_anyone_reads_are_refused(kind) -> None:
    assert kind(candidates=MOST_CANDIDATES).candidates == MOST_CANDIDATES
    for number in (MOST_CANDIDATES + 1, 100_000):
        with pytest.raises(ValueError, match=f"at most {MOST_CANDIDATES}, got {number}"):
            kind(candidates=number)


@pytest.mark.parametrize(
    ("kind", "field", "name"),
    [
        (CodecOptions, "candidates", "candidates"),
        (CodecOptions, "molecule_tries", "tries"),
        (PredictConfig, "candidates", "candidates"),
        (PredictConfig, "tries", "tries"),
        (PredictConfig, "batch_size", "batch_size"),
    ],
)
def test_less_than_one_is_refused_under_the_name_that_users_know(kind, field, name) -> None:
    with pytest.raises(ValueError, match=f"^{name} must be at least 1, got 0$"):
        kind(**{field: 0})
