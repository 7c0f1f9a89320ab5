"""What users may ask for, and what they are told if they ask for something else."""

from __future__ import annotations

import math

import numpy as np
import pytest

from grale.prior.conditions import Range, check_wanted, draw_conditions, parse_wanted
from grale.prior.config import Condition

KNOWN = (Condition(name="size"), Condition(name="logP"), Condition(name="bits", width=3))
EXAMPLES = np.array([[5, 1.0, 0, 0, 1], [9, 4.0, 0, 1, 1], [7, 2.0, 1, 1, 1]], dtype=np.float32)


def test_comparisons_are_read_as_numbers_and_ranges() -> None:
    assert parse_wanted(["size = 20", "logP<=3"]) == {"size": 20.0, "logP": Range(-math.inf, 3.0)}
    assert parse_wanted(["logP>1", "logP<2"]) == {"logP": Range(1.0, 2.0)}


@pytest.mark.parametrize("text", ["logP", "logP<", "<3", "logP<x", "logP<nan", "logP=inf", ""])
def test_what_is_not_a_comparison_is_quoted(text: str) -> None:
    with pytest.raises(ValueError, match="cannot read"):
        parse_wanted([text])


def test_asking_twice_for_a_number_is_refused() -> None:
    with pytest.raises(ValueError, match="asked for twice"):
        parse_wanted(["size=3", "size=4"])


@pytest.mark.parametrize(
    ("wanted", "message"),
    [
        ({"weight": 3.0}, "not trained with the condition 'weight'; it knows size, logP, bits"),
        ({"logP": Range(3.0, 1.0)}, "no logP lies between 3 and 1"),
        ({"bits": [1.0, 0.0]}, "bits has 2 numbers; this prior expects 3"),
        ({"bits": Range(0.0, 1.0)}, "a vector of 3 numbers; it has no range"),
        ({"logP": math.nan}, "must be finite"),
    ],
)
def test_a_condition_that_cannot_be_met_is_named(wanted, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        check_wanted(wanted, KNOWN)


def test_ranges_are_drawn_from_examples_and_numbers_are_as_given() -> None:
    rng = np.random.default_rng(0)
    wanted = {"logP": Range(1.5, math.inf), "size": 8.0}
    rows = draw_conditions(wanted, KNOWN, EXAMPLES, 50, rng)
    assert set(rows[:, 1].tolist()) == {2.0, 4.0}
    assert set(rows[:, 0].tolist()) == {8.0}
    assert np.isnan(rows[:, 2:]).all()


def test_a_vector_fills_its_columns() -> None:
    rows = draw_conditions({"bits": [1.0, 0.0, 1.0]}, KNOWN, EXAMPLES, 2, np.random.default_rng(0))
    assert rows[:, 2:].tolist() == [[1, 0, 1]] * 2
    assert np.isnan(rows[:, :2]).all()


def test_a_range_without_examples_says_what_there_is() -> None:
    with pytest.raises(
        ValueError, match=r"no graph .* logP in \[5, inf\]; it has logP from 1 to 4"
    ):
        draw_conditions({"logP": Range(5.0)}, KNOWN, EXAMPLES, 2, np.random.default_rng(0))
