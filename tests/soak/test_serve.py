"""`grale serve` under load for a long time: no failures, no growing memory, an orderly end."""

from __future__ import annotations

import signal

import pytest

from serving import load_test
from soak.counts import few_or_many

pytestmark = pytest.mark.slow
MOST_MORE = 0.25  # GB
CLIENTS = 32
WARM = 5.0  # seconds at most


@few_or_many(1, 600)
def test_a_server_answers_many_clients_for_long_without_growing(
    count, molecule_model, tmp_path, figure
) -> None:
    load = load_test()
    molecule_model.save_pretrained(tmp_path / "tiny")
    options = ("--model", str(tmp_path / "tiny"), "--timeout", "300")
    with load.server(*options) as (address, process):
        load.hammer(address, CLIENTS, min(WARM, count), small=True)
        before = load.metric(address, "process_resident_memory_bytes") / 1e9
        times, failures = load.hammer(address, CLIENTS, float(count), small=True)
        after = load.metric(address, "process_resident_memory_bytes") / 1e9
        process.send_signal(signal.SIGINT)
        assert process.wait(timeout=300) == 0
    p95 = times[int(0.95 * (len(times) - 1))]
    figure(
        f"serve: {CLIENTS} clients for {count} s, {len(times)} answers, {len(failures)} failures, "
        f"p95 {p95:.2f} s, {before:.2f} GB before and {after:.2f} GB after"
    )
    assert failures == []
    assert after - before < MOST_MORE
