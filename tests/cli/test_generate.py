"""`grale generate` and the verbs that use a prior, as a user would call them."""

from __future__ import annotations

from pathlib import Path

import pytest

from cli.invoking import invoke as run

pytestmark = pytest.mark.slow


def test_generate_writes_molecules_and_prints_counts(
    generative_folder: Path, tmp_path: Path
) -> None:
    out = tmp_path / "new.smi"
    words = ("generate", "-n", "8", "-o", str(out), "--model", str(generative_folder))
    text = run(*words, "--steps", "2", "--where", "logP<9", "--size", "9")
    assert "valid and in one piece" in text
    assert "valid and as asked for" in text
    lines = out.read_text().splitlines()
    assert 0 < len(lines) <= 8
    run(*words, "--steps", "2", "--where", "logP<9", "--size", "9")
    assert out.read_text().splitlines() == lines


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("-n", "0"), "the number of graphs must be at least 1, got 0"),
        (("-n", "2", "--where", "QED>0.5"), "not trained with the condition 'QED'"),
        (("-n", "2", "--where", "logP~3"), "cannot read 'logP~3'"),
        (("-n", "2", "--size", "40"), "size 40 is impossible"),
        (("-n", "2", "--where", "size<9", "--size", "9"), "size is asked for twice"),
        (("-n", "2", "--keep", "c1ccccc1", "--like", "CCO"), "CCO does not contain c1ccccc1"),
        (("-n", "2", "--seed", "-1"), "seed must be at least 0"),
    ],
)
def test_generate_refuses_bad_requests_in_one_sentence(
    generative_folder: Path, tmp_path: Path, words: tuple[str, ...], message: str
) -> None:
    out = tmp_path / "new.smi"
    with pytest.raises(ValueError, match=message):
        run("generate", *words, "-o", str(out), "--model", str(generative_folder))
    assert not out.exists()


def test_an_output_that_cannot_be_written_fails_before_any_draw(
    generative_folder: Path, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("in the way")
    words = ("generate", "-n", "2", "--model", str(generative_folder))
    with pytest.raises(OSError, match="file"):
        run(*words, "-o", str(tmp_path / "file" / "new.smi"))
    with pytest.raises(ValueError, match="is a folder"):
        run(*words, "-o", str(tmp_path))


def test_a_model_without_a_prior_says_so(tmp_path: Path) -> None:
    for words in (
        ("generate", "-n", "1", "-o", str(tmp_path / "new.smi")),
        ("interpolate", "CCO", "CCN", "--path", "prior", "-o", str(tmp_path / "line.png")),
        ("edit", "CCO", "--method", "prior", "-p", "logP", "-o", str(tmp_path / "edit.png")),
    ):
        with pytest.raises(ValueError, match="this model has no prior"):
            run(*words, "--model", "molecules-attention")
    assert not list(tmp_path.iterdir())


def test_edit_and_interpolate_draw_what_the_prior_finds(
    generative_folder: Path, tmp_path: Path
) -> None:
    edited, line = tmp_path / "edit.png", tmp_path / "line.png"
    text = run(
        "edit", "CCCc1ccccc1", "-p", "logP", "--method", "prior", "--count", "60", "--proposals",
        "8", "--model", str(generative_folder), "-o", str(edited),
    )  # fmt: skip
    assert "proposals valid" in text
    words = ("interpolate", "CCO", "CCN", "--path", "prior", "--steps", "3")
    assert "t = 0.50" in run(*words, "--model", str(generative_folder), "-o", str(line))
    assert edited.is_file()
    assert line.is_file()
