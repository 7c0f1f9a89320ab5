"""Lists of graphs as people hold them: columns of frames, arrays, tuples, generators."""

from __future__ import annotations

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

SMILES = ["CCO", "c1ccccc1", "CC(=O)O"]
FORMS = {
    "pandas": pd.Series(SMILES),
    "pandas of objects": pd.Series(SMILES, dtype=object),
    "polars": pl.Series(SMILES),
    "array of objects": np.array(SMILES, dtype=object),
    "array of text": np.array(SMILES),
    "pyarrow": pa.chunked_array([SMILES]),
    "tuple": tuple(SMILES),
}


@pytest.mark.slow
@pytest.mark.parametrize("form", [*FORMS, "generator"])
def test_every_listing_gives_the_same_rows(molecule_model, form) -> None:
    def items():
        return (text for text in SMILES) if form == "generator" else FORMS[form]

    expected = molecule_model.encode(SMILES)
    assert np.array_equal(molecule_model.encode(items()), expected)
    assert np.allclose(molecule_model.describe(items()), molecule_model.describe(expected))
    assert molecule_model.reconstruct(items()) == molecule_model.reconstruct(SMILES)
    assert molecule_model.why_not(items()) == [None, None, None]


@pytest.mark.parametrize(
    "empty", [[], (), np.array([]), pd.Series([], dtype=object), pl.Series([])]
)
def test_nothing_gives_an_empty_array_of_the_right_width(molecule_model, empty) -> None:
    assert molecule_model.encode(empty).shape == (0, molecule_model.latent_dim)
    assert molecule_model.describe(empty).shape == (0, molecule_model.description_dim)
    assert molecule_model.describe(molecule_model.encode(empty)).shape[0] == 0
    assert molecule_model.reconstruct(empty) == []
    assert molecule_model.match_many(empty) == []


PAIRS = [("CCO", "CCN"), ("CC", "CC"), ("CCO", "C")]
PAIR_FORMS = {
    "tuple": tuple(PAIRS),
    "lists": [list(pair) for pair in PAIRS],
    "array": np.array(PAIRS, dtype=object),
    "pandas": pd.Series(PAIRS),
    "pandas frame": pd.DataFrame(PAIRS, columns=["x", "y"]),
    "polars": pl.Series([list(pair) for pair in PAIRS]),
    "polars frame": pl.DataFrame(PAIRS, schema=["x", "y"], orient="row"),
}


@pytest.mark.parametrize("form", [*PAIR_FORMS, "generator"])
def test_pairs_may_come_in_any_listing(molecule_model, form) -> None:
    pairs = (pair for pair in PAIRS) if form == "generator" else PAIR_FORMS[form]
    found = molecule_model.match_many(pairs)
    expected = molecule_model.match_many(PAIRS)
    assert [m.edit_distance for m in found] == [m.edit_distance for m in expected]
    assert [m.mapping.tolist() for m in found] == [m.mapping.tolist() for m in expected]


def test_what_is_not_a_pair_is_named(molecule_model) -> None:
    for wrong in ([("CC", "C"), "CC"], [("CC", "C"), ("C", "C", "C")], [("C", "C"), 3]):
        with pytest.raises(TypeError, match="pair 1 should be two graphs"):
            molecule_model.match_many(wrong)
    with pytest.raises(TypeError, match="two columns of graphs, got 1"):
        molecule_model.match_many(pd.DataFrame({"a": ["C"]}))


@pytest.mark.parametrize("missing", [None, float("nan"), pd.NA, np.float32("nan")])
def test_a_missing_value_is_a_row_without_an_entry(molecule_model, missing) -> None:
    assert molecule_model.why_not(["CC", missing]) == [None, "the row has no entry"]
    rows = molecule_model.encode(pd.Series(["CC", missing], dtype=object), on_error="null")
    assert np.isfinite(rows[0]).all()
    assert np.isnan(rows[1]).all()


@pytest.mark.parametrize("frame", [pd.DataFrame({"a": SMILES}), pl.DataFrame({"a": SMILES})])
def test_a_frame_is_refused_and_asks_for_a_column(molecule_model, frame) -> None:
    with pytest.raises(TypeError, match="got a data frame; choose its column"):
        molecule_model.encode(frame)


def test_progress_is_told_of_every_batch(molecule_model) -> None:
    told: list[int] = []
    molecule_model.encode([*SMILES, "xyz"], batch_size=2, on_error="null", progress=told.append)
    assert told == [2, 1]


@pytest.mark.slow
def test_a_column_of_vectors_is_decoded(molecule_model) -> None:
    rows = molecule_model.encode(SMILES)
    expected = molecule_model.decode(rows)
    for column in (list(rows), pd.Series(list(rows)), pl.Series([row.tolist() for row in rows])):
        assert molecule_model.decode(column) == expected
    gap = pd.Series([rows[0], None, rows[2]], dtype=object)
    assert molecule_model.decode(gap, on_error="null") == [expected[0], None, expected[2]]
