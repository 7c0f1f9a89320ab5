"""Progress: rate and time left also where steps are minutes apart."""

from __future__ import annotations

from rich.progress import Progress

from grale.cli.terminal import RateColumn, TimeLeftColumn


def test_rate_and_time_left_are_those_since_the_start() -> None:
    now = [0.0]
    progress = Progress(get_time=lambda: now[0])
    number = progress.add_task("embedding", total=100_000)
    (task,) = progress.tasks
    assert str(TimeLeftColumn().render(task)) == "-:--:--"
    for _ in range(2):
        now[0] += 60.0
        progress.advance(number, 20_000)
    assert str(TimeLeftColumn().render(task)) == "0:03:00"
    assert str(RateColumn().render(task)) == "333/s"
