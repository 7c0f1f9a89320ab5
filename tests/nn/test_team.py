import numpy as np
import pytest
import torch
from numba import carray, cfunc, types

from grale.nn import team
from grale.nn.attention_steps import Arguments, draw, floats


@cfunc(types.void(Arguments))
def count_jobs(arguments):
    numbers = carray(arguments, 3)
    out = carray(floats(numbers[2]), (numbers[1],))
    job = draw(arguments)
    while job < numbers[1]:
        out[job] += np.float32(1.0)
        job = draw(arguments)


@pytest.mark.parametrize("threads", [1, 2])
def test_every_job_is_done_once(threads: int) -> None:
    before = torch.get_num_threads()
    torch.set_num_threads(threads)
    try:
        done = torch.zeros(10_000)
        team.run_in_team(count_jobs, [len(done), done.data_ptr()], len(done))
    finally:
        torch.set_num_threads(before)
    assert (done == 1).all()


def test_without_the_runtime_one_thread_does_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(team, "_gnu_openmp", lambda: None)
    monkeypatch.setattr(torch, "get_num_threads", lambda: 4)
    done = torch.zeros(100)
    team.run_in_team(count_jobs, [len(done), done.data_ptr()], len(done))
    assert (done == 1).all()
