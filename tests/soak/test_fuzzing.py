"""Broken inputs by the thousand: each is read, or refused in one sentence."""

from __future__ import annotations

import json
import runpy
from pathlib import Path

import numpy as np
import yaml

from damage import complaint
from grale.data.molecules.files import open_molecules, parse
from grale.data.samples import named_graph
from grale.graphs.graph import Graph
from grale.settings.build import SettingsError
from grale.settings.files import load_settings, read_settings
from grale.training.config import TrainConfig
from soak.counts import few_or_many

SMILES = Path(__file__).parents[2] / "benchmarks" / "fuzz_smiles.py"
LIMIT = 2.0  # seconds of this process for one string
PIECES = [
    b"", b"[", b"]", b"{", b"}", b",", b":", b'"', b"\n", b"\r", b"\t", b"\0", b"\xff", b"-1", b"0",
    b"1e999", b"null", b"true", b"NaN", b"9" * 400, b"[" * 200, b"\xef\xbb\xbf", b"$$$$", b"''",
    "\u00e9".encode(), b"smiles", b"x" * 2_000, b"C" * 300, b"edges", b"[0, 1]", b"99999999999",
]  # fmt: skip


def mutated(content: bytes, rng: np.random.Generator) -> bytes:
    """The same bytes with a few pieces put in, cut out or doubled."""
    for _ in range(int(rng.integers(1, 5))):
        start, end = sorted(rng.integers(0, len(content) + 1, 2).tolist())
        end = min(end, start + int(rng.integers(0, 20)))
        piece = content[start:end] * 2 if rng.random() < 0.2 else PIECES[rng.integers(len(PIECES))]
        content = content[:start] + piece + content[end:]
    return content


@few_or_many(300, 100_000)
def test_strings_are_read_or_refused_in_time(count, figure) -> None:
    tools = runpy.run_path(str(SMILES))
    rng, read = np.random.default_rng(2), tools["Reader"]()
    tools["invented"](count // 5, read)
    while read.kinds.total() < count:
        read(tools["fuzzed"](rng))  # raises what is not a MoleculeError
    figure(
        f"fuzzing, SMILES: {count}, {read.kinds['read']} read, the others refused; "
        f"slowest {read.slowest:.2f} s"
    )
    assert 0 < read.kinds["read"] < count
    assert read.slowest < LIMIT


@few_or_many(300, 10_000)
def test_graphs_in_json_are_read_or_refused_in_one_sentence(
    count, tmp_path, rng, space, figure
) -> None:
    values = {"node_labels": [0, 1, 2], "edges": [[0, 1], [1, 2]], "edge_labels": [1, 2]}
    path, good = tmp_path / "g.json", json.dumps(values).encode()
    read = 0
    for _ in range(count):
        content = mutated(good, rng)
        path.write_bytes(content)
        reason = complaint(lambda: named_graph(str(path), space))
        read += reason is None
        assert reason is None or "g.json" in reason, content
    figure(f"fuzzing, graphs in JSON: {count}, {read} read, the others refused")
    assert 0 < read < count


@few_or_many(200, 10_000)
def test_tables_of_molecules_are_read_or_refused(count, tmp_path, rng, figure) -> None:
    good = b"name,smiles,n\n" + b'a,CCO,1\n"b, c",c1ccccc1,2\nd,,3\n' * 3
    path = tmp_path / "in.csv"
    read = rows = 0
    for _ in range(count):
        path.write_bytes(mutated(good, rng))
        entries: list[str | None] = []
        reason = complaint(lambda: entries.extend(_entries(path)))  # noqa: B023
        assert reason is None or "in.csv" in reason
        read += reason is None
        rows += len(entries)
        assert all(isinstance(parse(entry), Graph | str) for entry in entries)
    figure(f"fuzzing, csv: {count}, {read} read with {rows} rows, the others refused")
    assert 0 < read < count


@few_or_many(100, 1_000)
def test_settings_are_taken_or_refused_by_name(count, tmp_path, rng, figure) -> None:
    good = yaml.safe_dump(read_settings("smoke")).encode()
    path = tmp_path / "s.yaml"
    taken = 0
    for _ in range(count):
        content = mutated(good, rng)
        path.write_bytes(content)
        refusal = None
        try:
            load_settings(TrainConfig, path)
        except SettingsError as error:
            refusal = str(error)
        taken += refusal is None
        assert refusal is None or names_something_of(content, refusal), (content, refusal)
    figure(f"fuzzing, settings: {count}, {taken} taken, the others refused")
    assert taken < count


def names_something_of(content: bytes, message: str) -> bool:
    """Whether a refusal names the file, or a setting in it before it says what would help."""
    said = message.partition(";")[0]
    if "s.yaml" in said:
        return True
    return any(repr(key)[1:-1] in said for key in keys_of(yaml.safe_load(content)))


def keys_of(values: object) -> list[str]:
    """Names of all settings, at any depth."""
    if not isinstance(values, dict):
        return []
    return [*values, *(key for value in values.values() for key in keys_of(value))]


def test_a_refusal_that_names_nothing_is_noticed() -> None:
    content = b"seed: 1\nmodel: {norm: pre}"
    for message in ("a setting is wrong", "'x' is unknown; known: seed", "pre is bad"):
        assert not names_something_of(content, message)
    for message in ("seed=1", "model.norm is bad", "in/s.yaml is not YAML"):
        assert names_something_of(content, message)


def test_mutations_do_break_things(rng) -> None:
    texts = [mutated(b'{"a": [1, 2]}', rng).decode("latin-1") for _ in range(100)]
    broken = sum(complaint(lambda text=text: json.loads(text)) is not None for text in texts)
    assert 10 < broken < 100


def _entries(path: Path) -> list[str | None]:
    return [entry for chunk in open_molecules(path).rows(4) for entry in chunk.entries]
