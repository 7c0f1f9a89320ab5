"""The training loop (paper: algorithm "GRALE Loss", "classic batch gradient descent").

Step s sees batch s and noise s, both pure functions of (seed, s): what happens at a step does
not depend on how the run got there.

Departures: batches group graphs of similar size (`grale.data.batching`).
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import torch

from grale.data.batching import PoolOrder, order_pool
from grale.data.sources import ColoringSource, open_source
from grale.graphs.batch import GraphBatch
from grale.metrics.local_search import ReconstructionReport
from grale.model.autoencoder import GRALE
from grale.training.config import TrainConfig
from grale.training.evaluation import evaluate
from grale.training.optimizer import AveragedWeights, Optimizers
from grale.training.schedule import rate_share


@dataclass(frozen=True)
class StepReport:
    """What happened in the last few steps."""

    step: int
    progress: float
    """Share of the run that is done."""
    loss: float
    terms: dict[str, float]
    marginal_error: float
    graphs_per_second: float
    validation: ReconstructionReport | None = None


class Trainer:
    """A model, its optimisers and its data, moved forward step by step."""

    def __init__(self, config: TrainConfig, max_minutes: float | None = None) -> None:
        self.config, self.max_minutes = config, max_minutes
        self.source: ColoringSource = open_source(config.data)
        torch.manual_seed(config.seed)
        self.model = GRALE(self.source.space, config.model)
        self.optimizers = Optimizers(self.model, config.optimizer)
        self.average = AveragedWeights(self.model, config.optimizer.ema_decay)
        self.step = 0
        self.seconds = 0.0

    @property
    def progress(self) -> float:
        """Share of the run that is done, by steps or by time, whichever is further."""
        by_steps = self.step / self.config.max_steps
        by_time = self.seconds / (60 * self.max_minutes) if self.max_minutes else 0.0
        return max(by_steps, by_time)

    def run(self, report: Callable[[StepReport], None]) -> GRALE:
        """Train to the end; return the model with averaged weights."""
        config = self.config
        held_out = self.source.held_out(config.num_validation)
        batches = self._batches()
        started, since_report = time.perf_counter(), 0
        while self.progress < 1:
            begin = time.perf_counter()
            batch = next(batches)
            outcome = self._train_step(batch)
            self.step += 1
            since_report += len(batch)
            self.seconds += time.perf_counter() - begin
            is_last = self.progress >= 1
            validates = self.step % config.validate_every == 0 or is_last
            if self.step % config.log_every == 0 or validates:
                elapsed = time.perf_counter() - started
                scores = self.evaluate(held_out) if validates else None
                rate = since_report / elapsed
                report(StepReport(self.step, self.progress, *outcome(), rate, scores))
                started, since_report = time.perf_counter(), 0
        return self.averaged_model()

    def _train_step(self, graphs: GraphBatch) -> Callable[[], tuple[float, dict[str, float], float]]:
        config = self.config
        self.model.train()
        generator = torch.Generator().manual_seed(hash((config.seed, self.step)) & (2**63 - 1))
        noise = self.model.featurizer.draw_noise(len(graphs), generator)
        result = self.model(graphs, noise)
        loss = result.terms.total(config.model.loss)
        loss.backward()
        if config.optimizer.clip_norm:
            torch.nn.utils.clip_grad_norm_(self.model.parameters(), config.optimizer.clip_norm)
        self.optimizers.step(rate_share(self.step, self.progress, config.optimizer))
        self.average.update(self.model, self.step)
        return lambda: (float(loss), result.terms.means(), float(result.marginal_error.max()))

    def _batches(self) -> Iterator[GraphBatch]:
        """Batches from the current step on."""
        pool_number, position = 0, self.step
        while True:
            pool = self.source.training_pool(pool_number)
            order: PoolOrder = order_pool(
                pool.num_nodes, self.config.batch_size, self.config.seed, pool_number
            )
            for rows in order.batches[position:]:
                yield pool.batch(rows)
            position = max(0, position - len(order))
            pool_number += 1

    def averaged_model(self) -> GRALE:
        """Return a copy of the model with the averaged weights."""
        model = GRALE(self.source.space, self.config.model)
        model.load_state_dict(self.model.state_dict())
        self.average.copy_to(model)
        return model.eval()

    def evaluate(self, graphs: list) -> ReconstructionReport:
        """Score the averaged weights on held-out graphs."""
        return evaluate(self.averaged_model(), graphs)
