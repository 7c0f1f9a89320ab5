"""Verbs that draw: each writes its picture and prints what it shows."""

from __future__ import annotations

import json
import re
from functools import partial
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
import torch

import grale
from cli.invoking import invoke as run
from grale.graphs.space import GraphSpace
from grale.model.autoencoder import GRALE
from grale.tasks.edit import edit
from grale.tasks.propose import ProposeConfig

pytestmark = pytest.mark.slow


def test_interpolate_draws_and_prints_molecules(tmp_path: Path) -> None:
    out = tmp_path / "strip.png"
    text = run("interpolate", "CCO", "CCN", "--steps", "3", "--out", str(out))
    assert "t = 0.50" in text
    assert out.stat().st_size > 1_000


def test_interpolate_takes_colourings(tmp_path: Path) -> None:
    out = tmp_path / "strip.svg"
    graphs = ("coloring10:0", "coloring10:1")
    assert "nodes" in run("interpolate", *graphs, "--model", "coloring-10", "--out", str(out))
    assert out.read_text().startswith("<?xml")


def test_ends_that_the_model_does_not_return_are_named(tmp_path: Path, tiny_config) -> None:
    torch.manual_seed(0)
    space = GraphSpace(max_nodes=10, num_node_labels=4)
    GRALE(space, tiny_config).save_pretrained(tmp_path / "untrained")
    text = run(
        "interpolate", "coloring10:0", "coloring10:1", "--model", str(tmp_path / "untrained"),
        "--steps", "2", "--out", str(tmp_path / "strip.png"),
    )  # fmt: skip
    for end in ("first", "last"):
        assert f"the {end} graph is not the given one" in text


def test_barycenter_of_a_generator(tmp_path: Path) -> None:
    out = tmp_path / "mean.png"
    run("barycenter", "coloring10", "--model", "coloring-10", "--count", "40", "--out", str(out))
    assert out.is_file()


def test_edit_prints_the_path(tmp_path: Path) -> None:
    out = tmp_path / "edit.png"
    text = run(
        "edit", "coloring10:4", "--model", "coloring-10", "--count", "200", "--steps", "40",
        "--property", "size", "--out", str(out),
    )  # fmt: skip
    assert "R2" in text
    assert "predicted" in text
    assert out.is_file()


def test_edit_says_so_when_no_step_leads_anywhere(tmp_path: Path) -> None:
    text = run(
        "edit", "coloring10:4", "--model", "coloring-10", "--count", "60", "--steps", "1",
        "--epsilon", "1e-6", "--property", "size", "--out", str(tmp_path / "edit.png"),
    )  # fmt: skip
    assert "none of the 1 steps led to another graph" in text


def test_denoise_prints_shares_with_intervals(tmp_path: Path) -> None:
    out = tmp_path / "curve.png"
    text = run("denoise", "--count", "40", "--level", "0.2", "--level", "0", "--out", str(out))
    assert "100.00%" in text
    assert "20%" in text
    assert out.is_file()


def test_map_writes_a_picture_and_a_page(tmp_path: Path) -> None:
    colours = ("--colour", "logP", "--colour", "size")
    run("map", "--count", "40", *colours, "--out", str(tmp_path / "map.png"))
    assert (tmp_path / "map.png").is_file()
    page = (tmp_path / "map.html").read_text()
    assert page.index('"name":"logP"') < page.index('"name":"size"')


def test_reproduce_trains_and_writes_a_table(tmp_path: Path) -> None:
    shown = run("reproduce", "figure-embedding-size", "--scale", "smoke", "--out", str(tmp_path))
    assert "K=1 D=4, seed 0" in shown
    for kind in ("png", "svg", "txt", "json"):
        assert (tmp_path / f"figure-embedding-size.{kind}").stat().st_size > 100
    made_with = json.loads((tmp_path / "figure-embedding-size.json").read_text())["made_with"]
    saved = {
        file.parent.relative_to(tmp_path).as_posix(): grale.load(str(file.parent)).fingerprint
        for file in (tmp_path / "runs").rglob("model.safetensors")
        if file.parent.name.endswith("seed0")
    }
    assert saved
    found = {name: known["fingerprint"] for name, known in made_with["models"].items()}
    assert found == saved
    assert len(set(found.values())) == len(found)


def test_reproduce_writes_picture_and_caption(tmp_path: Path) -> None:
    run("reproduce", "figure-map", "--scale", "smoke", "--out", str(tmp_path))
    files = list(tmp_path.iterdir())
    assert {path.suffix for path in files} == {".png", ".svg", ".txt", ".json"}
    assert all(path.stat().st_size > 100 for path in files)


def test_demo_writes_a_page_with_pictures(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    few = {"demo.STEPS": 2, "demo.FRAMES": 3, "figures.size_edit.STEPS": 8,
           "figures.denoising.LEVELS": (0.0, 0.2), "figures.denoising.EXAMPLES": 2,
           "figures.generation.COLUMNS": 2, "figures.generation.ROWS": 1,
           "figures.generation.FRAMES": 3, "figures.generation.EDIT_STEPS": 2,
           "figures.generation.edit": partial(edit, num_steps=4),
           "figures.generation.ProposeConfig": partial(ProposeConfig, count=4)}  # fmt: skip
    for name, value in few.items():
        monkeypatch.setattr(f"grale.experiments.{name}", value)
    run("demo", "--out", str(tmp_path), "--count", "100")
    page = (tmp_path / "index.html").read_text()
    headings = re.findall("<h2>(.*?)</h2>", page)
    assert headings[0] == "Molecules and their reconstructions"
    assert len(list(tmp_path.glob("*.png"))) == len(headings) == 16
    assert page.count("<pre><code>grale ") == len(headings)
    assert 'href="map.html"' in page
    models = {name: grale.load(name).fingerprint for name in ("molecules", "coloring-10")}
    for fingerprint in models.values():
        assert fingerprint in page
        assert f"({fingerprint[:12]}), both" in page
    assert models["molecules"] in (tmp_path / "map.html").read_text()
    for picture in tmp_path.glob("*.json"):
        made_with = json.loads(picture.read_text())["made_with"]
        assert made_with["fingerprint"] == models[made_with["model"]]
        assert (made_with["model"] == "molecules") == (
            made_with["fingerprint"] == models["molecules"]
        )


def test_match_prints_the_edits_and_draws(tmp_path: Path) -> None:
    out = tmp_path / "match.png"
    text = run("match", "CCO", "CCN", "--out", str(out))
    assert "1 edits (the edit distance)" in text
    assert "relabel node 2: O -> N" in text
    assert out.is_file()


@pytest.mark.parametrize("method", ["grale", "refine"])
def test_match_takes_a_file_of_pairs(tmp_path: Path, method: str) -> None:
    table = pa.table({"a": ["CCO", "x", None], "b": ["CCN", "CC", "CC"]})
    pq.write_table(table, tmp_path / "pairs.parquet")
    out = tmp_path / "out.parquet"
    text = run("match", str(tmp_path / "pairs.parquet"), "--method", method, "--out", str(out))
    assert "failed" in text
    rows = pq.read_table(out).to_pylist()
    assert [row["status"] for row in rows] == ["ok", "failed", "failed"]
    assert rows[0]["edit_distance"] >= 1
    assert rows[1]["reason"].startswith("a: cannot parse")
