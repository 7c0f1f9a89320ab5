"""Counters of a server in the text format of Prometheus."""

from __future__ import annotations

import time

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    ProcessCollector,
    generate_latest,
)
from starlette.types import ASGIApp, Message, Receive, Scope, Send

SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
SIZES = (1, 2, 4, 8, 16, 32, 64, 128, 256)


class Metrics:
    """What a server has done so far."""

    def __init__(self) -> None:
        self.registry = CollectorRegistry()
        ProcessCollector(registry=self.registry)
        self.requests = Counter(
            "grale_requests", "Requests answered.", ["path", "status"], registry=self.registry
        )
        self.seconds = Histogram(
            "grale_request_seconds", "Time to answer.", ["path"],
            buckets=SECONDS, registry=self.registry,
        )  # fmt: skip
        self.rows = Counter(
            "grale_rows", "Rows answered.", ["path", "status"], registry=self.registry
        )
        self.batch_requests = Histogram(
            "grale_batch_requests", "Requests that went through the model together.",
            buckets=SIZES, registry=self.registry,
        )  # fmt: skip
        self.batch_rows = Histogram(
            "grale_batch_rows", "Rows that went through the model together.",
            buckets=SIZES, registry=self.registry,
        )  # fmt: skip
        self.waiting = Gauge(
            "grale_waiting_rows", "Rows that wait for the model.", registry=self.registry
        )

    def batch(self, requests: int, rows: int) -> None:
        """Count one batch."""
        self.batch_requests.observe(requests)
        self.batch_rows.observe(rows)

    def text(self) -> bytes:
        """All numbers, as Prometheus reads them."""
        return generate_latest(self.registry)


class Counted:
    """Counts each request by its route, not by what the client wrote."""

    def __init__(self, app: ASGIApp, metrics: Metrics) -> None:
        self.app, self.metrics = app, metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on and watch its answer."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        began, status = time.perf_counter(), 500

        async def watched(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self.app(scope, receive, watched)
        finally:
            path = getattr(scope.get("route"), "path", None) or "other"
            self.metrics.requests.labels(path, str(status)).inc()
            self.metrics.seconds.labels(path).observe(time.perf_counter() - began)
