"""Pictures of a probe: a line per contender, the best one marked, curves for classes."""

from __future__ import annotations

import numpy as np
import pytest

from grale.plot.probing import best_of, parity_figure, roc_figure

SCORES = {"a": [0.2, 0.3], "b": [0.1, 0.2]}


def test_the_left_side_names_every_contender_in_order() -> None:
    figure = parity_figure(SCORES, "MAE", "b", np.arange(5.0), np.arange(5.0) + 0.1)
    left, right = figure.axes
    assert [label.get_text() for label in left.get_yticklabels()] == ["b", "a"]  # a is on top
    assert left.get_xlabel() == "MAE (less is better)"
    assert "b, rows not learned from" in right.get_title()
    assert len(right.collections[0].get_offsets()) == 5


def test_the_best_is_the_least_error_or_the_largest_area() -> None:
    assert best_of(SCORES, is_error=True) == "b"
    assert best_of(SCORES, is_error=False) == "a"


def test_a_perfect_ranking_has_a_curve_through_the_corner() -> None:
    classes = np.array([0, 0, 1, 1])
    said = {"a": np.array([0.1, 0.2, 0.8, 0.9]), "b": np.array([0.9, 0.2, 0.1, 0.8])}
    figure = roc_figure(SCORES, "ROC-AUC", classes, said)
    curves = {line.get_label(): line.get_xydata().tolist() for line in figure.axes[1].lines}
    assert [0.0, 1.0] in curves["a"]
    assert [0.0, 1.0] not in curves["b"]


def test_nothing_to_show_is_refused() -> None:
    with pytest.raises(ValueError, match="empty"):
        parity_figure({}, "MAE", "a", np.ones(1), np.ones(1))
