"""The nearest rows of a file: by descriptions, in little memory, stored vectors used again."""

from __future__ import annotations

import numpy as np
import pytest

import grale
import grale.tasks.described_rows as described
from grale.data.row_files import open_rows
from grale.model.autoencoder import GRALE
from grale.tasks.embed import EmbedConfig, embed_file
from grale.tasks.map_rows import coloured_rows, ids_of

SMILES = ["CCO", "xyz", "CCN", "c1ccccc1", "CC(=O)O", "C" * 40, "c1ccncc1", "CCCO"]


@pytest.fixture
def source(tmp_path):
    rows = "".join(f"m{row},{text},{row / 2},kind\n" for row, text in enumerate(SMILES))
    (tmp_path / "in.csv").write_text("id,smiles,y,label\n" + rows)
    return tmp_path / "in.csv"


@pytest.mark.slow
def test_the_nearest_rows_are_those_of_an_exhaustive_search(molecule_model, source, monkeypatch):
    monkeypatch.setattr(described, "ROWS", 100)
    (found,) = grale.neighbours(molecule_model, source, ["CCO"], k=3)
    good = [0, 2, 3, 4, 6, 7]
    rows = molecule_model.describe([SMILES[row] for row in good])
    scaled = rows / (rows.std(axis=0) + 1e-6)
    distances = np.linalg.norm(scaled - scaled[0], axis=1)
    assert [each.row for each in found] == [good[place] for place in np.argsort(distances)[:3]]
    assert found[0].distance == pytest.approx(0, abs=1e-3)
    assert found[0].entry == "CCO"
    assert found[0].others == {"id": "m0", "y": 0.0, "label": "kind"}
    assert len(grale.neighbours(molecule_model, source, ["CCO"], k=50)[0]) == len(good)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["z.parquet", "z.csv", "z.npy", "z"])
@pytest.mark.parametrize("what", ["latent", "description"])
def test_stored_vectors_of_the_same_model_are_used_again(
    tmp_path, molecule_model, source, name, what, monkeypatch
):
    expected = grale.neighbours(molecule_model, source, ["CCN"], k=4)[0]
    out, opened = tmp_path / name, open_rows(source, molecule_model.space)
    embed_file(molecule_model, "m", opened, out, EmbedConfig(what=what, shard_rows=3))

    def describe(items, *args, **options):
        if isinstance(items, list):
            assert items == ["CCN"], "the rows of the file are embedded again"
        return GRALE.describe(molecule_model, items, *args, **options)

    monkeypatch.setattr(molecule_model, "describe", describe, raising=False)
    found = grale.neighbours(molecule_model, out, ["CCN"], k=4)[0]
    assert [each.row for each in found] == [each.row for each in expected]


@pytest.mark.slow
def test_chunks_give_the_same_neighbours(molecule_model, source, monkeypatch):
    whole = grale.neighbours(molecule_model, source, ["CCO", "c1ccccc1"], k=2)
    parts = [list(part.numbers) for part in described.described_chunks(molecule_model, source)]
    assert parts == [[0, 2, 3, 4, 6, 7]]
    monkeypatch.setattr(described, "ROWS", 4)
    parts = [list(part.numbers) for part in described.described_chunks(molecule_model, source)]
    assert parts == [[0, 2, 3], [4, 6, 7]]
    again = grale.neighbours(molecule_model, source, ["CCO", "c1ccccc1"], k=2)
    assert [each[0].row for each in again] == [each[0].row for each in whole] == [0, 3]


@pytest.mark.slow
def test_rows_for_a_map_have_their_columns_or_properties(molecule_model, source):
    rows, colours, _ = coloured_rows(molecule_model, source, ["y", "size", "label"])
    assert rows.num_read == len(SMILES)
    assert colours["y"] == [0.0, 1.0, 1.5, 2.0, 3.0, 3.5]
    assert colours["size"] == [float(graph.num_nodes) for graph in rows.graphs]
    assert colours["label"] == ["kind"] * 6
    few, *_ = coloured_rows(molecule_model, source, ["y"], most=2)
    assert len(few.graphs) == len(few.vectors) == 2
    with pytest.raises(ValueError, match=r"has no column 'z'; it has 'id', 'y', 'label'"):
        coloured_rows(molecule_model, source, ["z"])


@pytest.mark.parametrize(
    ("header", "ids", "found"),
    [
        ("Compound ID", ("A7", "B9", "C1"), ["A7", "C1"]),
        ("Compound ID", ("A7", "B9", "A7"), ["0", "2"]),  # it tells no row from another
        ("Compound ID", ("A7", "B9", ""), ["0", "2"]),
        ("pIC50", ("1", "2", "3"), ["0", "2"]),
    ],
)
def test_rows_for_a_map_are_called_by_their_own_ids(tmp_path, molecule_model, header, ids, found):
    file = tmp_path / "a.csv"
    rows = zip(("CCO", "xyz", "CCN"), ids)
    file.write_text(f"smiles,{header}\n" + "".join(f"{a},{b}\n" for a, b in rows))
    assert coloured_rows(molecule_model, file, ["size"]).ids == found


def test_ids_with_gaps_and_repeats_are_found_on_a_map() -> None:
    columns = {"y": [1, 2, 3, 4], "name": ["p"] * 4, "ID": ["A7", "", "A7", "B9"]}
    assert ids_of(columns, [0, 2, 3, 5]) == ["A7", "row 2", "A7", "B9"]
    assert ids_of({"name": ["p"] * 4}, [0, 2, 3, 5]) == ["0", "2", "3", "5"]


@pytest.mark.parametrize("header", ["logP", "other"])
def test_a_measured_column_is_not_replaced_by_a_property(tmp_path, molecule_model, header) -> None:
    file = tmp_path / "a.csv"
    file.write_text(f"smiles,{header}\nCCO,9\nCCN,8\n")
    values = coloured_rows(molecule_model, file, ["logP"]).colours["logP"]
    assert (values == [9.0, 8.0]) == (header == "logP")


def test_a_file_without_usable_rows_is_named(tmp_path, molecule_model):
    (tmp_path / "x.smi").write_text("xyz\n")
    with pytest.raises(ValueError, match="holds no row that the model can take"):
        grale.neighbours(molecule_model, tmp_path / "x.smi", ["CCO"])
    with pytest.raises(ValueError, match="k must be at least 1"):
        grale.neighbours(molecule_model, tmp_path / "x.smi", ["CCO"], k=0)
