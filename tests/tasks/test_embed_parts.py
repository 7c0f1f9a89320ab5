"""Parts of an output: kept, continued, damaged, of another job."""

from __future__ import annotations

import copy
import json

import pyarrow.parquet as pq
import pytest
import torch

import grale.tasks.embed as embedding
from grale.files import whole
from grale.tasks.embed_parts import PLAN, begin, tidied
from tasks.embedded_rows import ROWS, embed


@pytest.mark.slow
def test_a_damaged_part_is_named_and_made_again(
    tmp_path, molecule_model, source, monkeypatch, caplog, rng
) -> None:
    embed(molecule_model, source, tmp_path / "whole.parquet")
    out = tmp_path / "z.parquet"
    monkeypatch.setattr(embedding, "finish", lambda *args: None)
    embed(molecule_model, source, out)
    monkeypatch.undo()
    part = tmp_path / "z.parquet.parts" / "part-000001.parquet"
    good = part.read_bytes()
    for _ in range(20):
        part.write_bytes(good)
        assert embedding.finished(part) is not None
        content = bytearray(good)
        bit = int(rng.integers(8 * len(content)))
        content[bit // 8] ^= 1 << bit % 8
        part.write_bytes(content)
        assert embedding.finished(part) is None
    assert "part-000001.parquet is damaged: its checksum differs" in caplog.text
    assert embed(molecule_model, source, out) == len(ROWS) - 3  # the others are not made again
    assert out.read_bytes() == (tmp_path / "whole.parquet").read_bytes()
    assert not list(tmp_path.glob("*.parts"))


@pytest.mark.slow
def test_a_part_that_a_kill_left_half_written_is_removed_and_other_files_stay(
    tmp_path, molecule_model, source
) -> None:
    out, folder = tmp_path / "z.parquet", tmp_path / "z.parquet.parts"
    with whole(folder / "part-000004.parquet") as partial:
        killed = partial.name
    for name in (killed, killed.replace("part-", "_part-"), ".part-mine.part"):
        (folder / name).write_text("half of it")
    (folder / "part-000004.parquet").unlink()
    embed(molecule_model, source, out)
    assert [path.name for path in folder.iterdir()] == [".part-mine.part"]


@pytest.mark.slow
def test_files_of_the_users_own_are_left_in_the_folder_of_parts(
    tmp_path, molecule_model, source
) -> None:
    parts = tmp_path / "z.parquet.parts"
    parts.mkdir()
    (parts / "notes.txt").write_text("mine")
    embed(molecule_model, source, tmp_path / "z.parquet")
    assert [path.name for path in parts.iterdir()] == ["notes.txt"]


@pytest.mark.slow
def test_a_killed_run_goes_on_and_ends_the_same(
    tmp_path, molecule_model, source, monkeypatch
) -> None:
    embed(molecule_model, source, tmp_path / "whole.parquet")
    done: list[object] = []
    run = embedding.embed_shard

    def killed_at_the_third(*args: object) -> object:
        if len(done) == 2:
            raise KeyboardInterrupt
        done.append(run(*args))
        return done[-1]

    with monkeypatch.context() as patch:
        patch.setattr(embedding, "embed_shard", killed_at_the_third)
        with pytest.raises(KeyboardInterrupt):
            embed(molecule_model, source, tmp_path / "z.parquet")
    assert not (tmp_path / "z.parquet").exists()
    assert embed(molecule_model, source, tmp_path / "z.parquet") == 6  # two shards of three rows
    assert (tmp_path / "z.parquet").read_bytes() == (tmp_path / "whole.parquet").read_bytes()


@pytest.mark.slow
def test_parts_of_another_job_are_not_taken_up(tmp_path, molecule_model, source) -> None:
    embed(molecule_model, source, tmp_path / "folder")
    with pytest.raises(ValueError, match="parts of another run"):
        embed(molecule_model, source, tmp_path / "folder", shard_rows=4)
    parts = sorted((tmp_path / "folder").glob("part-*.parquet"))
    assert len(parts) == 4  # a folder keeps its shards
    assert pq.read_table(tmp_path / "folder").num_rows == len(ROWS)


@pytest.mark.slow
def test_other_weights_under_the_same_name_are_another_job(
    tmp_path, molecule_model, source
) -> None:
    def stop(report):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        embed(molecule_model, source, tmp_path / "z.parquet", stop)
    other = copy.deepcopy(molecule_model)
    with torch.no_grad():
        next(other.parameters()).add_(1.0)
    with pytest.raises(ValueError, match="parts of another run"):
        embed(other, source, tmp_path / "z.parquet")
    assert embed(molecule_model, source, tmp_path / "z.parquet") == 3


PLANNED = {"file": "in.csv", "model": "tiny", "weights": "ab12", "on_error": "null", "what": "both"}


def test_a_refusal_names_everything_that_differs_and_nothing_else(tmp_path) -> None:
    begin(tmp_path / "z", PLANNED)
    (tmp_path / "z" / "part-000000.parquet").touch()
    changes = {"model": "other", "weights": "cd34", "what": "latent"}
    with pytest.raises(ValueError, match="parts of another run") as caught:
        begin(tmp_path / "z", PLANNED | changes)
    for name, value in PLANNED.items():
        sentence = f"its {name} was {value!r}, now it is {changes.get(name)!r}"
        assert (sentence in str(caught.value)) is (name in changes)
    assert json.loads((tmp_path / "z" / PLAN).read_text()) == PLANNED
    with pytest.raises(ValueError, match="another run") as caught:
        begin(tmp_path / "z", PLANNED | {"file": "x" * 10_000})
    assert len(str(caught.value)) < 1_000


def test_two_names_of_one_model_are_one_job(tmp_path) -> None:
    begin(tmp_path / "z", PLANNED)
    (tmp_path / "z" / "part-000000.parquet").touch()
    begin(tmp_path / "z", PLANNED | {"model": "./tiny"})
    with pytest.raises(ValueError, match=r"its model was './tiny', now it is 'tiny'; its weights"):
        begin(tmp_path / "z", PLANNED | {"weights": "cd34"})


def test_the_plan_is_checked_before_the_first_part_is_there(tmp_path) -> None:
    begin(tmp_path / "z", PLANNED)
    begin(tmp_path / "z", PLANNED)
    with pytest.raises(ValueError, match="its what was 'both', now it is 'latent'"):
        begin(tmp_path / "z", PLANNED | {"what": "latent"})


@pytest.mark.parametrize("reason", [KeyboardInterrupt, ValueError])
def test_a_run_that_ends_before_its_first_part_leaves_no_plan(tmp_path, reason) -> None:
    begin(tmp_path / "z", PLANNED)
    with pytest.raises(reason), tidied(tmp_path / "z"):
        raise reason
    assert not (tmp_path / "z").exists()
    begin(tmp_path / "z", PLANNED)
    (tmp_path / "z" / "part-000000.parquet").touch()
    with pytest.raises(reason), tidied(tmp_path / "z"):
        raise reason
    assert (tmp_path / "z" / PLAN).is_file()


@pytest.mark.slow
def test_parts_of_unknown_origin_are_not_taken_up(tmp_path, molecule_model, source) -> None:
    folder = tmp_path / "z"
    embed(molecule_model, source, folder)
    (folder / PLAN).unlink()
    with pytest.raises(ValueError, match="parts of unknown origin"):
        embed(molecule_model, source, folder)


@pytest.mark.slow
@pytest.mark.parametrize("plan", ["", "[" * 100_000, "[1]", "{" + " " * 6_000_000 + "}", "no"])
def test_a_damaged_plan_is_one_sentence_that_says_what_to_do(
    tmp_path, molecule_model, source, plan
) -> None:
    folder = tmp_path / "z"
    embed(molecule_model, source, folder)
    (folder / PLAN).write_text(plan)
    with pytest.raises(ValueError, match=r"_plan\.json .*; remove the folder or choose") as caught:
        embed(molecule_model, source, folder)
    assert len(str(caught.value).splitlines()) == 1
