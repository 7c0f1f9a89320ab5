"""Published sets are read in their own formats; downloads go on where they broke off."""

from __future__ import annotations

import gzip
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import grale.data.molecules.sets as sets
from grale.data.download import download
from grale.data.molecules.sets import MOLECULE_SETS, open_set, read_set

PUBLISHED = {
    "esol": "Compound ID,ESOL predicted log solubility in mols per litre,Minimum Degree,"
    "measured log solubility in mols per litre,smiles\nAmigdalin,0,1,-0.77,OCC\nX,1,1,-3.3,CC\n",
    "freesolv": "iupac,smiles,expt,calc\nethanol,OCC,-0.77,-1\nethane,CC,-3.3,1.5\n",
    "lipophilicity": "CMPD_CHEMBLID,exp,smiles\nCHEMBL596271,-0.77,OCC\nCHEMBL1,-3.3,CC\n",
    "bbbp": "num,name,p_np,smiles\n1,Propanolol,1,OCC\n2,Y,0,CC\n",
    "bace": "mol,CID,Class,Model,pIC50\nOCC,BACE_1,1,Train,9.15\nCC,BACE_2,0,Train,8\n",
    "qm9": "mol_id,smiles,A,B,C,mu,u0\ngdb_1,OCC,1,1,1,0,-0.77\ngdb_2,CC,1,1,1,0,-3.3\n",
    "qm40": "Zinc_id,smile,Internal_E(0K),HOMO\nZINC1,OCC,-0.77,0\nZINC2,CC,-3.3,0\n",
    "gdb13": "OCC\nCC\n",
}


@pytest.mark.parametrize("packed", [False, True], ids=["plain", "gz"])
@pytest.mark.parametrize("name", PUBLISHED)
def test_each_set_is_read_as_published(tmp_path, name, packed) -> None:
    wanted = MOLECULE_SETS[name]
    text = PUBLISHED[name].encode()
    path = tmp_path / (wanted.file + (".gz" if packed else ""))
    path.write_bytes(gzip.compress(text) if packed else text)
    found = read_set(name, tmp_path)
    assert found.smiles == ["OCC", "CC"]
    expected = [1, 0] if wanted.is_class else [-0.77, -3.3]
    if wanted.target is None:
        assert found.targets is None
    else:
        np.testing.assert_allclose(found.targets, expected)


def test_a_parquet_file_stands_for_any_set(tmp_path) -> None:
    pq.write_table(pa.table({"smiles": ["C", "CC"], "target": [1.5, 2]}), tmp_path / "esol.parquet")
    assert read_set("esol", tmp_path).targets.tolist() == [1.5, 2]
    pq.write_table(pa.table({"smiles": ["C", "CC"]}), tmp_path / "qm9.parquet")
    with pytest.raises(ValueError, match="no column 'target'"):
        read_set("qm9", tmp_path)


def test_an_empty_target_is_nan_and_a_word_is_an_error(tmp_path) -> None:
    (tmp_path / "SAMPL.csv").write_text("iupac,smiles,expt\na,CC,\nb,CO,1\n")
    assert np.isnan(read_set("freesolv", tmp_path).targets[0])
    (tmp_path / "SAMPL.csv").write_text("iupac,smiles,expt\na,CC,1\nb,CO,high\n")
    with pytest.raises(ValueError, match="line 3: the target 'high' is not a number"):
        read_set("freesolv", tmp_path)


def test_unknown_and_missing_sets_say_what_to_do(tmp_path) -> None:
    with pytest.raises(ValueError, match="known sets are esol"):
        read_set("esoll", tmp_path)
    with pytest.raises(FileNotFoundError, match="get the file from its authors"):
        read_set("qm40", tmp_path)


class Server(BaseHTTPRequestHandler):
    """Serves one body; breaks off once in the middle; understands Range."""

    body = bytes(range(256)) * 5_000
    breaks_left = 1
    ranges: list[str | None] = []  # noqa: RUF012

    def do_GET(self) -> None:
        wanted = self.headers.get("Range")
        Server.ranges.append(wanted)
        start = int(wanted.removeprefix("bytes=").rstrip("-")) if wanted else 0
        if start >= len(self.body):
            self.send_error(416)
            return
        part = self.body[start:]
        self.send_response(206 if wanted else 200)
        self.send_header("Content-Length", str(len(part)))
        self.end_headers()
        if Server.breaks_left:
            Server.breaks_left -= 1
            part = part[: len(part) // 2]
        self.wfile.write(part)

    def log_message(self, *args: object) -> None:
        """Say nothing."""


@pytest.fixture
def address():
    server = HTTPServer(("127.0.0.1", 0), Server)
    Server.breaks_left, Server.ranges = 1, []
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    thread.join()
    server.server_close()


def test_a_broken_download_goes_on_where_it_was(tmp_path, address) -> None:
    path = tmp_path / "deep" / "file"
    with pytest.raises(OSError, match="broke off after 640000 of 1280000 bytes"):
        download(f"{address}/x", path)
    assert not path.exists()
    seen: list[int] = []
    assert download(f"{address}/x", path, seen.append).read_bytes() == Server.body
    assert Server.ranges == [None, "bytes=640000-"]
    assert sum(seen) == 640_000
    download(f"{address}/x", path)
    assert len(Server.ranges) == 2  # what is there is not fetched again


def test_a_complete_but_unnamed_download_is_taken(tmp_path, address) -> None:
    (tmp_path / "file.partial").write_bytes(Server.body)
    assert download(f"{address}/x", tmp_path / "file").read_bytes() == Server.body


def test_no_connection_is_a_clear_error(tmp_path) -> None:
    with pytest.raises(OSError, match="cannot download http://127.0.0.1:9"):
        download("http://127.0.0.1:9/x", tmp_path / "file")


def test_a_set_that_is_not_there_is_downloaded(tmp_path, address, monkeypatch) -> None:
    Server.breaks_left = 0
    monkeypatch.setattr(Server, "body", PUBLISHED["bbbp"].encode())
    wanted = sets.MoleculeSet("BBBP.csv", "smiles", "p_np", True, f"{address}/BBBP.csv")
    monkeypatch.setitem(MOLECULE_SETS, "bbbp", wanted)
    assert read_set("bbbp", tmp_path).smiles == ["OCC", "CC"]
    assert (tmp_path / "BBBP.csv").is_file()


def test_gdb13_is_read_as_a_stream_from_a_file_or_from_its_parts(tmp_path: Path) -> None:
    (tmp_path / "gdb13").mkdir()
    (tmp_path / "gdb13" / "1.smi").write_text("C\nN\n")
    (tmp_path / "gdb13" / "2.smi").write_text("CC\n")
    chunks = open_set("gdb13", tmp_path).rows(2)
    assert [chunk.entries for chunk in chunks] == [["C", "N"], ["CC"]]
    assert read_set("gdb13", tmp_path).smiles == ["C", "N", "CC"]
    (tmp_path / "gdb13.smi").write_text("CCO\n")
    assert next(open_set("gdb13", tmp_path).rows(1)).entries == ["CCO"]
