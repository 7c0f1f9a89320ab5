"""Jobs that may be killed or raced: embed, train, prepare, generate; each of about a second."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable
from copy import deepcopy
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from grale.codec.sample import SampleOptions
from grale.data.molecules.files import open_molecules
from grale.data.molecules.prepare import PrepareConfig, prepare
from grale.files import BusyError
from grale.model.autoencoder import GRALE
from grale.settings.files import load_settings
from grale.tasks.embed import EmbedConfig, embed_file
from grale.tasks.generate import GenerateConfig, generate_file
from grale.training.config import RunOptions, TrainConfig
from grale.training.logs import CsvLog
from grale.training.loop import StepReport, Trainer
from prior.still_prior import still_prior

BUSY = 3
ROWS = [f"{'C' * (number % 7 + 1)}{end}" for number in range(60) for end in ("", "O", "N", "x")]


@dataclass(frozen=True)
class Job:
    """Something that can be started again until it is done."""

    run: Callable[[Path, int], object]
    """Takes the output and a seed: another seed is another input."""
    results: Callable[[Path], list[Path]]
    """Files that must be the same, whatever happened on the way."""


def jobs(model: GRALE, folder: Path) -> dict[str, Job]:
    """The jobs, with inputs in `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    sources = []
    for seed in range(2):
        rows = np.random.default_rng(seed).permutation(ROWS)
        path = folder / f"in-{seed}.csv"
        path.write_text("smiles\n" + "".join(f"{row}\n" for row in rows))
        sources.append(open_molecules(path))

    def embed(out: Path, seed: int) -> None:
        embed_file(model, "tiny", sources[seed], out, EmbedConfig(shard_rows=20, batch_size=20))

    def ready(out: Path, seed: int) -> None:
        prepare([sources[seed]], out, PrepareConfig(max_atoms=16, test_share=0.2, shard_rows=5))

    generative = deepcopy(model)  # others use the model, and it has no prior
    generative.use_prior(still_prior(generative, "CCO"))

    def draw(out: Path, seed: int) -> None:
        options = SampleOptions(seed=seed, steps=2, batch_size=20)
        generate_file(generative, "tiny", out, GenerateConfig(count=100, options=options))

    return {
        "embed": Job(embed, lambda out: [out]),
        "generate": Job(draw, lambda out: [out]),
        "train": Job(_train, lambda out: [out / "model.safetensors", out / "config.json"]),
        "prepare": Job(ready, lambda out: sorted(out.rglob("*.parquet"))),
    }


def _train(out: Path, seed: int) -> None:
    out.mkdir(parents=True, exist_ok=True)
    config = replace(load_settings(TrainConfig, "smoke"), seed=seed, log_every=1)
    trainer = Trainer(config, out, RunOptions(accelerator="cpu", resume=True, save_every=1))
    log = CsvLog(out, trainer.step)

    def write(report: StepReport) -> None:
        log.write(report.step, report.values)

    trainer.run(write)
    log.close()


def in_child(run: Callable[[], object]) -> int:
    """Start a child that runs; it exits with 0, or with BUSY where the output is another's."""
    child = os.fork()
    if child:
        return child
    code = 1
    try:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)
        run()
        code = 0
    except BusyError:
        code = BUSY
    finally:
        os._exit(code)


def killed(run: Callable[[], object], after: float) -> bool:
    """Start a child and kill it; whether it was still at work."""
    child = in_child(run)
    time.sleep(after)
    os.kill(child, signal.SIGKILL)
    return os.WIFSIGNALED(os.waitpid(child, 0)[1])


def contents(job: Job, out: Path) -> dict[str, bytes]:
    """Results by their place below the output."""
    return {str(path.relative_to(out)): path.read_bytes() for path in job.results(out)}
