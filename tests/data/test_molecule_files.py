"""Files of molecules: every row is one entry, in order, whatever it holds."""

from __future__ import annotations

import gzip

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from grale.data.molecule_files import open_molecules, parse
from grale.graphs.graph import Graph

SMILES = ["CCO", "c1ccccc1", "not a molecule", "[Na+].[Cl-]"]


def entries(path, column=None, size=3):
    return [entry for chunk in open_molecules(path, column).rows(size) for entry in chunk.entries]


def sdf(smiles):
    from rdkit import Chem

    return "".join(Chem.MolToMolBlock(Chem.MolFromSmiles(s)) + "$$$$\n" for s in smiles)


@pytest.mark.parametrize("packed", [False, True], ids=["plain", "gz"])
@pytest.mark.parametrize(
    ("suffix", "text"),
    [
        ("csv", "id,SMILES\n" + "".join(f"{i},{s}\n" for i, s in enumerate(SMILES))),
        ("tsv", "id\tsmiles\n" + "".join(f"{i}\t{s}\n" for i, s in enumerate(SMILES))),
        ("smi", "".join(f"{s.replace(' ', '_')} name {i}\n" for i, s in enumerate(SMILES))),
    ],
)
def test_text_files_give_their_rows_in_order(tmp_path, suffix, text, packed) -> None:
    path = tmp_path / (f"x.{suffix}.gz" if packed else f"x.{suffix}")
    path.write_bytes(gzip.compress(text.encode()) if packed else text.encode())
    found = entries(path)
    assert [entry.replace("_", " ") for entry in found] == SMILES
    count = open_molecules(path).count()
    assert count is None if packed else count in (len(SMILES), len(SMILES) + 1)


def test_parquet_gives_its_rows_in_order_nulls_included(tmp_path) -> None:
    pq.write_table(pa.table({"n": [1, 2, 3], "smiles": ["C", None, "O"]}), tmp_path / "x.parquet")
    assert entries(tmp_path / "x.parquet") == ["C", None, "O"]
    assert open_molecules(tmp_path / "x.parquet").count() == 3
    assert "no entry" in str(parse(None))


def test_sdf_entries_are_read_as_molecules(tmp_path) -> None:
    (tmp_path / "x.sdf").write_text(sdf(["CCO", "c1ccccc1"]) + "broken\n$$$$\n")
    file = open_molecules(tmp_path / "x.sdf")
    found = [parse(entry, file.text) for entry in entries(tmp_path / "x.sdf")]
    assert found[0] == Graph.from_smiles("CCO")
    assert found[1] == Graph.from_smiles("c1ccccc1")
    assert isinstance(found[2], str)


def test_a_number_in_front_of_the_smiles_is_pubchems(tmp_path) -> None:
    (tmp_path / "x.smi").write_text("12\tCCO\n7\tCC\n")
    assert entries(tmp_path / "x.smi") == ["CCO", "CC"]


@pytest.mark.parametrize("encoding", ["utf-8-sig", "utf-16"])
def test_a_byte_order_mark_is_no_part_of_the_header(tmp_path, encoding) -> None:
    (tmp_path / "x.csv").write_text("smiles\nCCO\n", encoding=encoding)
    assert entries(tmp_path / "x.csv") == ["CCO"]


def test_bytes_that_are_no_text_are_a_reason_not_a_crash(tmp_path) -> None:
    (tmp_path / "x.csv").write_bytes(b"smiles\nCCO\n\xff\xfe\x00C\nCC\n")
    found = [parse(entry) for entry in entries(tmp_path / "x.csv")]
    assert isinstance(found[0], Graph)
    assert isinstance(found[1], str)
    assert isinstance(found[2], Graph)


def test_a_short_row_has_no_entry_and_a_blank_line_is_no_row(tmp_path) -> None:
    (tmp_path / "x.csv").write_text("id,smiles\n1,C\n2\n\n3,O\n")
    assert entries(tmp_path / "x.csv") == ["C", None, "O"]


def test_quoted_cells_may_hold_commas_and_line_ends(tmp_path) -> None:
    (tmp_path / "x.csv").write_text('name,smiles\n"a, b\nc",CC\n')
    assert entries(tmp_path / "x.csv") == ["CC"]


@pytest.mark.parametrize(
    ("header", "column", "message"),
    [
        ("id,structure_text", None, "its columns are 'id', 'structure_text'"),
        ("smiles,smiles", None, "2 columns are called 'smiles'"),
        ("id,smiles", "SMI", "no column is called 'SMI'"),
        ("", None, "is empty"),
    ],
)
def test_a_missing_or_doubled_column_is_named(tmp_path, header, column, message) -> None:
    (tmp_path / "x.csv").write_text(f"{header}\n1,2\n" if header else "")
    with pytest.raises(ValueError, match=message):
        open_molecules(tmp_path / "x.csv", column)


def test_files_that_cannot_be_read_say_what_would_help(tmp_path) -> None:
    with pytest.raises(FileNotFoundError, match="is not a file"):
        open_molecules(tmp_path / "none.csv")
    for name, message in [("x.doc", "should end in one of"), ("x", "should end in one of")]:
        (tmp_path / name).write_text("CC")
        with pytest.raises(ValueError, match=message):
            open_molecules(tmp_path / name)
    (tmp_path / "x.smi").write_text("CC")
    with pytest.raises(ValueError, match="has no columns"):
        open_molecules(tmp_path / "x.smi", "smiles")
    (tmp_path / "x.parquet.gz").write_bytes(b"")
    with pytest.raises(ValueError, match="unpack"):
        open_molecules(tmp_path / "x.parquet.gz")
    pq.write_table(pa.table({"smiles": [1, 2]}), tmp_path / "x.parquet")
    with pytest.raises(ValueError, match="holds int64, not text"):
        entries(tmp_path / "x.parquet")
