"""Files of molecules: every row is one entry, in order, whatever it holds."""

from __future__ import annotations

import gzip

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import grale.data.molecules.files as molecule_files
import grale.data.molecules.table_cells as reading
from grale.data.molecules.files import open_molecules, parse
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
    assert open_molecules(path).count() in (len(SMILES), len(SMILES) + 1)


def test_rows_of_long_files_are_estimated_from_their_start(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(molecule_files, "SAMPLE_BYTES", 2_000)
    rng = np.random.default_rng(0)
    text = "".join(f"{'C' * rng.integers(1, 9)}O {rng.integers(10**9)}\n" for _ in range(3_000))
    (tmp_path / "x.smi").write_text(text)
    (tmp_path / "x.smi.gz").write_bytes(gzip.compress(text.encode()))
    (tmp_path / "x.sdf").write_text(sdf(["CCO", "CCN"]) * 40)
    for name, count in (("x.smi", 3_000), ("x.smi.gz", 3_000), ("x.sdf", 80)):
        assert open_molecules(tmp_path / name).count() == pytest.approx(count, rel=0.2)


def test_parquet_gives_its_rows_in_order_nulls_included(tmp_path) -> None:
    pq.write_table(pa.table({"n": [1, 2, 3], "smiles": ["C", None, "O"]}), tmp_path / "x.parquet")
    assert entries(tmp_path / "x.parquet") == ["C", None, "O"]
    assert open_molecules(tmp_path / "x.parquet").count() == 3
    assert "no entry" in str(parse(None))


@pytest.mark.parametrize(
    "values",
    [
        pa.nulls(3),
        pa.array(["C", None, "C"]).dictionary_encode(),
        pa.array(["C", None, "O"], pa.large_string()),
        pa.array(["C", None, "O" * 40], pa.string_view()),
        pa.array([b"C", None, b"O"]),
    ],
    ids=lambda values: str(values.type)[:12],
)
def test_parquet_columns_of_any_text_are_read(tmp_path, values) -> None:
    try:
        pq.write_table(pa.table({"smiles": values}), tmp_path / "x.parquet")
    except pa.ArrowNotImplementedError:
        pytest.skip(f"this pyarrow writes no {values.type} to parquet")
    expected = [
        value.decode() if isinstance(value, bytes) else value for value in values.to_pylist()
    ]
    assert entries(tmp_path / "x.parquet") == expected


@pytest.mark.parametrize("coded", [False, True], ids=["plain", "dictionary"])
def test_a_parquet_value_that_is_no_text_is_a_reason(tmp_path, coded) -> None:
    raw = pa.array([b"C", b"C\xff\xfe", None, "C\u00e9".encode(), b"O"], pa.binary())
    values = pa.Array.from_buffers(pa.string(), len(raw), raw.buffers())
    values = values.dictionary_encode() if coded else values
    pq.write_table(pa.table({"smiles": values}), tmp_path / "x.parquet")
    found = [parse(entry) for entry in entries(tmp_path / "x.parquet")]
    assert [isinstance(item, Graph) for item in found] == [True, False, False, False, True]


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


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        ("x.csv", "id,smiles\n1,C\n2\n\n3,O\n", ["C", None, "", "O"]),
        ("x.csv", "smiles\nC\n\n\nO", ["C", "", "", "O"]),
        ("x.csv", "smiles\r\nC\r\n\r\n", ["C", ""]),
        ("x.tsv", "id\tsmiles\n1\tC\n\n2\tO\n", ["C", "", "O"]),
        ("x.smi", "C\n\n \t \n\tname\nO name\n  N\n7\t\n", ["C", "", "", "", "O", "N", ""]),
    ],
)
def test_a_blank_line_is_a_row_and_the_last_line_end_is_none(
    tmp_path, name, text, expected
) -> None:
    (tmp_path / name).write_bytes(text.encode())
    assert entries(tmp_path / name) == expected
    assert "empty" in str(parse(""))


def test_quoted_cells_may_hold_commas_quotes_and_line_ends(tmp_path) -> None:
    (tmp_path / "x.csv").write_text('name,smiles\n"a, b\nc",CC\n"5"" pipe","C,C"\n')
    assert entries(tmp_path / "x.csv") == ["CC", "C,C"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('smiles\n"CCO\nCC\nC"\nN\n', ['"CCO', "CC", 'C"', "N"]),  # open in the entry
        ('smiles\nC\n"CCO\nCC\n', ["C", '"CCO', "CC"]),  # open to the end
        ('n,smiles\n"a,CCO\n"b,CC\nc,C\n', ["CCO", "CC", "C"]),  # open in another cell
        ('n,smiles\n"a,x,CCO\nb,CC\n', ['"a,x,CCO', "CC"]),  # which cell is which is unknown
        ('smiles\n"CC"O\nC\n', ['"CC"O', "C"]),
        ('"n,smiles\na,C\nb,CC\n', ["C", "CC"]),  # open in the header
    ],
)
def test_an_open_quote_swallows_no_row_of_a_csv(tmp_path, text, expected) -> None:
    (tmp_path / "x.csv").write_text(text)
    assert entries(tmp_path / "x.csv") == expected
    assert all(isinstance(parse(entry), str) for entry in expected if '"' in entry)


