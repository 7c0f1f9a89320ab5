"""Streams and files of new graphs: aligned rows, repeats left out, parts kept."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import pyarrow.parquet as pq
import pytest

from grale.codec.identity import checksum_of_weights
from grale.codec.sample import SampleOptions
from grale.graphs.graph import Graph
from grale.model.autoencoder import GRALE
from grale.prior.conditions import Range
from grale.tasks.generate import GenerateConfig, generate, generate_file
from grale.tasks.keep import contains, template_of
from prior.still_prior import CENTRE, still_prior

pytestmark = pytest.mark.slow

QUICK = SampleOptions(steps=1)


def _config(count: int, **changes) -> GenerateConfig:
    return GenerateConfig(**{"count": count, "options": QUICK, **changes})


def test_there_is_one_row_per_draw_valid_or_not(generative: GRALE) -> None:
    generative.use_prior(still_prior(generative, share=0.6))
    found = list(generate(generative, _config(20)))
    assert [new.row for new in found] == list(range(20))
    reasons = [new.reason for new in found]
    assert None in reasons
    assert any(reason is not None for reason in reasons)  # far from any molecule, some break


def test_distinct_rows_are_valid_and_differ_and_others_repeat(generative: GRALE) -> None:
    texts = [new.graph.to_smiles() for new in generate(generative, _config(4, distinct=True))]
    assert len(set(texts)) == len(texts) > 1
    generative.use_prior(still_prior(generative, share=0.01))
    again = [new.graph.to_smiles() for new in generate(generative, _config(4))]
    assert len(set(again)) == 1
    assert len(list(generate(generative, _config(4, distinct=True)))) == 1


def test_a_graph_says_whether_it_meets_what_was_asked_for(generative: GRALE) -> None:
    generative.use_prior(still_prior(generative, share=0.01))  # only the centre, of 9 atoms
    (met,) = generate(generative, _config(1, wanted={"size": 9.0, "logP": Range(0.0, 4.0)}))
    (unmet,) = generate(generative, _config(1, wanted={"size": 8.0}))
    assert met.meets
    assert 1 < met.values["logP"] < 3
    assert not unmet.meets


def test_kept_atoms_stay_while_the_others_change(generative: GRALE) -> None:
    ring = "c1ccccc1"
    generative.use_prior(still_prior(generative, "CCCCCCC", share=0.3))
    template = template_of(generative, CENTRE, ring)
    assert template.is_held.sum() == 6
    kept, free = (
        [contains(new.graph, ring) for new in generate(generative, _config(12, **changes))]
        for changes in ({"keep": ring, "like": CENTRE}, {})
    )
    assert sum(kept) > sum(free)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"count": 0}, "the number of graphs must be at least 1, got 0"),
        ({"tries": 0}, "tries must be at least 1"),
        ({"keep": "CC"}, "keep and like go together"),
        ({"keep": "[Xx", "like": "CCO"}, "is not a pattern"),
        ({"keep": "c1ccccc1", "like": "CCO"}, "CCO does not contain c1ccccc1"),
        ({"wanted": {"QED": 0.5}}, "not trained with the condition 'QED'"),
    ],
)
def test_bad_requests_fail_before_anything_is_drawn(
    generative: GRALE, changes, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        generate(generative, _config(**{"count": 1, **changes}))


def test_only_models_with_a_token_per_atom_can_keep_a_part(molecule_model: GRALE) -> None:
    with pytest.raises(ValueError, match="no token for each atom"):
        template_of(molecule_model, "CCO", "CC")


@pytest.mark.parametrize("kind", ["smi", "csv", "parquet", "jsonl"])
def test_every_format_holds_the_same_molecules(generative: GRALE, tmp_path: Path, kind) -> None:
    out = tmp_path / f"new.{kind}"
    report = generate_file(
        generative, "a test", out, _config(12, wanted={"logP": Range(-9.0, 9.0)})
    )
    expected = {
        new.row: new.graph.to_smiles()
        for new in generate(generative, _config(12, wanted={"logP": Range(-9.0, 9.0)}))
        if new.reason is None
    }
    assert report.rows == report.drawn == 12
    assert report.valid == len(expected) > 0
    assert _valid_rows(out) == expected
    made_with = _made_with(out)
    assert made_with["fingerprint"] == generative.fingerprint
    assert made_with["prior"] == checksum_of_weights(generative.prior)
    assert made_with["reading"] == "prior"


def _made_with(out: Path) -> dict[str, str]:
    """Which model made a file: in its metadata, or in the file beside it."""
    if out.suffix == ".parquet":
        return json.loads(pq.read_schema(out).metadata[b"grale"])
    return json.loads(out.with_name(out.name + ".json").read_text())


def _valid_rows(path: Path) -> dict[int, str]:
    text = path.read_text() if path.suffix != ".parquet" else ""
    if path.suffix == ".smi":
        return {int(line.split()[1]): line.split()[0] for line in text.splitlines()}
    if path.suffix == ".csv":
        records = list(csv.DictReader(text.splitlines()))
        assert len(records) == 12
        assert all(float(record["logP"]) < 9 for record in records if record["smiles"])
        return {int(each["row"]): each["smiles"] for each in records if each["valid"] == "True"}
    if path.suffix == ".jsonl":
        records = [json.loads(line) for line in text.splitlines()]
        graphs = [
            Graph(**{k: each[k] for k in ("node_labels", "edges", "edge_labels")})
            for each in records
        ]
        assert len(records) == 12
        pairs = zip(records, graphs)
        return {each["row"]: graph.to_smiles() for each, graph in pairs if each["valid"]}
    records = pq.read_table(path).to_pylist()
    assert len(records) == 12
    return {each["row"]: each["smiles"] for each in records if each["valid"]}


@pytest.mark.parametrize("name", ["new.txt", "new", "."])
def test_an_unknown_format_is_refused(generative: GRALE, tmp_path: Path, name: str) -> None:
    with pytest.raises(ValueError, match=r"cannot write|is a folder"):
        generate_file(generative, "a test", tmp_path / name, _config(1))


def test_a_failure_leaves_no_file(generative: GRALE, tmp_path: Path) -> None:
    out = tmp_path / "new.csv"

    def stop(done: int) -> None:
        raise RuntimeError("stop")

    with pytest.raises(RuntimeError, match="stop"):
        generate_file(generative, "a test", out, _config(2), stop)
    assert not out.exists()
