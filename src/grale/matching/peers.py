"""The solvers that the paper compares with, from pygmtools (paper: table on graph matching).

SM, RRWM and IPFP run for a fixed number of iterations; A* may never end. With a time limit, a call
runs in another process, which is kept for the next call, and killed at the limit.

Departures: default parameters of pygmtools 0.6, whose A* is not exact.
"""

from __future__ import annotations

import atexit
import multiprocessing
from functools import lru_cache
from multiprocessing.connection import Connection
from typing import Any

import numpy as np
from scipy.optimize import linear_sum_assignment

from grale.graphs.graph import Graph, IntArray
from grale.matching.affinity import affinity
from grale.matching.problem import inverse

SOLVERS = ("sm", "rrwm", "ipfp", "astar", "greedy-astar")


def solve_by_peer(g1: Graph, g2: Graph, name: str, time_limit: float | None) -> IntArray:
    """Map `g1` to `g2` by a solver of pygmtools; raise TimeoutError at the limit."""
    if g1.num_nodes > g2.num_nodes:
        return inverse(solve_by_peer(g2, g1, name, time_limit), g1.num_nodes)
    find_pygmtools(name)
    matrix = affinity(g1, g2)
    shape = g1.num_nodes, g2.num_nodes
    if time_limit is None:
        return assign(run_solver(matrix, shape, name))
    return assign(start_worker().run(matrix, shape, name, time_limit))


def find_pygmtools(name: str) -> Any:
    """Import pygmtools, or say how to get it."""
    try:
        import pygmtools
    except ImportError as error:
        message = f"{name} comes with pygmtools: pip install 'grale[solvers]'"
        raise ImportError(message) from error
    return pygmtools


def run_solver(matrix: np.ndarray, shape: tuple[int, int], name: str) -> np.ndarray:
    """Soft or hard assignment matrix of one solver, in this process."""
    import torch

    pygmtools = find_pygmtools(name)
    pygmtools.set_backend("pytorch")
    k, (n1, n2) = torch.from_numpy(matrix), shape
    if name in ("astar", "greedy-astar"):
        found = pygmtools.astar(k, n1, n2, beam_width=0 if name == "astar" else 1)
    else:
        found = getattr(pygmtools, name)(k, n1, n2)
    return np.asarray(found.detach().numpy(), dtype=np.float64)


def assign(soft: np.ndarray) -> IntArray:
    """Best assignment of all rows, even where A* leaves a row empty or SM gives NaN."""
    rows, columns = linear_sum_assignment(-np.nan_to_num(soft))  # SM divides zero by zero
    mapping = np.empty(len(soft), dtype=np.int64)
    mapping[rows] = columns
    return mapping


class _Worker:
    """A process that runs solvers, one call at a time."""

    def __init__(self) -> None:
        context = multiprocessing.get_context("spawn")
        self.here, there = context.Pipe()
        self.process = context.Process(target=_serve, args=(there,), daemon=True)
        self.process.start()
        there.close()  # so that this side notices when the process ends
        atexit.register(self.close)
        self._receive()  # wait until it is ready, so that the start counts for no call

    def run(self, matrix: np.ndarray, shape: tuple[int, int], name: str, limit: float) -> Any:
        """Result of one call, or TimeoutError after `limit` seconds."""
        try:
            self.here.send((matrix, shape, name))
            if not self.here.poll(limit):
                raise TimeoutError(
                    f"{name} took longer than {limit:g} s on graphs of {shape} nodes"
                )
            result = self._receive()
        except BaseException:  # it may still be working on this call: start a new one next time
            self.close()
            start_worker.cache_clear()
            raise
        if isinstance(result, Exception):
            raise result
        return result

    def _receive(self) -> Any:
        try:
            return self.here.recv()
        except EOFError as error:
            raise RuntimeError(
                "the solver process ended (out of memory?); in a script, call solve under "
                "`if __name__ == '__main__':`, or without a time limit"
            ) from error

    def close(self) -> None:
        """End the process."""
        atexit.unregister(self.close)
        self.process.kill()
        self.process.join()
        self.here.close()


@lru_cache(maxsize=1)
def start_worker() -> _Worker:
    """Start the solver process, or return the running one."""
    return _Worker()


def _serve(pipe: Connection) -> None:
    import torch

    torch.set_num_threads(1)
    run_solver(np.eye(4, dtype=np.float32), (2, 2), "sm")  # imports everything
    pipe.send("ready")
    while True:
        try:
            arguments = pipe.recv()
        except EOFError:
            return
        try:
            pipe.send(run_solver(*arguments))
        except Exception as error:  # whatever it is, the caller should see it
            pipe.send(error)
