"""Who is answered, and how much a request may ask for."""

from __future__ import annotations

import asyncio

import pytest

from web.clients import ADDRESS, client_of

BODY = {"graphs": ["CCO"]}


@pytest.mark.parametrize(
    "headers",
    [
        {"Host": "evil.example"},
        {"Host": "127.0.0.1.evil.example:8000"},
        {"Host": ""},
        {"Host": "[broken"},
        {"Origin": "http://evil.example"},
        {"Origin": "http://127.0.0.1:9000"},
        {"Origin": "null"},
        {"Sec-Fetch-Site": "cross-site"},
    ],
)
def test_a_page_of_another_site_is_not_answered(api, headers: dict[str, str]) -> None:
    answer = api.post("/encode", json=BODY, headers=headers)
    assert answer.status_code == 403
    assert "rows" not in answer.json()


@pytest.mark.parametrize(
    "headers", [{}, {"Origin": ADDRESS}, {"Host": "localhost:8000"}, {"Host": "[::1]:8000"}]
)
def test_pages_and_programs_of_this_machine_are_answered(api, headers: dict[str, str]) -> None:
    assert api.post("/encode", json=BODY, headers=headers).status_code == 200


def test_nobody_is_told_that_other_sites_may_read_answers(api) -> None:
    headers = {"Origin": "http://evil.example", "Access-Control-Request-Method": "POST"}
    answer = api.options("/encode", headers=headers)
    assert answer.status_code == 403
    assert not [name for name in answer.headers if name.startswith("access-control")]


def test_a_body_that_is_not_declared_as_json_is_refused(api) -> None:
    answer = api.post("/encode", content=b'{"graphs": []}', headers={"Content-Type": "text/plain"})
    assert answer.status_code == 415


def test_scripts_of_the_page_come_from_this_server_alone(page) -> None:
    policy = page.get("/").headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "script-src 'self';" in policy


@pytest.mark.parametrize(
    "content",
    [b"", b"[", b"{}", b'{"graphs": 3}', b'{"graphs": ["C"], "more": 1}', b"[" * 100_000, b"\xff"],
)
def test_a_body_of_another_form_is_refused_in_one_sentence(api, content: bytes) -> None:
    answer = api.post("/encode", content=content, headers={"Content-Type": "application/json"})
    assert answer.status_code in (400, 422)
    assert list(answer.json()) == ["error"]
    assert "\n" not in answer.json()["error"]


@pytest.mark.slow
def test_limits_on_rows_atoms_and_bytes(molecule_model) -> None:
    with client_of(molecule_model, max_rows=3, max_atoms=4, max_body=2_000) as client:
        rows = client.post("/encode", json={"graphs": ["CCO", "CCCCC"]}).json()["rows"]
        assert rows[0]["status"] == "ok"
        assert "at most 4" in rows[1]["reason"]
        assert client.post("/encode", json={"graphs": ["C"] * 3}).status_code == 200
        assert client.post("/encode", json={"graphs": ["C"] * 4}).status_code == 413
        assert client.post("/encode", json={"graphs": ["C" * 3_000]}).status_code == 413
        pieces = (b" " * 900 for _ in range(4))  # without a length in its header
        kind = {"Content-Type": "application/json"}
        assert client.post("/encode", content=pieces, headers=kind).status_code == 413


@pytest.mark.slow
def test_an_answer_that_takes_too_long_is_an_error_that_says_so(molecule_model, monkeypatch):
    import time

    from grale.web import service

    def slow(model, limits, rows, refine):
        time.sleep(0.5)
        return [{"status": "ok", "reason": None, "vector": None} for _ in rows]

    monkeypatch.setitem(service.OPERATIONS, "encode", slow)
    with client_of(molecule_model, timeout=0.1) as client:
        answer = client.post("/encode", json=BODY)
    assert answer.status_code == 504
    assert "0.1 seconds" in answer.json()["error"]


@pytest.mark.slow
def test_an_unexpected_error_tells_nothing_about_the_machine(molecule_model, monkeypatch) -> None:
    from grale.web import service

    def broken(*_):
        raise RuntimeError("/root/secret/path")

    monkeypatch.setitem(service.OPERATIONS, "encode", broken)
    with client_of(molecule_model) as client:
        answer = client.post("/encode", json=BODY)
        assert answer.status_code == 500
        assert "secret" not in answer.text
        assert client.get("/health").status_code == 200


def test_a_body_that_does_not_arrive_in_time_is_given_up() -> None:
    from grale.web.guard import Guard
    from grale.web.limits import Limits

    sent = []

    async def never() -> dict:
        await asyncio.sleep(60)
        return {}

    async def send(message) -> None:
        sent.append(message)

    kind = [(b"host", b"localhost"), (b"content-type", b"application/json")]
    scope = {"type": "http", "method": "POST", "headers": kind}
    asyncio.run(Guard(never, Limits(timeout=0.05))(scope, never, send))  # type: ignore[arg-type]
    assert sent[0]["status"] == 408
