"""Requests that wait together are run together, and fail alone."""

from __future__ import annotations

import asyncio
import threading

import pytest

from grale.web.batcher import Batcher
from grale.web.limits import Limits
from grale.web.refusals import Refused


class Model:
    """Doubles numbers, once it is let go; keeps what it was asked."""

    def __init__(self) -> None:
        self.gate = threading.Event()
        self.calls: list[tuple[str, list[int]]] = []

    def __call__(self, kind: str, rows: list[int]) -> list[int]:
        self.gate.wait(10)
        self.calls.append((kind, rows))
        if 13 in rows:
            raise ArithmeticError("13")
        return [2 * row for row in rows]


def run(jobs, **limits):
    """Submit jobs while the first is running; results in order, and the calls of the model."""
    model, batches = Model(), []

    async def main():
        batcher = Batcher(
            model, Limits(**limits), lambda requests, rows: batches.append((requests, rows))
        )
        first = asyncio.create_task(batcher.submit("double", [0], 10))
        await asyncio.sleep(0.05)
        tasks = [asyncio.create_task(batcher.submit(kind, rows, 10)) for kind, rows in jobs]
        await asyncio.sleep(0.05)
        model.gate.set()
        results = await asyncio.gather(first, *tasks, return_exceptions=True)
        await batcher.close()
        return results

    return asyncio.run(main()), model.calls, batches


def test_requests_that_wait_become_one_pass_and_get_their_own_rows() -> None:
    results, calls, batches = run([("double", [1, 2]), ("double", [3]), ("double", [])])
    assert results == [[0], [2, 4], [6], []]
    assert calls == [("double", [0]), ("double", [1, 2, 3])]
    assert batches == [(1, 1), (3, 3)]


def test_requests_of_another_kind_are_not_joined() -> None:
    _, calls, _ = run([("double", [1]), ("other", [2]), ("double", [3])])
    assert calls[1:] == [("double", [1, 3]), ("other", [2])]


def test_a_pass_has_a_limit_but_a_large_request_is_still_answered() -> None:
    results, calls, _ = run(
        [("double", [1] * 3), ("double", [2] * 2), ("double", [3])], batch_rows=4
    )
    assert calls[1:] == [("double", [1, 1, 1, 3]), ("double", [2, 2])]
    results, _, _ = run([("double", list(range(9)))], batch_rows=4)
    assert results[1] == [2 * number for number in range(9)]


def test_a_request_that_breaks_a_pass_fails_alone() -> None:
    results, _, _ = run([("double", [1]), ("double", [13]), ("double", [3])])
    assert [results[1], results[3]] == [[2], [6]]
    assert isinstance(results[2], ArithmeticError)


def test_a_request_beyond_the_queue_is_told_to_come_back() -> None:
    results, _, _ = run([("double", [1, 2, 3]), ("double", [4, 5])], max_waiting=4)
    assert results[1] == [2, 4, 6]
    assert isinstance(results[2], Refused)
    assert results[2].status == 503


def test_the_event_loop_stays_free_while_the_model_works() -> None:
    model, ticks = Model(), 0

    async def main() -> None:
        nonlocal ticks
        batcher = Batcher(model, Limits(), lambda *_: None)
        task = asyncio.create_task(batcher.submit("double", [1], 10))
        for _ in range(20):
            await asyncio.sleep(0.001)
            ticks += 1
        assert not task.done()
        model.gate.set()
        assert await task == [2]
        await batcher.close()

    asyncio.run(main())
    assert ticks == 20


def test_a_request_that_gave_up_is_not_run() -> None:
    model = Model()

    async def main() -> None:
        batcher = Batcher(model, Limits(), lambda *_: None)
        first = asyncio.create_task(batcher.submit("double", [1], 10))
        await asyncio.sleep(0.02)
        with pytest.raises(Refused) as refused:
            await batcher.submit("double", [2], 0.02)
        assert refused.value.status == 504
        model.gate.set()
        assert await first == [2]
        await batcher.close()

    asyncio.run(main())
    assert model.calls == [("double", [1])]
