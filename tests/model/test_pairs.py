"""Several tries of the matcher."""

import numpy as np
import pytest


@pytest.mark.slow
def test_more_tries_never_cost_more_and_the_first_is_the_usual(tiny_model, coloring_graphs):
    pairs = list(zip(coloring_graphs[::2], coloring_graphs[1::2]))
    bounds = [
        [match.edit_distance for match in tiny_model.match_many(pairs, tries=tries)]
        for tries in (1, 4, 8)
    ]
    usual = [match.edit_distance for match in tiny_model.match_many(pairs)]
    assert bounds[0] == usual
    assert (np.diff(bounds, axis=0) <= 0).all()
    assert sum(bounds[2]) < sum(bounds[0])


@pytest.mark.slow
def test_tries_do_not_depend_on_the_batch(tiny_model, coloring_graphs):
    pairs = list(zip(coloring_graphs[::2], coloring_graphs[1::2]))
    whole = tiny_model.match_many(pairs, tries=5)
    for alone, match in zip(pairs, whole):
        assert tiny_model.match(*alone, tries=5).edit_distance == match.edit_distance
    parts = tiny_model.match_many(pairs, batch_size=3, tries=5)
    assert [match.edit_distance for match in parts] == [match.edit_distance for match in whole]


def test_no_tries_are_refused(tiny_model, coloring_graphs):
    with pytest.raises(ValueError, match="tries must be at least 1, got 0"):
        tiny_model.match(*coloring_graphs[:2], tries=0)


@pytest.mark.parametrize("pairs", ["CCO", ["CCO"], [("C",)], [3]])
def test_what_is_no_list_of_pairs_is_refused(tiny_model, pairs):
    with pytest.raises(TypeError, match="wrap it in a list|pair 0 should be two graphs"):
        tiny_model.match_many(pairs)


def test_pairs_may_come_from_a_generator(tiny_model, coloring_graphs):
    pairs = list(zip(coloring_graphs[:3], coloring_graphs[3:6]))
    again = tiny_model.match_many(pair for pair in pairs)
    assert [match.edit_distance for match in again] == [
        match.edit_distance for match in tiny_model.match_many(pairs)
    ]
