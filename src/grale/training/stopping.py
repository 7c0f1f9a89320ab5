"""Asking a run to stop: it finishes its step, writes a checkpoint and ends.

Clusters send SIGTERM before they reclaim a machine; people press Ctrl-C. A second Ctrl-C stops the
run at once.
"""

from __future__ import annotations

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType
from typing import Any, NoReturn


class StopRequest:
    """Whether the run was asked to stop, and by which signal."""

    def __init__(self) -> None:
        self.signal = 0

    def __call__(self, number: int, frame: FrameType | None) -> None:
        """Remember the signal; a second Ctrl-C ends the run at once."""
        if self.signal and number == signal.SIGINT:
            raise KeyboardInterrupt
        self.signal = number

    def obey(self, number: int) -> NoReturn:
        """End the program as the signal would have."""
        if number == signal.SIGINT:
            raise KeyboardInterrupt
        raise SystemExit(128 + number)


@contextmanager
def stop_request() -> Iterator[StopRequest]:
    """Listen to SIGTERM and SIGINT inside the block; only the main thread can."""
    request = StopRequest()
    before: dict[signal.Signals, Any] = {}
    if threading.current_thread() is threading.main_thread():
        for number in (signal.SIGTERM, signal.SIGINT):
            before[number] = signal.signal(number, request)
    try:
        yield request
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
