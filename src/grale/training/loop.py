"""The training loop (paper: algorithm "GRALE Loss", "classic batch gradient descent").

Step s uses batch s and noise s, both pure functions of (seed, s). A step does not depend on how the
run got there, so a resumed run equals an uninterrupted one bit for bit.

Departures: batches group graphs of similar size (`grale.data.batching`).
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from dataclasses import asdict
from pathlib import Path
from typing import Any, cast

import numpy as np
import torch

from grale.catalog import load_kind
from grale.data.batching import TrainingBatch, batches_from, begun
from grale.data.pairs import first_pairs
from grale.data.sources import open_source
from grale.files import locked
from grale.training.best_model import BestModel
from grale.training.checkpoint import (
    Checkpoint,
    flatten_state,
    restore_state,
    save_checkpoint,
    usable_checkpoint,
)
from grale.training.config import RunOptions, TrainConfig
from grale.training.fabric import launched
from grale.training.failure import stop_on_bad_loss
from grale.training.new_model import new_model
from grale.training.objective import OBJECTIVES
from grale.training.optimizer import AveragedWeights, Optimizers
from grale.training.report import StepReport
from grale.training.schedule import rate_share
from grale.training.step_input import StepInput
from grale.training.stopping import StopRequest, stop_request
from grale.training.validation import Validation
from grale.training.warm_start import take_weights

TICK_SECONDS = 0.9  # so that a bar moves every second

logger = logging.getLogger(__name__)


class Trainer:
    """A model, its optimisers and its data, trained step by step."""

    def __init__(
        self, config: TrainConfig, folder: Path, options: RunOptions | None = None
    ) -> None:
        self.config, self.folder = config, folder
        self.options = options or RunOptions()
        self.max_minutes = self.options.max_minutes
        self._refuse_used_folder()
        self._goes_on = self._has_something_to_go_on_from()
        self.fabric = launched(self.options)
        self.source = open_source(config.data)
        torch.manual_seed(config.seed)
        self.model = new_model(config, self.source)
        if config.start_from is not None and not self._goes_on:
            take_weights(self.model, load_kind(config.architecture, config.start_from))
        self.model.recompute_activations(self.options.recompute_activations)
        self.kind = OBJECTIVES[config.objective]
        objective = self.kind(self.model, config)
        self.optimizers = Optimizers(self.model, config.optimizer)
        self.average = AveragedWeights(self.model, config.optimizer.ema_decay)
        self.step, self.seconds = 0, 0.0
        self.best = BestModel(config.patience, self.fabric.world_size)
        compiled: torch.nn.Module = objective
        if self.options.compile:
            compiled = cast(torch.nn.Module, torch.compile(objective))
        self.objective, *_ = self.fabric.setup(compiled, *self.optimizers.parts)
        if self._goes_on:
            self._restore()
        self.average.to(self.fabric.device)

    @property
    def progress(self) -> float:
        """Share of the run that is done, by steps or by time, whichever is further."""
        by_steps = self.step / self.config.max_steps
        minutes = self.max_minutes
        return max(by_steps, self.seconds / (60 * minutes) if minutes else 0.0)

    def run(
        self,
        report: Callable[[StepReport], None],
        tick: Callable[[StepReport], None] | None = None,
    ) -> Any:
        """Train to the end; save and return the model, or prior, with averaged weights.

        `report` gets every `log_every`-th step, `tick` the last step about once a second. If asked
        to stop (SIGTERM, Ctrl-C), the run writes a checkpoint after its step and ends.
        """
        alone = locked(self.folder) if self.fabric.is_global_zero else nullcontext()
        with alone, stop_request() as request:
            self._refuse_changed_folder()
            model = self._run(report, request, tick)
            if self.fabric.is_global_zero:
                self.kind.save(model, self.folder)
            return model

    def _run(
        self,
        report: Callable[[StepReport], None],
        request: StopRequest,
        tick: Callable[[StepReport], None] | None,
    ) -> Any:
        config = self.config
        self.folder.mkdir(parents=True, exist_ok=True)  # from here on, a killed run can be resumed
        batches, held_out = self._batches(), self._held_out()
        mark = saved = time.perf_counter()
        graphs, ticked = 0, 0.0
        while self.progress < 1:
            begin = time.perf_counter()
            values = self._train_step(next(batches))
            self.step += 1
            graphs += config.batch_size
            self.seconds += self._agreed(time.perf_counter() - begin)
            is_last = self.progress >= 1
            if tick is not None and time.perf_counter() - ticked > TICK_SECONDS:
                ticked, own = time.perf_counter(), {n: v.item() for n, v in values.items()}
                tick(StepReport(self.step, self.progress, own, graphs / (ticked - mark)))
            is_due = self._agreed(time.perf_counter() - saved) > 60 * self.options.save_minutes
            asked = 0 if is_last else self._any_of(request.signal)
            if is_last or is_due or asked or self.step % self.options.save_every == 0:
                self.save()
                saved = time.perf_counter()
            if asked:
                logger.warning("stopped at step %d; --resume continues from here", self.step)
                request.obey(asked)
            validates = is_last or self.step % config.validate_every == 0
            if validates or self.step % config.log_every == 0:
                rate = graphs / (time.perf_counter() - mark)
                scores = self._validate(held_out) if validates else None
                report(StepReport(self.step, self.progress, self._read(values), rate, scores))
                mark, graphs = time.perf_counter(), 0
                if scores is not None and self.best.gives_up_after(scores, self.averaged_model):
                    break
        return self.best.model or self.averaged_model()

    def _batches(self) -> Iterator[TrainingBatch]:
        """All batches from this step on; the first one is made before the clock starts."""
        config = self.config
        batches = batches_from(
            self.source,
            config.batch_size,
            config.seed,
            self.step,
            self.fabric.global_rank,
            self.fabric.world_size,
            self.kind.groups_by_size and self.model.groups_by_size,
            config.data.size_power,
            config.data.balanced_share,
        )
        return begun(batches) if self.progress < 1 else batches

    def _train_step(self, batch: TrainingBatch) -> dict[str, torch.Tensor]:
        """Take one step; the returned tensors stay on the device until they are read."""
        config = self.config
        self.objective.train()
        seed = noise_seed(config.seed, self.step)
        torch.manual_seed(seed)  # for models with dropout
        generator = torch.Generator().manual_seed(seed)
        noise = self.model.draw_noise(config.batch_size, generator)[batch.places]
        values = self.objective(StepInput.of(batch, noise, self.fabric.device))
        self.fabric.backward(values["loss"])
        norm = torch.nn.utils.clip_grad_norm_(
            self.model.parameters(), config.optimizer.clip_norm or float("inf")
        )
        if not bool((values["loss"] + norm).isfinite()):
            stop_on_bad_loss(values["loss"], self.model, batch, noise, self._failure_folder)
        has_budget = self.max_minutes is not None
        self.optimizers.step(rate_share(self.step, self.progress, config.optimizer, has_budget))
        self.average.update(self.model, self.step)
        return {name: value.detach() for name, value in values.items()}

    def _read(self, values: dict[str, torch.Tensor]) -> dict[str, float]:
        """Mean over all processes, as plain numbers."""
        if self.fabric.world_size > 1:
            means = self.fabric.all_reduce(values, reduce_op="mean")
            values = cast(dict[str, torch.Tensor], means)
        return {name: value.item() for name, value in values.items()}

    def averaged_model(self) -> Any:
        """Return a copy of the model with the averaged weights."""
        model = new_model(self.config, self.source).to(self.fabric.device)
        model.load_state_dict(self.model.state_dict())
        self.average.copy_to(model)
        return model.eval()

    def save(self) -> None:
        """Write a checkpoint; one process does it, the others wait."""
        if self.fabric.is_global_zero:
            names = [name for name, _ in self.model.named_parameters()]
            tensors = {
                "weights": dict(self.model.state_dict()),
                "average": dict(zip(names, self.average.weights)),
                "optimizer": flatten_state(self.optimizers.parts),
            }
            state = {
                "step": self.step,
                "seconds": self.seconds,
                "max_minutes": self.max_minutes,
                "config": asdict(self.config),
            }
            save_checkpoint(self._checkpoints, Checkpoint(tensors, state), self.options.keep)
        self.fabric.barrier()

    @property
    def _checkpoints(self) -> Path:
        return self.folder / "checkpoints"

    def _restore(self) -> None:
        checkpoint = usable_checkpoint(self._checkpoints)
        self.config.check_same_run(checkpoint.state["config"])
        self.model.load_state_dict(checkpoint.tensors["weights"])
        self.average.load(self.model, checkpoint.tensors["average"])
        restore_state(self.optimizers.parts, checkpoint.tensors["optimizer"])
        self.step, self.seconds = checkpoint.state["step"], checkpoint.state["seconds"]
        if self.max_minutes is None:
            self.max_minutes = checkpoint.state["max_minutes"]

    def _refuse_used_folder(self) -> None:
        if not self.options.resume and any(self._checkpoints.glob("step-*")):
            usable_checkpoint(self._checkpoints)  # otherwise --resume would not help
            raise FileExistsError(
                f"{self._checkpoints} holds checkpoints of another run; "
                "add --resume to continue it, or choose another --out"
            )

    def _refuse_changed_folder(self) -> None:
        """Raise if another run has written checkpoints here since this one was set up."""
        known = f"step-{self.step:09d}"
        if any(path.name > known for path in self._checkpoints.glob("step-*")):
            raise FileExistsError(
                f"another run has written checkpoints to {self._checkpoints} in the meantime; "
                "add --resume to continue it, or choose another --out"
            )

    def _has_something_to_go_on_from(self) -> bool:
        """Whether to resume; a run killed before its first checkpoint starts again."""
        if not self.options.resume:
            return False
        if self.folder.is_dir() and not any(self._checkpoints.glob("step-*")):
            logger.warning("%s has no checkpoint yet: starting at step 0", self.folder)
            return False
        return True

    def _held_out(self) -> Any:
        """Graphs or pairs to evaluate on, read at the start: errors in them show at once."""
        if not self.fabric.is_global_zero:
            return []
        config = self.config
        if self.kind.uses_inputs:
            return first_pairs(Path(str(config.data.path)) / "valid", config.num_validation)
        return self.source.held_out(config.num_validation)

    def _validate(self, graphs: Any) -> Validation | None:
        if not self.fabric.is_global_zero:
            return None
        return self.kind.validate(self.averaged_model(), graphs)

    @property
    def _failure_folder(self) -> Path:
        return self.folder / f"bad-loss-step-{self.step:09d}-rank-{self.fabric.global_rank}"

    def _agreed(self, seconds: float) -> float:
        """Time as the first process measures it, so that all processes stop together."""
        return seconds if self.fabric.world_size == 1 else float(self.fabric.broadcast(seconds))

    def _any_of(self, signal: int) -> int:
        """Return a signal that any process has received, so that all stop together."""
        if self.fabric.world_size == 1:
            return signal
        found = self.fabric.all_reduce(torch.tensor(signal), reduce_op="max")
        return int(cast(torch.Tensor, found))


def noise_seed(seed: int, step: int) -> int:
    """Seed of the noise of one step."""
    return int(np.random.SeedSequence([seed, step]).generate_state(1, np.uint64)[0]) >> 1
