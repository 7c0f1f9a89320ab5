"""What the page asks for: pictures, neighbours, files and maps."""

from __future__ import annotations

import re
import xml.etree.ElementTree as ElementTree

import pytest

from grale.plot.changes import NEW

HOSTILE = "<img src=x onerror=alert(1)>"


def test_pictures_are_svg_and_bad_rows_have_reasons(page) -> None:
    asked = {"graphs": ["CCO", HOSTILE, None], "changed": [[2, 99]], "numbered": True}
    rows = page.post("/play/pictures", json=asked).json()["rows"]
    assert ElementTree.fromstring(rows[0]["svg"]).tag.endswith("svg")
    assert rows[0]["smiles"] == "CCO"
    assert [row["svg"] for row in rows[1:]] == [None, None]
    assert all(row["reason"] for row in rows[1:])


def test_marked_nodes_are_drawn_differently(page) -> None:
    graph = ["c1ccccc1O"]
    plain, marked = (
        page.post("/play/pictures", json={"graphs": graph, "changed": changed}).json()["rows"][0]
        for changed in ([[]], [[1]])
    )
    assert plain["svg"] != marked["svg"]


@pytest.mark.slow
def test_a_strip_keeps_what_neighbours_share_in_place_and_marks_what_is_new(page) -> None:
    graphs = ["c1ccccc1", "broken(", "c1ccccc1O"]
    apart, along = (
        page.post("/play/pictures", json={"graphs": graphs, "strip": is_strip}).json()["rows"]
        for is_strip in (False, True)
    )
    for rows in (apart, along):
        assert [row["status"] for row in rows] == ["ok", "failed", "ok"]
        assert [row["smiles"] for row in rows] == ["c1ccccc1", None, "Oc1ccccc1"]
    first, last = (corners_of(along[place]["svg"]) for place in (0, 2))
    assert len(first & last) > 0.7 * len(first) > 5
    assert NEW in along[2]["svg"].lower()
    assert not any(NEW in str(row["svg"]).lower() for row in (along[0], *apart))
    first, last = (corners_of(apart[place]["svg"]) for place in (0, 2))
    assert len(first & last) < 0.3 * len(first)


@pytest.mark.slow
def test_a_strip_of_graphs_marks_nodes_and_edges(tiny_coloring_client) -> None:
    graphs = [
        {"node_labels": [0, 1], "edges": [[0, 1]]},
        {"node_labels": [0, 1, 2], "edges": [[0, 1], [1, 2]]},
    ]
    asked = {"graphs": [*graphs, graphs[1]], "strip": True}
    rows = tiny_coloring_client.post("/play/pictures", json=asked).json()["rows"]
    assert [row["svg"].count(NEW) for row in rows] == [0, 2, 0]
    empty = tiny_coloring_client.post("/play/pictures", json={"graphs": [], "strip": True})
    assert empty.json() == {"rows": []}


def corners_of(svg: str) -> set[tuple[float, ...]]:
    """Ends of the lines of a picture."""
    paths = (part for part in ElementTree.fromstring(svg) if part.tag.endswith("path"))
    found = (re.findall(r"(-?[\d.]+)[ ,](-?[\d.]+)", str(path.get("d"))) for path in paths)
    return {tuple(round(float(x), 1) for x in pair) for pairs in found for pair in pairs}


@pytest.mark.slow
def test_graphs_that_are_not_molecules_are_drawn_and_have_examples(tiny_coloring_client) -> None:
    look = tiny_coloring_client.get("/play/look").json()
    assert len(look["nodes"]) == len(look["palette"]) == 4
    rows = tiny_coloring_client.post("/play/pictures", json={"graphs": look["examples"]}).json()
    for row, graph in zip(rows["rows"], look["examples"]):
        circles = [
            part for part in ElementTree.fromstring(row["svg"]) if part.tag.endswith("circle")
        ]
        assert len(circles) == len(graph["node_labels"])
        assert row["smiles"] is None


