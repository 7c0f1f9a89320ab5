"""Columns beside the molecules: kept, typed, and never mistaken for the SMILES."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from grale.data.molecules.files import open_molecules
from grale.data.molecules.folder import open_file_or_folder


def table_of(path, column=None):
    opened = open_file_or_folder(path, column)
    survey = opened.survey()
    chunks = list(opened.rows(2, survey.columns))
    entries = [entry for chunk in chunks for entry in chunk.entries]
    others = {
        name: [value for chunk in chunks for value in chunk.others[name].to_pylist()]
        for name in survey.columns
    }
    assert survey.num_rows == len(entries)
    return entries, others, survey.columns


def entries_alone(path, column=None):
    return [record.entry for record in open_molecules(path, column).records(wants_others=False)]


@pytest.mark.parametrize(
    ("header", "column"),
    [
        ("id,Canonical SMILES,y", "Canonical SMILES"),
        ("id,CanonicalSMILES,IsomericSMILES", "CanonicalSMILES"),
        ("id,SMILES (desalted),y", "SMILES (desalted)"),
        ("SMILES, canonical_smiles ,y", "SMILES"),
        ("id;Smiles;y", "Smiles"),
        ("id;Isomeric SMILES;IC50, nM", "Isomeric SMILES"),
    ],
)
def test_the_column_of_smiles_is_found_by_its_usual_names(tmp_path, header, column) -> None:
    (tmp_path / "x.csv").write_text(f"{header}\n")
    assert open_molecules(tmp_path / "x.csv").column == column


def test_two_columns_that_may_be_meant_are_both_named(tmp_path) -> None:
    (tmp_path / "x.csv").write_text("drug smiles,target smiles\nC,C\n")
    with pytest.raises(ValueError, match="'drug smiles', 'target smiles'; name the one to read"):
        open_molecules(tmp_path / "x.csv")


def test_a_semicolon_csv_keeps_its_quotes_and_columns(tmp_path) -> None:
    (tmp_path / "x.csv").write_text(
        'ID;"Smiles";Note\n007;CCO;"a;b"\n008;"CC";c, d\n009;C;"open\n010;O;\n'
    )
    entries, others, _ = table_of(tmp_path / "x.csv")
    assert entries == ["CCO", "CC", "C", "O"]
    assert others == {"ID": ["007", "008", "009", "010"], "Note": ["a;b", "c, d", '"open', ""]}


def test_a_file_without_a_header_is_read_by_the_number_of_its_column(tmp_path) -> None:
    (tmp_path / "x.csv").write_text("CCO,1.5,a\nCC,2,b\n")
    entries, others, _ = table_of(tmp_path / "x.csv", "0")
    assert entries == ["CCO", "CC"]
    assert others == {"column_1": [1.5, 2.0], "column_2": ["a", "b"]}
    (tmp_path / "y.tsv").write_text("a\tCCO\nb\tCC\n")
    assert table_of(tmp_path / "y.tsv", "1")[0] == ["CCO", "CC"]
    with pytest.raises(ValueError, match="has 3 columns, numbered from 0, and none is number 7"):
        open_molecules(tmp_path / "x.csv", "7")
    with pytest.raises(ValueError, match=r"if the file has no header \(--column 0\)"):
        open_molecules(tmp_path / "x.csv")


def test_the_number_of_a_column_with_a_known_header_skips_the_header(tmp_path) -> None:
    (tmp_path / "x.csv").write_text("y,Smiles\n1,CCO\n")
    assert table_of(tmp_path / "x.csv", "1")[:2] == (["CCO"], {"y": [1]})
    (tmp_path / "z.csv").write_text("0,smiles\nCC,CCO\n")
    assert table_of(tmp_path / "z.csv", "0")[0] == ["CC"]  # its name, not its number


@pytest.mark.parametrize(
    ("cells", "expected", "kind"),
    [
        (["1", "-2", ""], [1, -2, None], pa.int64()),
        (["1", "2.5", "NaN"], [1.0, 2.5, None], pa.float64()),
        (["1e-3", ".5", "-7."], [0.001, 0.5, -7.0], pa.float64()),
        (["007", "8"], ["007", "8"], pa.string()),
        (["1,5", "2"], ["1,5", "2"], pa.string()),
        (["1", "low", "2"], ["1", "low", "2"], pa.string()),
        (["12345678901234567890"], [12345678901234567890.0], pa.float64()),
        (["", "NA"], ["", "NA"], pa.string()),
        (["-", "."], ["-", "."], pa.string()),
    ],
)
def test_a_column_is_numbers_only_if_every_cell_is_one(tmp_path, cells, expected, kind) -> None:
    rows = "".join(f"C\t{cell}\n" for cell in cells)
    (tmp_path / "x.tsv").write_text(f"smiles\ty\n{rows}")
    _, others, columns = table_of(tmp_path / "x.tsv")
    assert columns == {"y": kind}
    assert others["y"] == expected


def test_decimal_commas_of_a_semicolon_csv_are_read_as_numbers(tmp_path) -> None:
    rows = "C;5,5;-1,2e-3;3;5,5;1.234,5\nCC;6;;4;5.5;2\nCCC;n/a;,5;5;6;3\n"
    (tmp_path / "x.csv").write_text("smiles;y;small;whole;both;thousands\n" + rows)
    _, others, columns = table_of(tmp_path / "x.csv")
    assert others["y"] == [5.5, 6.0, None]
    assert others["small"] == [-0.0012, None, 0.5]
    assert columns["whole"] == pa.int64()
    assert others["both"] == ["5,5", "5.5", "6"]  # two decimal marks are not one number format
    assert others["thousands"] == ["1.234,5", "2", "3"]
    (tmp_path / "y.tsv").write_text("smiles\ty\nC\t5,5\n")
    assert table_of(tmp_path / "y.tsv")[1] == {"y": ["5,5"]}  # may be thousands


def test_the_molecule_of_a_desalted_row_is_the_one_that_was_embedded(tmp_path) -> None:
    header = "row,smiles,y,desalted,status,reason\n"
    rows = "0,CCN.Cl,1,CCN,ok,\n1,CC,2,,ok,\n2,xyz,3,,failed,cannot parse\n"
    (tmp_path / "z.csv").write_text(header + rows)
    for read in (table_of(tmp_path / "z.csv")[0], entries_alone(tmp_path / "z.csv")):
        assert read == ["CCN", "CC", "xyz"]
    table = pa.table({"smiles": ["CCN.Cl", None], "desalted": ["CCN", None]})
    for name in ("status", "reason"):
        table = table.append_column(name, pa.array(["ok", "ok"]))
    pq.write_table(table, tmp_path / "z.parquet")
    for read in (table_of(tmp_path / "z.parquet")[0], entries_alone(tmp_path / "z.parquet")):
        assert read == ["CCN", None]
    renamed = table.rename_columns(["parent", "desalted", "status", "reason"])
    pq.write_table(renamed, tmp_path / "z.parquet")
    assert entries_alone(tmp_path / "z.parquet", "parent") == ["CCN.Cl", None]


def test_a_column_that_someone_else_has_called_desalted_is_left_alone(tmp_path) -> None:
    (tmp_path / "own.csv").write_text("smiles,desalted\nCCN.Cl,no\nCC,no,more\n")
    assert table_of(tmp_path / "own.csv")[:2] == (["CCN.Cl", "CC"], {"desalted": ["no", "no"]})


def test_names_of_a_smi_and_fields_of_an_sdf_are_kept(tmp_path) -> None:
    from rdkit import Chem

    (tmp_path / "x.smi").write_text("CCO ethanol, 1\nCC\n17\tO\n")
    entries, others, _ = table_of(tmp_path / "x.smi")
    assert entries == ["CCO", "CC", "O"]
    assert others == {"name": ["ethanol, 1", None, "17"]}
    block = Chem.MolToMolBlock(Chem.MolFromSmiles("CCO")).replace("\n", "ethanol\n", 1)
    fields = "> <logP>\n-0.3\n\n>  <note> (1)\ntwo\nlines\n\n$$$$\n"
    (tmp_path / "x.sdf").write_text(block + fields + block + "$$$$\n")
    _, others, _ = table_of(tmp_path / "x.sdf")
    assert others == {
        "name": ["ethanol", "ethanol"],
        "logP": [-0.3, None],
        "note": ["two\nlines", None],
    }


def test_columns_of_a_parquet_keep_their_types(tmp_path) -> None:
    table = pa.table(
        {
            "smiles": ["C", "CC", "CCC"],
            "when": pa.array([1, 2, None], pa.date32()),
            "kind": pa.array(["a", "b", "a"]).dictionary_encode(),
            "list": [[1], None, []],
        }
    )
    pq.write_table(table, tmp_path / "x.parquet")
    entries, others, columns = table_of(tmp_path / "x.parquet")
    assert entries == ["C", "CC", "CCC"]
    assert columns["when"] == pa.date32()
    assert others["kind"] == ["a", "b", "a"]
    assert others["list"] == [[1], None, []]


def test_a_folder_has_the_columns_of_all_its_files(tmp_path) -> None:
    (tmp_path / "a.csv").write_text("smiles,y,n\nC,1,1\n")
    (tmp_path / "b.csv").write_text("id,smiles,y,n\nx,CC,2.5,low\n")
    entries, others, _ = table_of(tmp_path)
    assert entries == ["C", "CC"]
    assert others == {"y": [1.0, 2.5], "n": ["1", "low"], "id": [None, "x"]}


def test_doubled_and_empty_names_are_told_apart(tmp_path) -> None:
    (tmp_path / "x.csv").write_text(",smiles,y,y\n0,C,1,2\n")
    assert table_of(tmp_path / "x.csv")[1] == {"column_0": [0], "y": [1], "y_2": [2]}
