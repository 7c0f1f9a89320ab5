"""A real server in a process of its own, with clients at the same time (soak: until it stops)."""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator
from http.client import HTTPConnection
from typing import Any
from urllib.parse import urlsplit

import numpy as np
import pytest

from cli.invoking import invoke
from serving import load_test

LOAD = load_test()

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def running(molecule_model, tmp_path_factory) -> Iterator[tuple[str, Any]]:
    folder = tmp_path_factory.mktemp("served") / "tiny"
    molecule_model.save_pretrained(folder)
    with LOAD.server("--model", str(folder), "--timeout", "300") as (address, process):
        yield address, process


def test_clients_at_once_get_their_own_answers_in_joined_passes(running, molecule_model) -> None:
    address, _ = running
    times, failures = LOAD.hammer(address, 8, 1.0, small=True)
    assert failures == []
    assert len(times) >= 8
    passes, requests = (
        LOAD.metric(address, f"grale_batch_requests_{name}") for name in ("count", "sum")
    )
    assert requests > passes
    rows = ask(address, {"graphs": ["CCO", "["]})
    np.testing.assert_allclose(rows[0]["vector"], molecule_model.encode(["CCO"])[0], atol=1e-5)
    assert rows[1]["status"] == "failed"


def test_the_answer_names_the_model_without_its_folder(running) -> None:
    address, _ = running
    connection = HTTPConnection(urlsplit(address).netloc, timeout=300)
    connection.request("GET", "/model")
    text = connection.getresponse().read().decode()
    connection.close()
    assert json.loads(text)["model"]["name"] == "tiny"
    assert "/tiny" not in text


def test_only_this_machine_is_listened_to(running) -> None:
    address, _ = running
    assert urlsplit(address).hostname == "127.0.0.1"
    own = socket.gethostbyname(socket.gethostname())
    if own.startswith("127."):
        pytest.skip("this machine has no other address")
    with (
        pytest.raises(ConnectionRefusedError),
        socket.create_connection((own, urlsplit(address).port), 2),
    ):
        pass


def test_a_port_that_is_taken_is_named(running) -> None:
    port = str(urlsplit(running[0]).port)
    with pytest.raises(OSError, match=f"127.0.0.1:{port}.*another --port"):
        invoke("serve", "--port", port)


@pytest.mark.parametrize("verb", ["serve", "play"])
def test_the_model_is_loaded_where_it_is_told_to_run(verb: str, monkeypatch) -> None:
    told = []

    def load(name: str, device: str) -> None:
        told.append(device)
        raise InterruptedError

    with pytest.raises(ValueError, match="device='abacus'; expected 'auto', 'cpu' or 'cuda'"):
        invoke(verb, "--port", "0", "--device", "abacus")
    monkeypatch.setattr("grale.web.run.load_any", load)
    for options in ((), ("--device", "auto")):
        with pytest.raises(InterruptedError):
            invoke(verb, "--port", "0", *options)
    assert told == ["cpu", "auto"]


def ask(address: str, body: Any) -> list[dict[str, Any]]:
    connection = HTTPConnection(urlsplit(address).netloc, timeout=300)
    headers = {"Content-Type": "application/json"}
    connection.request("POST", "/encode", json.dumps(body), headers)
    answer = json.loads(connection.getresponse().read())
    connection.close()
    rows: list[dict[str, Any]] = answer["rows"]
    return rows
