"""How long an answer of `grale serve` takes with many clients at once, and how many fail.

    python benchmarks/serve_load.py [--clients 32] [--seconds 60] [--model NAME] [--url ADDRESS]

Each client sends single molecules to /encode, the next one as soon as it has its answer. Without
--url, a server is started on a free port of this machine and stopped at the end.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from http.client import HTTPConnection, HTTPException
from threading import Thread
from urllib.parse import urlsplit

STARTED = re.compile(r"listening on (http://\S+)")
ENDS = ("C", "CC", "O", "N", "CO", "Cl", "F", "C#N", "S", "CS", "Br", "OC", "CN")
PATIENCE = 300.0  # seconds
HEADERS = {"Content-Type": "application/json"}


def molecules(client: int, small: bool) -> Iterator[str]:
    """Molecules of 5 to 10 (small) or of 13 to 18 heavy atoms, without end."""
    number = client
    while True:
        number += 101
        chain = "C" * (1 + number // len(ENDS) ** 2 % 4)
        first, second = (ENDS[number // len(ENDS) ** k % len(ENDS)] for k in range(2))
        middle = f"C({first})C" if small else f"NC(=O)c1cc({first})ccc1C"
        yield f"{chain}{middle}{second}"


class Client(Thread):
    """Sends molecules one after the other, over one connection, until a time."""

    def __init__(self, address: str, number: int, until: float, small: bool) -> None:
        super().__init__(daemon=True)
        self.address, self.until = urlsplit(address), until
        self.molecules = molecules(number, small)
        self.seconds: list[float] = []
        self.failures: list[str] = []

    def run(self) -> None:
        """Measure each answer; whatever is not one row that is ok is a failure."""
        connection = HTTPConnection(
            self.address.hostname or "", self.address.port, timeout=PATIENCE
        )
        for smiles in self.molecules:
            if time.monotonic() > self.until:
                break
            began = time.perf_counter()
            try:
                connection.request("POST", "/encode", json.dumps({"graphs": [smiles]}), HEADERS)
                answer = json.loads(connection.getresponse().read())
                statuses = [row["status"] for row in answer.get("rows", [])]
                if statuses != ["ok"]:
                    self.failures.append(f"{smiles}: {str(answer)[:200]}")
            except (OSError, HTTPException, ValueError) as error:
                self.failures.append(f"{smiles}: {error!r}")
                connection.close()
            self.seconds.append(time.perf_counter() - began)
        connection.close()


def hammer(
    address: str, num_clients: int, seconds: float, small: bool = False
) -> tuple[list[float], list[str]]:
    """Seconds of all answers in order of length, and what failed."""
    until = time.monotonic() + seconds
    clients = [Client(address, number, until, small) for number in range(num_clients)]
    for client in clients:
        client.start()
    for client in clients:
        client.join()
    times = sorted(second for client in clients for second in client.seconds)
    return times, [failure for client in clients for failure in client.failures]


@contextmanager
def server(*options: str) -> Iterator[tuple[str, subprocess.Popen[str]]]:
    """`grale serve` on a free port, in a process of its own."""
    command = [sys.executable, "-m", "grale.cli", "serve", "--port", "0", *options]
    environment = os.environ | {"PYTHONUNBUFFERED": "1"}
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)
    try:
        assert process.stdout is not None
        for line in process.stdout:
            if found := STARTED.search(line):
                wait_for(found[1])
                yield found[1], process
                break
        else:
            raise RuntimeError(f"the server ended with code {process.wait()}")
    finally:
        process.terminate()
        process.wait(timeout=30)
        if process.stdout is not None:
            process.stdout.close()


def wait_for(address: str) -> None:
    """Return when the server answers; it prints its address a moment before."""
    connection = HTTPConnection(urlsplit(address).netloc, timeout=PATIENCE)
    connection.request("GET", "/health")
    connection.getresponse().read()
    connection.close()


def metric(address: str, name: str) -> float:
    """A number of /metrics without labels."""
    connection = HTTPConnection(urlsplit(address).netloc, timeout=PATIENCE)
    connection.request("GET", "/metrics")
    text = connection.getresponse().read().decode()
    connection.close()
    return float(re.findall(rf"^{name} (\S+)$", text, re.MULTILINE)[0])


def report(address: str, num_clients: int, seconds: float) -> None:
    """Print one line with the figures."""
    hammer(address, num_clients, min(5.0, seconds))  # the first passes are slower
    before = [metric(address, name) for name in WATCHED]
    times, failures = hammer(address, num_clients, seconds)
    batches, requests, cpu = (metric(address, name) - value for name, value in zip(WATCHED, before))
    p50, p95 = (times[int(share * (len(times) - 1))] for share in (0.5, 0.95))
    print(
        f"{num_clients} clients, {seconds:g} s: {len(times)} answers, {len(failures)} failures, "
        f"p50 {1000 * p50:.0f} ms, p95 {1000 * p95:.0f} ms, slowest {1000 * times[-1]:.0f} ms, "
        f"{requests / max(batches, 1):.1f} requests per pass of the model, "
        f"{cpu / seconds:.0%} of a core for the server"
    )
    for failure in failures[:5]:
        print(failure)


WATCHED = (
    "grale_batch_requests_count",
    "grale_batch_requests_sum",
    "process_cpu_seconds_total",
)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--clients", type=int, default=32)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--model")
    parser.add_argument("--url")
    given = parser.parse_args()
    if given.url:
        report(given.url, given.clients, given.seconds)
    else:
        model = ["--model", given.model] if given.model else []
        with server(*model) as (started, _):
            report(started, given.clients, given.seconds)
