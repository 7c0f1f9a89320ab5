"""Models on the hub: what is looked for there, and what happens when it does not answer."""

from __future__ import annotations

import socket
import time

import pytest

from grale.codec import hub
from grale.codec.hub import is_hub_id
from grale.codec.storage import find


@pytest.fixture
def silent_server():
    """Address of a server that takes connections and never answers."""
    with socket.create_server(("127.0.0.1", 0), backlog=50) as server:
        yield f"http://127.0.0.1:{server.getsockname()[1]}"


@pytest.fixture
def no_proxy(monkeypatch):
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setenv("no_proxy", "127.0.0.1")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("someone/some-model", True),
        ("someone/some.model_2", True),
        ("runs/typo", False),
        ("molecules", False),
        ("./runs", False),
        ("../runs", False),
        ("/tmp/runs", False),
        ("~/runs", False),
        ("a/b/c", False),
        ("someone/some model", False),
        ("", False),
    ],
)
def test_a_hub_id_is_two_words_of_which_none_is_a_folder_here(
    tmp_path, monkeypatch, text, expected
) -> None:
    (tmp_path / "runs").mkdir()
    monkeypatch.chdir(tmp_path)
    assert is_hub_id(text) == expected


def test_a_hub_that_does_not_answer_is_given_up_soon(
    silent_server, no_proxy, tmp_path, monkeypatch
) -> None:
    monkeypatch.setattr(hub, "HUB_SECONDS", 0.5)
    begin = time.perf_counter()
    with pytest.raises(FileNotFoundError, match="no such folder, and .* answer") as caught:
        find("someone/some-model", endpoint=silent_server, cache_dir=tmp_path)
    assert time.perf_counter() - begin < 20  # the time limit, and importing the hub's library
    assert len(str(caught.value).splitlines()) == 1


def test_a_hub_that_is_not_there_is_one_sentence(no_proxy, tmp_path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        closed = f"http://127.0.0.1:{server.getsockname()[1]}"
    with pytest.raises(FileNotFoundError, match="'someone/some-model': no such folder") as caught:
        find("someone/some-model", endpoint=closed, cache_dir=tmp_path)
    assert len(str(caught.value).splitlines()) == 1


def test_what_was_downloaded_before_is_used_when_the_hub_does_not_answer(
    silent_server, no_proxy, tmp_path, monkeypatch
) -> None:
    monkeypatch.setattr(hub, "HUB_SECONDS", 0.2)
    commit, place = "0123456789" * 4, tmp_path / "models--someone--some-model"
    (place / "refs").mkdir(parents=True)
    (place / "refs" / "main").write_text(commit)
    folder = place / "snapshots" / commit
    folder.mkdir(parents=True)
    (folder / "config.json").write_text("{}")
    with pytest.raises(FileNotFoundError, match="answer"):  # half of it is not enough
        find("someone/some-model", endpoint=silent_server, cache_dir=tmp_path)
    (folder / "model.safetensors").write_bytes(b"")
    assert find("someone/some-model", endpoint=silent_server, cache_dir=tmp_path) == folder
    assert find("someone/some-model", local_files_only=True, cache_dir=tmp_path) == folder
    with pytest.raises(FileNotFoundError, match="the hub was not asked"):
        find("someone/another", local_files_only=True, cache_dir=tmp_path)


def test_an_unknown_option_is_refused() -> None:
    with pytest.raises(TypeError, match="unknown option 'branch'; known are revision"):
        find("someone/some-model", branch="main")