@pytest.mark.slow
def test_the_nearest_of_a_file_is_the_molecule_itself(page) -> None:
    text = "name,smiles\na,CCCCO\nb,CCN\nc,broken(\nd,c1ccccc1\n"
    found = page.post("/play/files", json={"name": "mine.csv", "text": text}).json()
    assert (found["num_rows"], found["num_taken"]) == (4, 3)
    assert [one["row"] for one in found["failures"]] == [2]
    asked = {"graph": "OCCCC", "set": found["set"], "count": 2}
    near = page.post("/play/neighbours", json=asked).json()["rows"]
    assert near[0]["smiles"] == "CCCCO"
    assert near[0]["distance"] == pytest.approx(0, abs=1e-3)
    assert near[1]["distance"] > near[0]["distance"]


@pytest.mark.parametrize(
    ("name", "text", "status"),
    [
        ("mine.csv", "a,b\n1,2\n", 422),
        ("mine.csv", "", 422),
        ("mine.exe", "smiles\nC\n", 422),
        ("../../etc/x.parquet", "smiles\nC\n", 422),
        ("mine.csv", "smiles\n" + "C\n" * 51, 413),
    ],
)
def test_a_bad_file_is_refused_by_the_name_the_user_gave(page, name, text, status) -> None:
    answer = page.post("/play/files", json={"name": name, "text": text})
    assert answer.status_code == status
    assert answer.json()["error"].startswith(name.rsplit("/", 1)[-1])
    assert "/tmp" not in answer.text


@pytest.mark.slow
def test_old_files_are_forgotten(page) -> None:
    upload = {"name": "a.smi", "text": "CCO\n"}
    keys = [page.post("/play/files", json=upload).json()["set"] for _ in range(3)]
    statuses = [
        page.post("/play/neighbours", json={"graph": "CCO", "set": key}).status_code for key in keys
    ]
    assert statuses == [404, 200, 200]


def test_a_map_is_a_page_that_runs_in_a_sandbox(page) -> None:
    text = "smiles\n" + "\n".join(["C", "CC", "CCO", "CCN", "CCCC"])
    key = page.post("/play/files", json={"name": f"{HOSTILE}.csv", "text": text}).json()["set"]
    answer = page.get("/play/map", params={"set": key, "colour": "size"})
    assert answer.status_code == 200
    assert "sandbox" in answer.headers["content-security-policy"]
    assert "allow-same-origin" not in answer.headers["content-security-policy"]
    assert HOSTILE not in answer.text
    assert page.get("/play/map", params={"set": key, "colour": "nothing"}).status_code == 422


@pytest.mark.slow
def test_a_map_of_a_file_is_coloured_by_its_columns(page) -> None:
    header = f"smiles,compound_id,pIC50,{HOSTILE},batch,note"
    rows = ["CCO,m-1,5.5,yes,7,a", "broken(,m-2,9.9,no,7,b", "CCN,m-3,,no,7,c", "CCC,m-4,6,yes,7,d"]
    upload = {"name": "mine.csv", "text": "\n".join([header, *rows])}
    found = page.post("/play/files", json=upload).json()
    assert found["columns"] == ["pIC50", HOSTILE]  # not ids, and not what is the same for all
    for column in found["columns"]:
        answer = page.get("/play/map", params={"set": found["set"], "column": column})
        assert answer.status_code == 200
        assert HOSTILE not in answer.text
        assert "m-4" in answer.text
        model = page.get("/model").json()["model"]
        assert model["fingerprint"] in answer.text
        assert f"({model['fingerprint'][:12]}), description" in answer.text
        assert "m-2" not in answer.text, "the row that failed has no dot"
    refused = page.get("/play/map", params={"set": found["set"], "column": "nothing"})
    assert refused.status_code == 422
    assert "'pIC50'" in refused.json()["error"]


def test_the_files_of_the_page_are_there_with_their_licence(page) -> None:
    assert "text/html" in page.get("/").headers["content-type"]
    for name in ("page.js", "style.css", "vendor/openchemlib.js", "views/look.js", "docs.js"):
        assert page.get(f"/static/{name}").status_code == 200
    assert "Redistribution" in page.get("/static/vendor/openchemlib.LICENSE.txt").text
    assert page.get("/static/../app.py").status_code == 404
