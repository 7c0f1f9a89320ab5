"""Files that unpack to too much and lines that are nested too deeply are refused by name."""

from __future__ import annotations

import gzip
import json
import zipfile
from pathlib import Path

import pytest

from data.own.own_graphs import read
from grale.data.own import json_graphs, text_tables

GRAPH = json.dumps({"node_labels": ["a", "b"], "edges": [[0, 1]]})
TABLES = {"edge": "0,1\n", "num-node-list": "2\n", "num-edge-list": "1\n"}


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"a":' * 40 + "1" + "}" * 40, "line 2 is nested more than 32 levels deep"),
        ("[" * 100_000, "line 2 is nested more than 32 levels deep"),
        (GRAPH + " " * 200, "line 2: the line has more than 200 characters"),
        ("{", "line 2 is not JSON"),
    ],
)
def test_a_line_that_is_too_long_or_too_deep_is_named(
    tmp_path: Path, monkeypatch, line: str, message: str
) -> None:
    if " " * 200 in line:
        monkeypatch.setattr(json_graphs, "MAX_JSON_BYTES", 200)
    path = tmp_path / "g.jsonl"
    path.write_text(f"{GRAPH}\n{line}\n{GRAPH}\n")
    with pytest.raises(ValueError, match=message) as caught:
        read(path)
    assert "g.jsonl" in str(caught.value)
    path.write_text(f"{GRAPH}\r\n\n{GRAPH}")  # the control
    assert len(read(path).graphs) == 2


def write_ogb(folder: Path, packed: bool) -> Path:
    for name, text in TABLES.items():
        if packed:
            (folder / f"{name}.csv.gz").write_bytes(gzip.compress(text.encode()))
        else:
            (folder / f"{name}.csv").write_text(text)
    return folder


@pytest.mark.parametrize("packed", [True, False])
def test_a_table_that_unpacks_to_too_much_is_named(tmp_path: Path, monkeypatch, packed) -> None:
    folder = write_ogb(tmp_path, packed)
    monkeypatch.setattr(text_tables, "MAX_DATA_BYTES", 4)
    assert len(read(folder).graphs) == 1  # the largest table has just as many bytes
    monkeypatch.setattr(text_tables, "MAX_DATA_BYTES", 3)
    with pytest.raises(ValueError, match=r"edge\.csv.* has more than 3 bytes, unpacked"):
        read(folder)


def test_a_bomb_in_a_zip_is_refused_before_it_is_unpacked(tmp_path: Path, monkeypatch) -> None:
    with zipfile.ZipFile(tmp_path / "SET.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("SET_A.txt", "1, 2\n")
        archive.writestr("SET_graph_indicator.txt", "1\n1\n" * 10_000)
    monkeypatch.setattr(text_tables, "MAX_DATA_BYTES", 30_000)
    monkeypatch.setattr(zipfile.ZipFile, "read", None)
    with pytest.raises(ValueError, match="SET_graph_indicator.txt has more than 30000 bytes"):
        read(tmp_path / "SET.zip")


def test_a_stream_is_counted_no_further_than_the_limit(tmp_path: Path, monkeypatch) -> None:
    monkeypatch.setattr(text_tables, "MAX_DATA_BYTES", 2 * text_tables.BLOCK)
    path = tmp_path / "x.gz"
    path.write_bytes(gzip.compress(bytes(10 * text_tables.BLOCK)))
    with gzip.open(path) as stream:
        assert text_tables._size_of(stream) == 3 * text_tables.BLOCK
