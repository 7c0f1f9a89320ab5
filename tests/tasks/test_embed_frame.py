"""A column of a frame is embedded; the frame comes back with the vectors beside its columns."""

from __future__ import annotations

import copy
import json

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torch

import grale
from grale.codec.identity import identity_in

SMILES = ["CCO", None, "xyz", "c1ccccc1"]
MAKERS = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.table}


def columns_of(frame):
    return list(frame.column_names if isinstance(frame, pa.Table) else frame.columns)


def listed(column):
    values = column.to_pylist() if hasattr(column, "to_pylist") else list(column)
    return [None if v is None or v is pd.NA or v != v else v for v in values]


@pytest.mark.slow
@pytest.mark.parametrize("library", MAKERS)
def test_the_frame_keeps_its_columns_and_gets_vectors_and_reasons(molecule_model, library):
    frame = MAKERS[library]({"id": [4, 5, 6, 7], "s": SMILES})
    found = grale.embed_frame(frame, "s", molecule_model, what="both")
    assert type(found) is type(frame)
    added = ["status", "reason", "embedding", "description"]
    assert columns_of(found) == ["id", "s", *added]
    assert columns_of(frame) == ["id", "s"]  # it is not changed
    assert listed(found["status"]) == ["ok", "failed", "failed", "ok"]
    assert listed(found["reason"])[1] == "the row has no entry"
    vectors = [found["embedding"][row] for row in (0, 3)]
    vectors = [v.as_py() if isinstance(v, pa.Scalar) else list(v) for v in vectors]
    expected = molecule_model.encode(["CCO", "c1ccccc1"])
    np.testing.assert_allclose(np.array(vectors, dtype=np.float32), expected, atol=1e-5)


@pytest.mark.parametrize("library", MAKERS)
def test_a_wide_frame_has_one_column_per_number(molecule_model, library):
    frame = MAKERS[library]({"smiles": SMILES})
    found = grale.embed_frame(frame, model=molecule_model, what="description", wide=True)
    width = molecule_model.description_dim
    assert columns_of(found)[3:] == [f"description_{k}" for k in range(width)]
    first = np.array(listed(found["description_0"]), dtype=np.float32)
    assert np.isfinite(first).tolist() == [True, False, False, True]


@pytest.mark.slow
def test_an_index_stays_and_the_model_is_named(molecule_model):
    frame = pd.DataFrame({"smiles": SMILES}, index=[9, 7, 7, 1])
    found = grale.embed_frame(frame, model=molecule_model)
    assert found.index.tolist() == [9, 7, 7, 1]
    assert found.attrs["grale"]["fingerprint"] == molecule_model.fingerprint
    graphs = molecule_model.decode(found["embedding"], on_error="null")
    assert [graph is None for graph in graphs] == [False, True, True, False]
    other = copy.deepcopy(molecule_model)
    with torch.no_grad():
        next(other.parameters()).add_(1.0)
    with pytest.raises(ValueError, match="holds vectors of"):
        other.decode(found["embedding"], on_error="null")


def test_a_table_of_pyarrow_names_its_model_as_a_parquet_file_does(molecule_model, tmp_path):
    found = grale.embed_frame(pa.table({"smiles": ["CCO"]}), model=molecule_model)
    assert json.loads(found.schema.metadata[b"grale"])["fingerprint"] == molecule_model.fingerprint
    pq.write_table(found, tmp_path / "z.parquet")
    made_by = identity_in(grale.read_vectors(tmp_path / "z.parquet").made_with)
    assert made_by.fingerprint == molecule_model.fingerprint


def test_a_mistake_says_what_the_frame_has(molecule_model):
    frame = pd.DataFrame({"smiles": ["C"], "status": ["new"]})
    with pytest.raises(ValueError, match=r"no column 'SMILES'; it has \['smiles', 'status'\]"):
        grale.embed_frame(frame, "SMILES", molecule_model)
    with pytest.raises(ValueError, match="already has a column 'status'"):
        grale.embed_frame(frame, model=molecule_model)
    with pytest.raises(TypeError, match="expected a data frame, got list"):
        grale.embed_frame(["C"], model=molecule_model)
    empty = grale.embed_frame(frame[["smiles"]].iloc[:0], model=molecule_model)
    assert len(empty) == 0
