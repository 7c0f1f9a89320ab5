"""What is refused before anything is read: foreign pages, foreign names, long or slow bodies.

A page of another site can make a browser send requests to 127.0.0.1, and can give this address a
name of its own (DNS rebinding). So the names in `Host` and `Origin` must be ours, and a body must
be JSON, which a foreign page cannot send without asking first.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from urllib.parse import urlsplit

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from grale.web.limits import Limits
from grale.web.refusals import Refused, refusal

LOOPBACK = ("127.0.0.1", "localhost", "::1")
POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; "
    "img-src 'self' data: blob:; connect-src 'self'; frame-src 'self'; font-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'self'"
)
HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}


class Guard:
    """Checks each request, reads its body within limits, and passes it on."""

    def __init__(self, app: ASGIApp, limits: Limits, hosts: Iterable[str] = ()) -> None:
        self.app, self.limits = app, limits
        self.hosts = {*LOOPBACK, *(host.lower() for host in hosts)}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a refused request, or let the application answer."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
                headers.setdefault("Content-Security-Policy", POLICY)
            await send(message)

        try:
            self.check(scope["method"], Headers(scope=scope))
            async with asyncio.timeout(self.limits.timeout):
                body = await self._body(receive)
        except Refused as error:
            await refusal(error.status, error.reason)(scope, receive, send_with_headers)
        except TimeoutError:
            reason = f"the body did not arrive within {self.limits.timeout:g} seconds"
            await refusal(408, reason)(scope, receive, send_with_headers)
        else:
            await self.app(scope, _replayed(body, receive), send_with_headers)

    def check(self, method: str, headers: Headers) -> None:
        """Raise `Refused` unless the request comes from a page or program that we know."""
        host = headers.get("host", "")
        if _name(host) not in self.hosts:
            raise Refused(403, "this server does not answer to that host name; see --allow-host")
        origin = headers.get("origin")
        if origin is not None and urlsplit(origin).netloc.lower() != host.lower():
            raise Refused(403, "requests from pages of other sites are refused")
        if headers.get("sec-fetch-site") in ("cross-site", "same-site") and method != "GET":
            raise Refused(403, "requests from pages of other sites are refused")
        kind = headers.get("content-type", "").partition(";")[0].strip().lower()
        if method == "POST" and kind != "application/json":
            raise Refused(415, "send JSON, with Content-Type: application/json")
        length = headers.get("content-length", "0")
        if not length.isdigit() or int(length) > self.limits.max_body:
            raise Refused(413, f"a request may have at most {self.limits.max_body} bytes")

    async def _body(self, receive: Receive) -> bytes:
        """Read the whole body; it may be longer than its header says."""
        parts, size = [], 0
        while True:
            message = await receive()
            if message["type"] != "http.request":
                return b""  # the client has gone
            parts.append(message.get("body", b""))
            size += len(parts[-1])
            if size > self.limits.max_body:
                raise Refused(413, f"a request may have at most {self.limits.max_body} bytes")
            if not message.get("more_body", False):
                return b"".join(parts)


def _replayed(body: bytes, receive: Receive) -> Receive:
    """Give the body once; later calls wait for the client to go, as the original does."""
    waiting: list[Message] = [{"type": "http.request", "body": body, "more_body": False}]

    async def replay() -> Message:
        return waiting.pop() if waiting else await receive()

    return replay


def _name(host: str) -> str:
    """Host without its port.

    >>> _name("localhost:8000"), _name("[::1]:8000"), _name("evil.example")
    ('localhost', '::1', 'evil.example')
    """
    try:
        return (urlsplit(f"//{host}").hostname or "").lower()
    except ValueError:
        return ""
