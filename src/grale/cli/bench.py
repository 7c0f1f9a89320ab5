"""`grale bench`: speed and memory of training and encoding, compared with the authors'."""

from __future__ import annotations

import subprocess
import sys
from itertools import chain
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from grale.experiments.bench import What

bench = typer.Typer(help="Measure speed and memory of training and encoding.", no_args_is_help=True)

# A new process per number: peak memory is measured over the whole life of a process.
_SCALING = """
import sys
from grale.experiments.bench import step_at
from grale.experiments.memory import peak_memory
seconds = step_at(int(sys.argv[1]), sys.argv[2] == "1", sys.argv[3] == "1")
print(seconds, peak_memory())
"""
_MEMORY = """
import sys
from grale.cli.terminal import keep_freed_memory, show
from grale.experiments.bench import SETTINGS, measure
from grale.experiments.memory import peak_memory
keep_freed_memory()
number, what, recompute = sys.argv[1:]
measure(SETTINGS[int(number)], what, rounds=1, recompute=recompute == "1")
print(peak_memory())
"""

Rounds = Annotated[int, typer.Option(min=1, help="Rounds; the best counts.")]


@bench.command()
def train(
    rounds: Rounds = 3,
    recompute: bool = typer.Option(False, help="Recompute activations to save memory."),
) -> None:
    """Time per graph of a training step at the paper's three sizes."""
    _compare("train", rounds, recompute)


@bench.command()
def encode(rounds: Rounds = 3) -> None:
    """Time per graph of encoding at the paper's three sizes."""
    _compare("encode", rounds)


@bench.command()
def scaling(
    max_nodes: int = typer.Option(256, min=8, help="Largest graph."),
    own: bool = typer.Option(False, "--own", help="Batches and widths of `grale fit` instead."),
) -> None:
    """Time and memory of a gradient step as graphs grow: one graph, or a batch of `grale fit`."""
    from grale.cli.terminal import counting, show

    rows = [["N", "seconds", "memory, GB", "seconds, recomputed", "memory, GB, recomputed"]]
    sizes = [8 * 2**power for power in range(6) if 8 * 2**power <= max_nodes]
    with counting("sizes", len(sizes)) as advance:
        for size in sizes:
            cells = (_scaling_cells(size, recompute, own) for recompute in ("0", "1"))
            rows.append([str(size), *chain.from_iterable(cells)])
            advance(1)
    batch = "batches and widths of grale fit" if own else "batch 1, PUBCHEM 32 widths"
    show(f"one gradient step, {batch}", rows)


def _scaling_cells(size: int, recompute: str, own: bool) -> list[str]:
    try:
        found = _in_new_process(_SCALING, str(size), recompute, str(int(own)))
        return [f"{value:.2f}" for value in found]
    except ValueError:
        return ["-", "does not fit"]


def _compare(what: What, rounds: int, recompute: bool = False) -> None:
    from grale.cli.terminal import counting, keep_freed_memory, show
    from grale.experiments.bench import SETTINGS, measure

    keep_freed_memory()
    rows = [["", "batch", "graphs/s", "yardsticks/graph", "authors", "ratio", "peak memory, GB"]]
    with counting(what, len(SETTINGS)) as advance:
        for number, setting in enumerate(SETTINGS):
            speed = measure(setting, what, rounds, recompute=recompute)
            authors = setting.authors_encode if what == "encode" else setting.authors_train
            (memory,) = _in_new_process(_MEMORY, str(number), what, str(int(recompute)))
            rows.append([
                setting.name, str(setting.batch_size), f"{speed.graphs_per_second:.0f}",
                f"{speed.yardsticks:.2f}", *_beside(authors, speed.yardsticks),
                f"{memory:.2f}",
            ])  # fmt: skip
            advance(1)
    show(f"{what} (one yardstick: a 1024^3 float32 product)", rows)


def _in_new_process(code: str, *arguments: str) -> list[float]:
    command = [sys.executable, "-c", code, *arguments]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    if result.returncode:
        reason = result.stderr.strip().splitlines()
        raise ValueError(f"the measurement failed: {reason[-1] if reason else 'killed'}")
    return [float(value) for value in result.stdout.split()]


def _beside(authors: float | None, ours: float) -> tuple[str, str]:
    """The authors' number, if they have one, and how many times faster ours is."""
    return ("-", "-") if authors is None else (f"{authors:g}", f"{authors / ours:.1f}x")
