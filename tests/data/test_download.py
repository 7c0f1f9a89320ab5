"""A file that changes on its server while it is being downloaded."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, HTTPServer, ThreadingHTTPServer

import pytest

from grale.data.download import download
from grale.files import BusyError


class Changing(BaseHTTPRequestHandler):
    """Breaks off in the first answer; then the file is another, of the same length."""

    bodies = (b"old " * 1_000, b"new " * 1_000)
    heeds_if_range = True
    mark = "ETag"
    requests: list[str | None] = []  # noqa: RUF012

    def do_GET(self) -> None:
        number = len(Changing.requests)
        Changing.requests.append(self.headers.get("If-Range"))
        body, mark = self.bodies[number > 0], f'"{int(number > 0)}"'
        is_same = self.headers.get("If-Range") == mark or not self.heeds_if_range
        start = 0
        if self.headers.get("Range") and is_same:
            start = int(self.headers["Range"].removeprefix("bytes=").rstrip("-"))
        self.send_response(206 if start else 200)
        self.send_header(self.mark, mark)
        self.send_header("Content-Length", str(len(body) - start))
        self.end_headers()
        self.wfile.write(body[start : None if number else 1_000])

    def log_message(self, *args: object) -> None:
        """Say nothing."""


@pytest.mark.parametrize("heeds_if_range", [True, False])
@pytest.mark.parametrize("mark", ["ETag", "Last-Modified"])
def test_a_download_never_joins_two_states_of_a_file(
    tmp_path, monkeypatch, mark, heeds_if_range
) -> None:
    monkeypatch.setattr(Changing, "heeds_if_range", heeds_if_range)
    monkeypatch.setattr(Changing, "mark", mark)
    monkeypatch.setattr(Changing, "requests", [])
    server = HTTPServer(("127.0.0.1", 0), Changing)
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        url = f"http://127.0.0.1:{server.server_port}/x"
        with pytest.raises(OSError, match="broke off after 1000 of 4000"):
            download(url, tmp_path / "file")
        assert download(url, tmp_path / "file").read_bytes() == Changing.bodies[1]
    finally:
        server.shutdown()
        thread.join()
        server.server_close()
    assert Changing.requests[:2] == [None, '"0"']
    assert [file.name for file in tmp_path.iterdir()] == ["file"]


class Slow(BaseHTTPRequestHandler):
    """Sends the first half of a file, and the second when it may."""

    may_end = threading.Event()

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Length", "8")
        self.end_headers()
        self.wfile.write(b"half")
        self.wfile.flush()
        self.may_end.wait(10)
        self.wfile.write(b"half")

    def log_message(self, *args: object) -> None:
        """Say nothing."""


def test_two_downloads_of_one_file_at_once_never_mix(tmp_path) -> None:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Slow)
    url, path = f"http://127.0.0.1:{server.server_port}/x", tmp_path / "out" / "file"
    with ThreadPoolExecutor(2) as workers:
        workers.submit(server.serve_forever, 0.01)
        try:
            first = workers.submit(download, url, path)
            while not (path.parent / "file.partial.mark").is_file():
                assert not first.done()
            with pytest.raises(BusyError, match="another run"):
                download(url, path)
            Slow.may_end.set()
            assert first.result().read_bytes() == b"halfhalf"
            assert download("http://nobody.invalid", path) == path  # it is there
        finally:
            Slow.may_end.set()
            server.shutdown()
            server.server_close()
    assert [file.name for file in path.parent.iterdir()] == ["file"]
