"""Models that someone else made up: each is refused in one sentence, at once, without memory."""

from __future__ import annotations

from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

import pytest

from soak.counts import few_or_many
from soak.hostile import peak_after, refuse_all

pytestmark = pytest.mark.slow

MOST_SECONDS, MOST_GIGABYTES = 10.0, 0.2


@few_or_many(20, 50)
def test_a_hostile_model_is_refused_in_one_sentence(count, tiny_model, tmp_path, figure) -> None:
    tiny_model.save_pretrained(tmp_path / "whole")
    with ProcessPoolExecutor(1, get_context("spawn")) as fresh:
        found = fresh.submit(refuse_all, tmp_path / "whole", count).result()
    assert found.tried == count
    assert found.slowest < MOST_SECONDS
    assert found.more < MOST_GIGABYTES
    figure(
        f"hostile models: {found.tried}, all refused; slowest {found.slowest:.1f} s, "
        f"{found.more:.2f} GB more"
    )


def test_memory_that_a_refusal_took_would_show_in_a_process_of_its_own() -> None:
    with ProcessPoolExecutor(1, get_context("spawn")) as fresh:
        assert fresh.submit(peak_after, 500).result() > MOST_GIGABYTES
