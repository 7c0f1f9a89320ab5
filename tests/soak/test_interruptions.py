"""Kills at random moments, and runs that race for one output: the result is what it should be."""

from __future__ import annotations

import csv
import os
import shutil
import time

import pytest

from soak.counts import few_or_many
from soak.jobs import BUSY, contents, in_child, jobs, killed

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore:This process:DeprecationWarning"),  # it forks
]
JOBS = ("embed", "train", "prepare", "generate")  # each has its share of the kills and races
MOST_KILLS = 5  # before a run is let through


@few_or_many(4, 200)
@pytest.mark.parametrize("name", JOBS)
def test_a_job_that_was_killed_ends_with_the_same_bytes(
    name, count, molecule_model, tmp_path, rng, figure
) -> None:
    job = jobs(molecule_model, tmp_path / "in")[name]
    out = tmp_path / "work" / "out.parquet"
    job.run(out, 0)  # once to have everything imported and compiled
    shutil.rmtree(out.parent)
    began = time.monotonic()
    job.run(out, 0)
    takes = time.monotonic() - began
    expected = contents(job, out)
    assert expected
    at_work, kills, wanted = 0, 0, -(-count // len(JOBS))
    while kills < wanted:
        shutil.rmtree(out.parent)
        for _ in range(min(int(rng.integers(1, MOST_KILLS + 1)), wanted - kills)):
            at_work += killed(lambda: job.run(out, 0), rng.uniform(0, 1.2 * takes))
            kills += 1
        job.run(out, 0)
        assert contents(job, out) == expected
        left = [path.name for path in out.parent.iterdir()]
        assert left == [out.name]
        if name == "train":
            lines = (out / "metrics.csv").read_text().splitlines()
            steps = [row["step"] for row in csv.DictReader(lines)]
            assert len(steps) == len(set(steps))
    figure(f"kills, {name}: {kills}, of which {at_work} hit it at work; all ends byte-equal")
    assert count < 50 or at_work > kills // 3


@few_or_many(4, 50)
@pytest.mark.parametrize("name", JOBS)
def test_two_jobs_that_race_for_one_output_never_mix(
    name, count, molecule_model, tmp_path, rng, figure
) -> None:
    job = jobs(molecule_model, tmp_path / "in")[name]
    out = tmp_path / "work" / "out.parquet"
    expected = []
    for seed in range(2):
        job.run(out, seed)
        expected.append(contents(job, out))
        shutil.rmtree(out.parent)
    assert expected[0] != expected[1]
    refused = 0
    races = -(-count // len(JOBS))
    for race in range(races):
        seeds = (0, race % 2)  # the same input, or another
        codes = _raced(job, out, seeds, rng.uniform(0, 0.3))
        winners = [seed for seed, code in zip(seeds, codes) if code == 0]
        refused += codes.count(BUSY)
        assert winners, codes
        assert contents(job, out) in [expected[seed] for seed in winners]
        assert [path.name for path in out.parent.iterdir()] == [out.name]
        shutil.rmtree(out.parent)
    figure(f"races, {name}: {races}, in {refused} one run was told to wait; nothing mixed")


def _raced(job, out, seeds, later) -> list[int]:
    """Exit codes of two runs, the second a little later."""
    children = []
    for seed in seeds:
        children.append(in_child(lambda seed=seed: job.run(out, seed)))
        time.sleep(later)
    return [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]
