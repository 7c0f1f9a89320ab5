"""Requests that wait at the same time go through the model together.

While the model works on one batch, in a thread of its own, requests queue up. Those of the oldest
one's kind (the same operation and options) become the next batch. So nobody waits for company,
and the busier the server is, the larger its batches are. The event loop stays free.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Hashable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from grale.web.limits import Limits
from grale.web.refusals import Refused

Run = Callable[[Any, list[Any]], list[Any]]
"""From a kind of request and rows to one result per row."""


@dataclass
class Job:
    """The rows of one request, and who waits for them."""

    kind: Hashable
    rows: Sequence[Any]
    answer: asyncio.Future[list[Any]]


class Batcher:
    """A queue of requests in front of one thread."""

    def __init__(self, run: Run, limits: Limits, watch: Callable[[int, int], object]) -> None:
        self.run, self.limits = run, limits
        self.watch = watch
        """Called for each batch with its number of requests and rows."""
        self.jobs: deque[Job] = deque()
        self.thread = ThreadPoolExecutor(1, thread_name_prefix="model")
        self.is_awake = asyncio.Event()
        self.worker: asyncio.Task[None] | None = None

    @property
    def waiting_rows(self) -> int:
        """Rows in the queue."""
        return sum(len(job.rows) for job in self.jobs)

    async def submit(self, kind: Hashable, rows: Sequence[Any], timeout: float) -> list[Any]:
        """Queue rows and wait for their results."""
        if self.waiting_rows + len(rows) > self.limits.max_waiting:
            raise Refused(503, "the server is busy; try again in a second")
        if self.worker is None:
            self.worker = asyncio.create_task(self._work())
        job = Job(kind, rows, asyncio.get_running_loop().create_future())
        self.jobs.append(job)
        self.is_awake.set()
        try:
            async with asyncio.timeout(timeout):
                return await job.answer
        except TimeoutError:
            raise Refused(504, f"no answer within {timeout:g} seconds; send fewer rows") from None

    async def close(self) -> None:
        """Stop working; requests that wait are told so."""
        if self.worker is not None:
            self.worker.cancel()
        for job in self.jobs:
            if not job.answer.done():
                job.answer.set_exception(Refused(503, "the server is shutting down"))
        self.thread.shutdown(wait=False, cancel_futures=True)

    async def _work(self) -> None:
        while True:
            await self.is_awake.wait()
            batch = self._next_batch()
            if not batch:
                self.is_awake.clear()
                continue
            await self._answer(batch)

    def _next_batch(self) -> list[Job]:
        """The oldest job and others of its kind; jobs that nobody waits for are dropped."""
        left = deque(job for job in self.jobs if not job.answer.done())
        batch: list[Job] = []
        others: deque[Job] = deque()
        room = self.limits.batch_rows
        while left:
            job = left.popleft()
            fits = not batch or (job.kind == batch[0].kind and len(job.rows) <= room)
            (batch if fits else others).append(job)
            room -= len(job.rows) if fits else 0
        self.jobs = others
        return batch

    async def _answer(self, batch: list[Job]) -> None:
        """Run a batch; if it fails, run its requests one by one, so that one fails alone."""
        rows = [row for job in batch for row in job.rows]
        self.watch(len(batch), len(rows))
        loop = asyncio.get_running_loop()
        try:
            results = await loop.run_in_executor(self.thread, self.run, batch[0].kind, rows)
        except Exception as error:
            if len(batch) > 1:
                for job in batch:
                    await self._answer([job])
            elif not batch[0].answer.done():
                batch[0].answer.set_exception(error)
            return
        for job in batch:
            mine, results = results[: len(job.rows)], results[len(job.rows) :]
            if not job.answer.done():
                job.answer.set_result(mine)
