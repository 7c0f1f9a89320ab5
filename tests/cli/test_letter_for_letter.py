"""Users' data comes out as it went in: brackets are no markup, colons no emoji, nothing is cut."""

from __future__ import annotations

import os
from copy import deepcopy
from pathlib import Path

import pytest

from cli.invoking import invoke
from grale.cli import main, terminal
from grale.files import write_whole
from grale.model.predictor import GralePredictor, PredictorSettings
from grale.training.fit import Fitted
from prediction_setup import BITS, READER
from prior.still_prior import still_prior
from tasks.labelled_molecules import SMILES, additive, write_csv

HOSTILE = "a[/x][bold]b:o:.csv"
PYRROLE, PYRIDINIUM = "c1cc[nH]c1", "C[n+]1ccccc1"
LONG = "C[N+](C)(C)CC(=O)[O-]." * 40


@pytest.fixture
def run(tmp_path: Path, monkeypatch, molecule_model):
    monkeypatch.chdir(tmp_path)
    molecule_model.save_pretrained(tmp_path / "[bold]model")
    source = tmp_path / HOSTILE  # a[ is a folder, as its name holds a slash
    source.parent.mkdir()
    source.write_text(f"smiles\n{PYRROLE}\n{PYRIDINIUM}\n[bold]\n[/x]\nCCO\nCCN\nCCC\nCCOC\n")
    return invoke


@pytest.mark.slow
def test_interpolate_prints_the_molecules_it_was_given(run) -> None:
    text = run("interpolate", PYRROLE, PYRIDINIUM, "--steps", "3")
    lines = text.splitlines()
    assert lines[0].endswith(f"  {PYRROLE}")
    assert lines[2].endswith(f"  {PYRIDINIUM}")


@pytest.mark.slow
def test_edit_prints_the_molecule_it_starts_from(run) -> None:
    text = run("edit", PYRROLE, "--model", "molecules@1", "--count", "60", "--steps", "2")
    assert f" {PYRROLE} " in text


@pytest.mark.slow
@pytest.mark.parametrize("verb", ["embed", "reconstruct"])
def test_verbs_on_files_print_names_with_brackets(run, verb: str) -> None:
    text = run(verb, HOSTILE, "-o", "[b]out.parquet", "--model", "[bold]model")
    assert f"{HOSTILE} -> [b]out.parquet" in text
    assert "[bold]model" in text


@pytest.mark.slow
def test_decode_and_match_print_names_with_brackets(run) -> None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    run("embed", HOSTILE, "-o", "[b]z.parquet", "--model", "[bold]model")
    text = run("decode", "[b]z.parquet", "-o", "[/x].parquet", "--model", "[bold]model")
    assert "[b]z.parquet -> [/x].parquet" in text
    pairs = pa.table({"a": [PYRROLE, "[bold]"], "b": ["CCO", "CC"]})
    pq.write_table(pairs, "[b]pairs.parquet")
    text = run("match", "[b]pairs.parquet", "-o", "[b]m.parquet", "--model", "[bold]model")
    assert "[b]pairs.parquet -> [b]m.parquet" in text
    assert "picture: [b]m.png" in run(
        "match", PYRROLE, "CCO", "-o", "[b]m.png", "--model", "[bold]model"
    )


@pytest.mark.slow
def test_other_verbs_print_names_with_brackets(run) -> None:
    assert "[b]data: rejected" in run(
        "prepare", "molecules", HOSTILE, "-o", "[b]data", "--workers", "1"
    )
    assert "[bold]model" in run("info", "[bold]model")
    assert "[bold]model" in run("evaluate", "[bold]model", "--data", "library", "--count", "8")
    for verb, name in (("barycenter", "[b]c.png"), ("map", "[b]map.png")):
        options = ("--model", "[bold]model", "--count", "12", "--out", name)
        assert f"picture: {name}" in run(verb, "library", *options)
    options = ("--model", "[bold]model", "--count", "8", "--level", "0.1", "--out", "[b]d.png")
    assert "picture: [b]d.png" in run("denoise", "--data", "library", *options)


