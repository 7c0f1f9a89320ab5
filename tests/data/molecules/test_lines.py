"""Long lines, merged and cut entries: rows with a reason, in little memory."""

from __future__ import annotations

import gzip
import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager

import pytest
from rdkit import Chem

from grale.data.molecules import lines
from grale.data.molecules.files import open_molecules, parse
from grale.graphs.graph import Graph


def entries(path):
    return [entry for chunk in open_molecules(path).rows(3) for entry in chunk.entries]


def sdf(smiles):
    return "".join(Chem.MolToMolBlock(Chem.MolFromSmiles(s)) + "$$$$\n" for s in smiles)


@contextmanager
def at_most(num_bytes: int) -> Iterator[None]:
    """Fail if Python takes more memory inside."""
    tracemalloc.start()
    try:
        yield
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < num_bytes


LONG = "C" * 3_000
MEGABYTES = 1_000_000


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("extra", range(4))
def test_a_line_that_is_too_long_is_a_row_with_a_reason(tmp_path, monkeypatch, end, extra) -> None:
    monkeypatch.setattr(lines, "MAX_LINE", 50)
    long = "C" * (50 + extra)  # the cut falls before, into and behind the end of the line
    for name, rows in {
        "x.smi": ["CCO", long, "CC", LONG, "", "C"],
        "x.csv": ["id,smiles", "1,CCO", f"{long},CCCCCO", "3,CC", f"4,{LONG}", "", "5,C"],
        "x.tsv": ["smiles\tid", "CCO\t1", f"CO\t{long}", "CC\t3", f"{LONG}\t4", "", "C\t5"],
    }.items():
        (tmp_path / name).write_bytes(end.join(rows).encode())
        found = [parse(entry) for entry in entries(tmp_path / name)]
        assert [isinstance(item, Graph) for item in found] == [
            True,
            name == "x.smi" and extra == 0,
            True,
            False,
            False,
            True,
        ]
        assert found[3] == "the line has more than 50 characters"
        assert "empty" in found[4]


def test_a_header_that_is_too_long_is_an_error_that_names_the_line(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(lines, "MAX_LINE", 50)
    (tmp_path / "x.csv").write_text(f"smiles,{LONG}\nC,1\n")
    with pytest.raises(ValueError, match=r"x\.csv, line 1: the line has more than 50 characters"):
        open_molecules(tmp_path / "x.csv")


def test_what_looks_like_a_reason_is_read_as_what_it_is(tmp_path) -> None:
    (tmp_path / "x.csv").write_text("name,smiles\nnot read: yet,CCO\n")
    assert entries(tmp_path / "x.csv") == ["CCO"]
    (tmp_path / "x.sdf").write_text("not read: yet" + sdf(["CCO"]))
    (found,) = entries(tmp_path / "x.sdf")
    assert parse(found, "molblock") == Graph.from_smiles("CCO")


@pytest.mark.slow
@pytest.mark.parametrize("suffix", ["smi", "csv", "sdf"])
def test_an_endless_line_takes_little_memory(tmp_path, suffix) -> None:
    path = tmp_path / f"x.{suffix}.gz"
    with gzip.open(path, "wb", compresslevel=1) as file:
        file.write(b"smiles\nCC\n" if suffix == "csv" else b"")
        for _ in range(64):
            file.write(b"C" * 1_000_000)
    with at_most(10 * MEGABYTES):
        found = entries(path)
    with at_most(50 * MEGABYTES):  # a sample is unpacked to count its rows
        open_molecules(path).count()
    assert isinstance(parse(found[-1], "molblock" if suffix == "sdf" else "smiles"), str)
    assert len(found) == (2 if suffix == "csv" else 1)


@pytest.mark.slow
def test_an_endless_entry_takes_little_memory(tmp_path) -> None:
    with (tmp_path / "x.sdf").open("w") as file:
        file.write(sdf(["CCO"]))
        file.writelines("C" * 99 + "\n" for _ in range(200_000))
        file.write("$$$$\n" + sdf(["CC"]))
    with at_most(10 * MEGABYTES):
        found = [parse(entry, "molblock") for entry in entries(tmp_path / "x.sdf")]
    assert found[0] == Graph.from_smiles("CCO")
    assert found[1] == "the entry has 20000000 characters, more than 1000000"
    assert found[2] == Graph.from_smiles("CC")


def test_two_molecules_without_a_separator_are_a_reason_not_one_row(tmp_path) -> None:
    merged = sdf(["CCO", "CC"]).replace("$$$$\n", "> <id>\n7\n\n", 1)
    (tmp_path / "x.sdf").write_text(sdf(["C"]) + merged + sdf(["N"]))
    found = [parse(entry, "molblock") for entry in entries(tmp_path / "x.sdf")]
    assert found[0] == Graph.from_smiles("C")
    assert found[1] == "the entry holds 2 molecules; a line $$$$ is missing between them"
    assert found[2] == Graph.from_smiles("N")


def test_a_last_entry_that_is_cut_off_is_a_reason(tmp_path) -> None:
    whole = sdf(["CCO", "CCCCN"]).removesuffix("$$$$\n")
    first, last = Graph.from_smiles("CCO"), Graph.from_smiles("CCCCN")
    for text, expected in [
        (whole, last),  # a lone molecule, as in .mol files, ends so
        (whole + "\n\n", last),
        (whole + "> <id>\n7", None),
        (whole.removesuffix("M  END\n"), None),
        (whole[:-60], None),
    ]:
        (tmp_path / "x.sdf").write_text(text)
        found = [parse(entry, "molblock") for entry in entries(tmp_path / "x.sdf")]
        reason = "the entry is cut off: the file ends before a line $$$$"
        assert found == [first, expected or reason]