def test_a_quote_far_from_its_end_swallows_no_row_either(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(reading, "MAX_LINES", 5)
    rows = ['"a,C', *(f"{number},CC" for number in range(20)), 'z",CCC']
    (tmp_path / "x.csv").write_text("name,smiles\n" + "\n".join(rows))
    assert entries(tmp_path / "x.csv") == ["C", *["CC"] * 20, "CCC"]


def test_a_tsv_has_no_quoting(tmp_path) -> None:
    (tmp_path / "x.tsv").write_text('name\tsmiles\n"a\tCCO\nb"\tCC\nc\t"C\n')
    assert entries(tmp_path / "x.tsv") == ["CCO", "CC", '"C']


def test_a_name_after_the_smiles_of_a_cell_is_a_reason(tmp_path) -> None:
    (tmp_path / "x.csv").write_text('smiles\n"C C O"\nCCO ethanol\n CCO \n')
    found = [parse(entry) for entry in entries(tmp_path / "x.csv")]
    assert "holds whitespace" in found[0]
    assert "holds whitespace" in found[1]
    assert found[2] == Graph.from_smiles("CCO")


def test_a_cell_of_any_length_is_a_row(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(reading, "MAX_CELL", 1_000)
    long = "C" * 200_000
    (tmp_path / "x.csv").write_text(f'smiles\n{long}\n"{long}"\nC\n')
    found = [parse(entry) for entry in entries(tmp_path / "x.csv")]
    assert "characters, more than" in found[0]
    assert "characters, more than" in found[1]
    assert isinstance(found[2], Graph)


@pytest.mark.parametrize("suffix", ["csv", "smi", "sdf"])
def test_a_gz_that_is_cut_short_says_after_how_many_rows(tmp_path, suffix) -> None:
    rng = np.random.default_rng(0)
    rows = ["C" * int(n) for n in rng.integers(1, 40, 5_000)]
    text = sdf(["CC"] * 300) if suffix == "sdf" else "smiles\n" + "\n".join(rows)
    path = tmp_path / f"x.{suffix}.gz"
    packed = gzip.compress(text.encode())
    path.write_bytes(packed[: len(packed) // 2])
    with pytest.raises(ValueError, match=rf"x.{suffix}.gz is cut short or damaged after \d+ rows"):
        entries(path)
    path.write_bytes(packed[:12])
    with pytest.raises(ValueError, match="after 0 rows"):
        entries(path)


@pytest.mark.parametrize(
    ("header", "column", "message"),
    [
        ("id,structure_text", None, "its columns are 'id', 'structure_text'"),
        ("smiles,smiles", None, "2 columns are called 'smiles'"),
        ("SMILES,smiles", None, "ignoring case: 'SMILES', 'smiles'; name the one to read"),
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


HOSTILE = {
    "CCO": None,
    "C\0C": "NUL",
    "": "empty",
    "C\u00e9": "outside ASCII",
    "[Na+].[Cl-]": None,
    "[Pt](Cl)(Cl)(N)N": None,
    "[235U]": None,
    "[2H]O[2H]": None,
    "*CC": "dummy atom",
    "C" * 500: None,
    "C" * 1_001: "1001 atoms, more than",
    "C" * 5_000: "5000 characters",
    "C C": "whitespace",
    "C(": "cannot parse",
    "c1ccc2c(c1)" + "cc1c2cc2c1" * 100 + "cccc2": "202 fused rings",
}


def check_hostile(found: list[str | None]) -> None:
    assert len(found) == len(HOSTILE)
    for entry, (text, reason) in zip(found, HOSTILE.items(), strict=True):
        item = parse(entry)
        assert isinstance(item, Graph) if reason is None else reason in item, (text, item)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16"])
@pytest.mark.parametrize("suffix", ["csv", "tsv"])
def test_hostile_rows_come_out_as_many_each_with_its_reason(tmp_path, suffix, encoding) -> None:
    (tmp_path / f"x.{suffix}").write_bytes("\n".join(["smiles", *HOSTILE]).encode(encoding))
    check_hostile(entries(tmp_path / f"x.{suffix}"))


def test_hostile_rows_of_a_parquet_come_out_as_many(tmp_path) -> None:
    pq.write_table(pa.table({"smiles": [*HOSTILE, None]}), tmp_path / "x.parquet")
    *found, last = entries(tmp_path / "x.parquet")
    check_hostile(found)
    assert last is None


@pytest.mark.parametrize("encoding", ["latin-1", "utf-16-le"])
def test_bytes_of_an_unmarked_encoding_fail_row_by_row(tmp_path, encoding) -> None:
    rows = ["C\u00e9", "CO\u00b5", "\u00ff"]
    (tmp_path / "x.smi").write_bytes("\n".join(rows).encode(encoding))
    found = entries(tmp_path / "x.smi")
    assert len(found) == len(rows)
    assert all(isinstance(parse(entry), str) for entry in found)


def test_a_tsv_with_every_cell_between_quotes_is_read(tmp_path):
    path = tmp_path / "in.tsv"
    path.write_text('"name"\t"smiles"\n"a"\t"CCO"\n"an "open" one\tCC\n')
    assert [entry for chunk in open_molecules(path).rows(9) for entry in chunk.entries] == [
        "CCO",
        "CC",
    ]