@pytest.mark.slow
def test_verbs_that_compare_rows_print_names_with_brackets(run, molecule_model) -> None:
    text = run("neighbours", HOSTILE, "--of", PYRROLE, "-k", "2", "--model", "[bold]model", "-o",
               "[b]n.csv")  # fmt: skip
    assert "[bold]model" in text
    assert text.count(PYRROLE) == 3  # what was asked for in both rows, and itself as one of them
    assert "written: [b]n.csv" in text
    rows = [(smiles, str(additive(smiles))) for smiles in [*SMILES, PYRROLE, "[/x]", "[bold]"]]
    write_csv(Path("a[") / "x]$l$.csv", rows, "smiles,[bold]$v$")
    options = ("--head", "ridge", "--contender", "counts", "--contender", "[bold]model")
    options += ("--splits", "1", "-o", "[b]p.png")
    text = run("probe", "a[/x]$l$.csv", "--target", "[bold]$v$", *options)
    assert "[bold]$v$ of a[/x]$l$.csv, ridge" in text
    assert "[bold]model" in text
    assert "cannot parse SMILES '[bold]'" in text
    assert "written: [b]p.png" in text


@pytest.mark.slow
def test_verbs_that_make_graphs_print_names_with_brackets(run, molecule_model, tiny_config) -> None:
    generative = deepcopy(molecule_model)
    generative.use_prior(still_prior(generative, "CCO"))
    generative.save_pretrained("[bold]prior")
    text = run("generate", "-n", "4", "-o", "[/x].csv", "--model", "[bold]prior", "--steps", "2")
    assert "[/x].csv" in text
    assert "[bold]prior" in text
    settings = PredictorSettings(inputs=BITS, reader=READER, autoencoder=tiny_config)
    GralePredictor(molecule_model.space, settings).eval().save_pretrained("[bold]predictor")
    text = run("predict", "[bold]predictor", HOSTILE, "-o", "[b]p.csv")
    assert f"{HOSTILE} -> [b]p.csv" in text
    assert "[bold]predictor" in text
    assert PYRROLE in Path("[b]p.csv").read_text()


@pytest.mark.slow
def test_verbs_that_make_models_print_names_with_brackets(run, molecule_model, monkeypatch) -> None:
    """What they do is tested elsewhere, and takes long."""
    fitted = Fitted(molecule_model, 3, 1, 1.0, 1.0, ["[bold] it is [/x] small"])
    monkeypatch.setattr("grale.training.fit.fit_dataset", lambda *args: fitted)
    graphs = Path("a[") / "x][b].jsonl"
    graphs.write_text('{"node_labels": ["[bold]", "[/x]"], "edges": [[0, 1]]}\n' * 12)
    text = run("fit", str(graphs), "-o", "[b]fitted[", "--minutes", "1")
    assert f"{graphs} -> [b]fitted[" in text
    assert f'grale.load("[b]fitted["), or grale map {graphs} --model [b]fitted[' in text
    file = Path("[b]onnx") / "[bold].onnx"
    write_whole(file, b"")
    monkeypatch.setattr("grale.tasks.export.export_model", lambda *args: [file])
    text = run("export", "[bold]model", "-o", "[b]onnx", "--no-check")
    assert f"{file}  0.0 MB" in text


@pytest.mark.slow
def test_training_prints_a_folder_with_brackets(run) -> None:
    text = run("train", "smoke", "--set", "max_steps=2", "--out", "[b]run[/x]")
    assert "saved to [b]run[/x]" in text


@pytest.mark.slow
def test_errors_keep_their_brackets(run, capsys, monkeypatch) -> None:
    monkeypatch.setattr("sys.argv", ["grale", "info", "./[/x][bold]"])
    with pytest.raises(SystemExit):
        main.main()
    assert "[/x][bold]" in capsys.readouterr().err


def test_long_lines_and_cells_are_neither_cut_nor_folded(capsys, monkeypatch) -> None:
    monkeypatch.delenv("COLUMNS", raising=False)
    terminal.say(LONG)
    terminal.show("[bold]", [["[b]", "x"], [LONG, ":o:"]])
    text = capsys.readouterr().out
    assert text.splitlines()[0] == LONG
    assert text.count(LONG) == 2
    assert ":o:" in text
    assert "[bold]" in text


def test_cells_are_folded_in_a_narrow_terminal_but_not_cut(capsys, monkeypatch) -> None:
    monkeypatch.setitem(os.environ, "COLUMNS", "40")
    terminal.show("", [["name"], [LONG]])
    letters = "".join(letter for letter in capsys.readouterr().out if letter not in "│\n ")
    assert LONG in letters


def test_control_characters_are_shown_and_not_obeyed(capsys) -> None:
    terminal.say("a\x1b[31mb\rc")
    assert capsys.readouterr().out == "a\\x1b[31mb\\rc\n"
