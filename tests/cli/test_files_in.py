"""Verbs read files as people hold them, and say what went wrong with their rows."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from cli.invoking import invoke
from grale.cli.main import app

pytestmark = pytest.mark.slow

MANY = ["C" * length + end for length in range(1, 9) for end in ("O", "N", "F", "Cl")]
SMILES = ["CCO", "CCN", "xyz", "c1ccccc1", "CC(=O)O", "CCCO", "CCOC", "n/a"]


@pytest.fixture(scope="module")
def model(tmp_path_factory, molecule_model) -> str:
    folder = tmp_path_factory.mktemp("model")
    molecule_model.save_pretrained(folder)
    return str(folder)


@pytest.fixture
def source(tmp_path: Path) -> Path:
    rows = "".join(f"m{row};{text};{row / 2}\n" for row, text in enumerate(SMILES))
    (tmp_path / "in.csv").write_text("ID;Canonical SMILES;y\n" + rows)
    return tmp_path / "in.csv"


def test_embed_is_loud_about_many_failures_and_exits_as_asked(tmp_path, source, model) -> None:
    out = tmp_path / "z.csv"
    command = ["embed", str(source), "-o", str(out), "--model", model]
    quiet = CliRunner().invoke(app, command)
    assert quiet.exit_code == 0
    assert "2 of 8 rows failed (25%). The commonest reasons:" in quiet.stderr
    assert "2  cannot parse SMILES ..." in quiet.stderr
    out.unlink()
    assert CliRunner().invoke(app, [*command, "--fail-above", "0.3"]).exit_code == 0
    out.unlink()
    strict = CliRunner().invoke(app, [*command, "--fail-above", "0.1"])
    assert strict.exit_code == 3
    with out.open(newline="") as file:  # it is written all the same
        assert [row["ID"] for row in csv.DictReader(file)] == [f"m{row}" for row in range(8)]
    assert json.loads((tmp_path / "z.csv.json").read_text())["reading"] == "latent"


def test_embed_says_little_if_few_rows_fail(tmp_path, model) -> None:
    (tmp_path / "in.smi").write_text("CCO a\n" * 10 + "xyz b\n")
    command = ["embed", str(tmp_path / "in.smi"), "-o", str(tmp_path / "z.parquet")]
    result = CliRunner().invoke(app, [*command, "--model", model, "--device", "cpu"])
    assert result.exit_code == 0
    assert "commonest reasons" not in result.stderr
    assert pq.read_table(tmp_path / "z.parquet")["name"].to_pylist() == ["a"] * 10 + ["b"]


def test_neighbours_prints_and_writes_the_nearest_rows(tmp_path, source, model) -> None:
    out = tmp_path / "near.csv"
    shown = invoke("neighbours", str(source), "--of", "CCO", "--of", f"{source}:3", "-k", "2",
                   "--model", model, "-o", str(out))  # fmt: skip
    assert "nearest by the descriptions of" in shown
    with out.open(newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["row"] for row in rows[::2]] == ["0", "3"]
    assert [row["ID"] for row in rows[::2]] == ["m0", "m3"]
    assert json.loads((tmp_path / "near.csv.json").read_text())["reading"] == "description"


def test_map_takes_a_file_and_colours_by_its_column(tmp_path, source, model) -> None:
    out = tmp_path / "map.png"
    shown = invoke("map", str(source), "--model", model, "--colour", "y", "-o", str(out))
    assert "2 of 8 rows are left out" in shown
    assert out.is_file()
    page = (tmp_path / "map.html").read_text()
    assert re.search(r'"name": ?"y"', page)
    assert "grale 0." in page
    with pytest.raises(ValueError, match="has no column 'pH'; it has 'ID', 'y'"):
        invoke("map", str(source), "--model", model, "--colour", "pH", "-o", str(out))


def test_barycenter_and_interpolate_take_rows_of_a_file(tmp_path, source, model) -> None:
    out = str(tmp_path / "a.png")
    invoke("barycenter", str(source), "--model", model, "-o", out)
    shown = invoke("interpolate", f"{source}:0", f"{source}:4", "--model", model, "--steps", "3",
                   "--tries", "1", "-o", out)  # fmt: skip
    assert shown.count("t = ") == 3
    with pytest.raises(ValueError, match=r"row 2 of .*in\.csv \('xyz'\)"):
        invoke("interpolate", f"{source}:0", f"{source}:2", "--model", model, "-o", out)


def test_every_verb_reads_a_file_without_a_header_by_the_number_of_its_column(
    tmp_path, model
) -> None:
    rows = "".join(f"m{row},{text},{row}\n" for row, text in enumerate(MANY))
    (tmp_path / "bare.csv").write_text(rows)
    bare, out = str(tmp_path / "bare.csv"), str(tmp_path / "a.png")
    usual = ("--model", model, "--tries", "1", "-o", out)
    few = ("--steps", "2")
    commands = {
        "barycenter": ["barycenter", bare, "--model", model, "-o", out],
        "interpolate": ["interpolate", f"{bare}:0", f"{bare}:4", *usual, *few],
        "edit": ["edit", f"{bare}:1", "-p", "column_2", "--data", bare, *usual, *few],
        "match": ["match", f"{bare}:0", f"{bare}:1", *usual],
        "files": ["match", bare, bare, *usual[:4], "-o", str(tmp_path / "m.csv")],
    }
    for name, command in commands.items():
        invoke(*command, "--column", "1")
        with pytest.raises(ValueError, match=r"no column is called 'smiles'"):
            invoke(*command)
        Path(out).unlink(missing_ok=name == "files")
    with (tmp_path / "m.csv").open(newline="") as file:
        assert [row["a"] for row in csv.DictReader(file)] == MANY
    with pytest.raises(ValueError, match="--column is for two files or rows"):
        invoke("match", bare, *usual, "--column", "1")


def test_the_rows_beside_a_npy_are_its_molecules(tmp_path, model) -> None:
    (tmp_path / "in.smi").write_text("".join(f"{text}\n" for text in MANY))
    vectors, out = tmp_path / "z.npy", str(tmp_path / "a.png")
    usual = ("--model", model, "-o", out)
    invoke("embed", str(tmp_path / "in.smi"), "-o", str(vectors), "--model", model)
    means = (invoke("barycenter", str(file), *usual) for file in (vectors, tmp_path / "in.smi"))
    assert len({tuple(mean.splitlines()[-2:]) for mean in means}) == 1
    shown = invoke("interpolate", f"{vectors}:0", f"{vectors}:2", *usual, "--steps", "2")
    assert shown.count("t = ") == 2
    shown = invoke("edit", "CCO", "--data", str(vectors), *usual, "--steps", "2", "--tries", "1")
    assert "predictor of size" in shown
    (tmp_path / "z.rows.csv").unlink()
    with pytest.raises(ValueError, match=r"z\.npy holds vectors only: z\.rows\.csv is not"):
        invoke("barycenter", str(vectors), *usual)


def test_edit_follows_the_column_of_a_file_before_the_property_of_that_name(
    tmp_path, model
) -> None:
    rows = "".join(f"{text};{row},5\n" for row, text in enumerate(MANY))
    (tmp_path / "measured.csv").write_text(f"smiles;logP\n{rows}")
    usual = ("--model", model, "--steps", "2", "--tries", "1", "-o", str(tmp_path / "a.png"))
    command = ("edit", "CCO", "-p", "logP", *usual, "--data")
    shown = invoke(*command, str(tmp_path / "measured.csv"))
    assert f"logP: the column of {tmp_path / 'measured.csv'}" in shown
    (tmp_path / "plain.csv").write_text("smiles\n" + "\n".join(MANY))
    shown = invoke(*command, str(tmp_path / "plain.csv"))
    assert f"logP: computed, as {tmp_path / 'plain.csv'} has no column of that name" in shown
    with pytest.raises(ValueError, match="'pIC50' is not a property, and .* has no such column"):
        invoke("edit", "CCO", "-p", "pIC50", *usual, "--data", str(tmp_path / "plain.csv"))


def test_match_takes_a_csv_of_pairs_and_two_files_row_by_row(tmp_path, model) -> None:
    (tmp_path / "pairs.csv").write_text("id,a,b\n1,CCO,CCN\n2,CC,xyz\n")
    (tmp_path / "a.smi").write_text("CCO\nCC\n")
    (tmp_path / "b.csv").write_text("smiles\nCCN\nxyz\n")
    out = tmp_path / "out.parquet"
    common = ["--model", model, "--method", "grale", "-o", str(out)]
    found = []
    for files in (["pairs.csv"], ["a.smi", "b.csv"]):
        invoke("match", *(str(tmp_path / name) for name in files), *common)
        found.append(pq.read_table(out).to_pylist())
    assert found[0] == found[1]
    assert [row["status"] for row in found[0]] == ["ok", "failed"]
    assert json.loads(pq.read_schema(out).metadata[b"grale"])["reading"] == "matching"
    (tmp_path / "b.csv").write_text("smiles\nCCN\n")
    with pytest.raises(ValueError, match=r"b\.csv has 1 rows, and .*a\.smi has more"):
        invoke("match", str(tmp_path / "a.smi"), str(tmp_path / "b.csv"), *common)
    with pytest.raises(ValueError, match="pairs are in the columns a and b"):
        invoke("match", str(tmp_path / "a.smi"), *common)


def test_bars_count_all_rows_of_a_file_and_move_before_its_end(
    tmp_path, source, model, monkeypatch
) -> None:
    monkeypatch.setattr("grale.tasks.described_rows.TOLD", 3)
    told: dict[str, tuple[int, list[int]]] = {}

    @contextmanager
    def counting(name: str, total: int) -> Iterator[Callable[[int], None]]:
        told[name] = (total, [])
        yield told[name][1].append

    monkeypatch.setattr("grale.cli.terminal.counting", counting)
    pairs, vectors = tmp_path / "pairs.csv", tmp_path / "z.csv"
    pairs.write_text("a,b\n" + "".join(f"{one},CCO\n" for one in SMILES))
    usual = ("--model", model)
    invoke("neighbours", str(source), "--of", "CCO", *usual)
    invoke("map", str(source), "-o", str(tmp_path / "map.png"), "--colour", "y", *usual)
    invoke("match", str(pairs), "-o", str(tmp_path / "m.csv"), *usual)
    invoke("embed", str(source), "-o", str(vectors), *usual)
    invoke("decode", str(vectors), "-o", str(tmp_path / "back.csv"), *usual)
    for name in ("looking", "encoding", "matching", "decoding"):
        total, steps = told[name]
        assert total == sum(steps) == len(SMILES)
        assert len(steps) > 1 or name == "decoding"  # whose batch holds all of them


def test_models_lists_versions_and_whole_sentences() -> None:
    shown = invoke("models")
    assert "molecules@1" in shown
    assert "molecules@2: Embeds molecules of up to 32 heavy atoms" in shown
    for line in shown.splitlines():
        if line.startswith(("molecules", "coloring")):
            assert line.endswith("."), line
            assert "..." not in line
            assert "](" not in line
