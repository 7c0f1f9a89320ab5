"""Run a compiled function on torch's own team of threads.

A second pool of threads would compete with torch's for the same cores: OpenMP's threads keep
spinning for a while after each operation. So the function is passed to the OpenMP runtime that
torch has loaded. If there is no such runtime, one thread does all the work.
"""

from __future__ import annotations

import ctypes
from collections.abc import Sequence
from functools import cache
from typing import Any

import torch


@cache
def _gnu_openmp() -> Any:
    """Entry point `GOMP_parallel` of the runtime that the process has loaded, or None.

    GNU's runtime has it, and so do others, for programs compiled for GNU's.
    """
    try:
        start = ctypes.CDLL(None).GOMP_parallel
    except (AttributeError, OSError, TypeError):  # TypeError: a process without such a handle
        return None
    start.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_uint, ctypes.c_uint]
    start.restype = None
    return start


def run_in_team(function: Any, arguments: Sequence[int], num_jobs: int) -> None:
    """Call a numba cfunc of one pointer, once or in parallel.

    The pointer leads to int64 numbers: first a counter of jobs that starts at 0, from which every
    thread takes its next job until none are left, then `arguments`.
    """
    numbers = (ctypes.c_int64 * (1 + len(arguments)))(0, *arguments)
    num_threads = min(torch.get_num_threads(), num_jobs)
    start = _gnu_openmp() if num_threads > 1 else None
    if start is None:
        function.ctypes(numbers)
    else:
        start(function.address, numbers, num_threads, 0)
