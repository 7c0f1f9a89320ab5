"""Files are whole or not there, and one output has one writer at a time."""

from __future__ import annotations

import os
import signal
import stat
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path

import pytest

from grale.files import BusyError, locked, read_json, sha256_of, whole, write_whole

HOLD = """
import sys, time
from grale.files import locked
with locked(sys.argv[1]):
    print("held", flush=True)
    time.sleep(60)
"""


def test_a_file_appears_when_it_is_complete(tmp_path: Path) -> None:
    with whole(tmp_path / "deep" / "a.txt") as partial:
        partial.write_text("half")
        assert not (tmp_path / "deep" / "a.txt").exists()
    assert (tmp_path / "deep" / "a.txt").read_text() == "half"
    assert [path.name for path in (tmp_path / "deep").iterdir()] == ["a.txt"]


def test_what_fails_leaves_the_old_file_and_nothing_else(tmp_path: Path) -> None:
    path = write_whole(tmp_path / "a.txt", "old")
    with suppress(RuntimeError), whole(path) as partial:
        partial.write_text("new")
        raise RuntimeError
    assert path.read_text() == "old"
    assert [other.name for other in tmp_path.iterdir()] == ["a.txt"]


def test_two_writers_of_one_file_never_mix(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    with whole(path) as first, whole(path) as second:
        assert first != second
        first.write_text("first")
        second.write_text("second")
    assert path.read_text() == "first"  # the outer one is the last to finish


def test_file_modes_follow_the_umask(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        path = write_whole(tmp_path / "a.txt", b"x")
    finally:
        os.umask(before)
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


def test_a_library_that_writes_private_files_changes_no_modes(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    with whole(path) as partial:
        partial.unlink()
        os.close(os.open(partial, os.O_CREAT | os.O_WRONLY, 0o600))  # as safetensors does
    (tmp_path / "b.txt").touch()
    assert path.stat().st_mode == (tmp_path / "b.txt").stat().st_mode


def test_a_run_that_wrote_nothing_leaves_no_folders_behind(tmp_path: Path) -> None:
    with suppress(RuntimeError), locked(tmp_path / "new" / "deep" / "out.parquet"):
        raise RuntimeError
    assert list(tmp_path.iterdir()) == []
    with locked(tmp_path / "new" / "out.parquet"):
        write_whole(tmp_path / "new" / "out.parquet", "x")
    assert (tmp_path / "new" / "out.parquet").read_text() == "x"


def test_checksum_changes_with_one_bit(tmp_path: Path) -> None:
    path = write_whole(tmp_path / "a", b"abc")
    before = sha256_of(path)
    path.write_bytes(b"abb")
    assert sha256_of(path) != before


def test_a_second_run_is_refused_by_the_name_of_the_first(tmp_path: Path) -> None:
    out = tmp_path / "out.parquet"
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(out)], stdout=subprocess.PIPE, text=True
    )
    try:
        assert holder.stdout is not None
        assert holder.stdout.readline() == "held\n"
        with pytest.raises(BusyError, match=rf"process {holder.pid}\)"), locked(out):
            pass
        with locked(tmp_path / "other.parquet"):
            pass
        holder.send_signal(signal.SIGKILL)
        holder.wait()
        with locked(out):  # a kill releases the lock, though its file is still there
            pass
    finally:
        holder.kill()
        holder.wait()
        holder.stdout.close()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.slow
def test_of_many_racers_one_at_a_time_holds_the_lock(tmp_path: Path) -> None:
    program = """
import sys, time
from pathlib import Path
from grale.files import BusyError, locked
out, mark = Path(sys.argv[1]), Path(sys.argv[1] + ".mark")
for _ in range(200):
    try:
        with locked(out):
            mark.touch(exist_ok=False)
            time.sleep(0.0005)
            mark.unlink()
    except BusyError:
        time.sleep(0.0003)
"""
    command = [sys.executable, "-c", program, str(tmp_path / "out")]
    racers = [subprocess.Popen(command, stderr=subprocess.PIPE, text=True) for _ in range(3)]
    began = time.monotonic()
    for racer in racers:
        _, errors = racer.communicate(timeout=60)
        assert racer.returncode == 0, errors
    assert time.monotonic() - began < 60


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "is empty; expected JSON"),
        (b" \n", "is empty; expected JSON"),
        (b"{", "is not JSON: Expecting"),
        (b'{"a": "\xff"}', "is not JSON: .*utf-8"),
        (b"[" * 100_000, "is nested more than 32 levels deep"),
        (b"[" * 40 + b"]" * 40, "is nested more than 32 levels deep"),
        (b'{"a":' * 40 + b"1" + b"}" * 40, "is nested more than 32 levels deep"),
        (b"1" * 5_000, "is not JSON: .*digits"),
        (b"[" + b"1," * 2_500_000 + b"1]", "has more than 5000000 bytes"),
    ],
    ids=["empty", "blank", "open", "latin", "deep", "lists", "objects", "number", "huge"],
)
def test_json_of_others_is_refused_in_one_sentence(tmp_path: Path, content, reason) -> None:
    path = tmp_path / "a.json"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=f"a.json {reason}") as caught:
        read_json(path)
    assert len(str(caught.value).splitlines()) == 1


def test_json_within_the_limits_is_read(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_text('{"a": [1, {"b": null}], "c": "\u00e9"}', encoding="utf-8-sig")
    assert read_json(path) == {"a": [1, {"b": None}], "c": "\u00e9"}
    path.write_text("[" * 32 + "]" * 32)
    assert read_json(path)


def test_what_killed_runs_left_of_an_output_goes_when_it_is_locked(tmp_path: Path) -> None:
    out = tmp_path / "out.parquet"
    with whole(out) as partial:  # as a killed run leaves it, and what only looks like it
        kept = [tmp_path / ".out.parquet.mine.part", tmp_path / f".other{partial.name}"]
        for path in kept:
            path.touch()
        with locked(out):
            assert not partial.exists()
        assert all(path.exists() for path in kept)
        partial.touch()
