"""One model behind one server: what it can do, by name, and the threads that do it.

The `batcher` joins requests of one pass. Slow operations (many passes per row) have threads of
their own, so that a single molecule does not wait behind them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from importlib import metadata
from typing import Any, Literal

from grale.catalog import shipped_as
from grale.codec.graph_autoencoder import GraphAutoencoder
from grale.codec.identity import Identity, is_same
from grale.graphs.graph import Graph
from grale.graphs.molecules.molecule import is_molecular
from grale.model.autoencoder import GRALE
from grale.web.answers import as_json
from grale.web.batcher import Batcher
from grale.web.edits import NUM_GRAPHS, Background
from grale.web.limits import Limits
from grale.web.metrics import Metrics
from grale.web.refusals import Refused
from grale.web.rows import Record, decode_rows, describe_rows, encode_rows, reconstruct_rows
from grale.web.samples import condition_names

OPERATIONS: dict[str, Callable[..., list[Record]]] = {
    "encode": encode_rows,
    "decode": decode_rows,
    "describe": describe_rows,
    "reconstruct": reconstruct_rows,
}
MOST_SLOW = 8  # slow requests at once, waiting ones included
SLOW_THREADS = 2  # so that an edit does not wait until a file is read


class Service:
    """A model, its limits and its queues."""

    def __init__(
        self,
        model: GraphAutoencoder,
        name: str,
        limits: Limits | None = None,
        num_examples: int = NUM_GRAPHS,
    ) -> None:
        self.model, self.limits = model.eval(), limits or Limits()
        self.metrics = Metrics()
        self.batcher = Batcher(self._run, self.limits, self.metrics.batch)
        self.metrics.waiting.set_function(lambda: self.batcher.waiting_rows)
        self.slow_threads = ThreadPoolExecutor(SLOW_THREADS, thread_name_prefix="slow")
        self.num_slow = 0
        self.background = Background(model, num_examples) if isinstance(model, GRALE) else None
        # read now: a prior that is broken stops the server when it starts
        self.conditions = condition_names(model) if isinstance(model, GRALE) else []
        self.identity = {
            "name": name,
            "version": getattr(model, "version", None),
            "fingerprint": getattr(model, "fingerprint", None),
            "architecture": model.architecture,
        }
        self.package = metadata.version("grale")

    def described(self) -> Record:
        """The model and the limits of the server, for clients."""
        space, model = self.model.space, self.model
        return {
            "model": self.identity,
            "package": self.package,
            "is_molecular": is_molecular(space),
            "max_nodes": min(space.max_nodes, self.limits.max_atoms),
            "num_node_labels": space.num_node_labels,
            "num_edge_labels": space.num_edge_labels,
            "directed": space.directed,
            "latent_dim": model.latent_dim,
            "description_dim": model.description_dim,
            "can": {
                "decode": model.decodes,
                "match": self.background is not None,
                "edit": self.background is not None,
                "sample": self.background is not None and self.background.model.has_prior,
            },
            "conditions": self.conditions,
            "limits": {
                "max_rows": self.limits.max_rows,
                "max_slow_rows": self.limits.max_slow_rows,
                "max_body": self.limits.max_body,
                "max_set_rows": self.limits.max_set_rows,
                "timeout": self.limits.timeout,
            },
        }

    def graphs_model(self) -> Background:
        """The model with what edits need, or `Refused`: others cannot match or edit."""
        if self.background is None:
            raise Refused(422, f"a model of architecture {self.model.architecture} cannot do this")
        return self.background

    async def batched(self, operation: str, rows: Sequence[Any], *options: Any) -> list[Record]:
        """Run an operation on rows, together with other requests of its kind."""
        if operation in ("decode", "reconstruct") and not self.model.decodes:
            raise Refused(422, f"{self.identity['name']} has no decoder; use encode")
        self.check_rows(rows, self.limits.max_rows)
        return await self.batcher.submit((operation, *options), rows, self.limits.timeout)

    def check_rows(self, rows: Sequence[Any], most: int) -> None:
        """Refuse a request with too many rows."""
        if len(rows) > most:
            told = f"{len(rows)} rows, but a request may have at most {most}; send fewer"
            raise Refused(413, told)

    def check_maker(self, fingerprint: str | None) -> None:
        """Refuse vectors of another model, and name both."""
        ours = self.identity["fingerprint"]
        if ours is None or fingerprint is None or is_same(fingerprint, ours):
            return
        known = shipped_as(fingerprint)
        name, version = (known.name, known.version) if known is not None else (None, None)
        theirs = Identity(name, version, fingerprint)
        this = Identity(self.identity["name"], self.identity["version"], ours)
        raise Refused(
            422,
            f"the vectors are of {theirs.called()}, but the model is {this.called()}; use the "
            "model that made them, or encode again",
        )

    async def slowly(self, run: Callable[..., Any], *args: Any) -> Any:
        """Run a function in a thread of slow operations."""
        if self.num_slow >= MOST_SLOW:
            raise Refused(503, "the server is busy; try again in a second")
        loop, limit = asyncio.get_running_loop(), self.limits.slow_timeout
        self.num_slow += 1
        work = loop.run_in_executor(self.slow_threads, partial(run, *args))
        work.add_done_callback(self._slow_is_done)
        try:
            return await asyncio.wait_for(asyncio.shield(work), limit)
        except TimeoutError:
            raise Refused(504, f"no answer within {limit:g} seconds; ask for less") from None

    def answer(
        self, path: str, records: Sequence[Record], reading: Literal["latent", "description"]
    ) -> Any:
        """Records as the rows of an answer that names the model."""
        for record in records:
            self.metrics.rows.labels(path, record["status"]).inc()
        rows = [{"row": row} | record for row, record in enumerate(records)]
        known = {"model": self.identity, "package": self.package, "reading": reading}
        return as_json(known | {"rows": rows})

    def warm_up(self) -> None:
        """Encode and decode once, so that the first request does not wait for compilers."""
        graph = Graph([0, 0], [(0, 1)], directed=self.model.space.directed)
        self.model.describe([graph])
        if self.model.decodes:
            reconstruct_rows(self.model, self.limits, [graph], 0)

    async def close(self) -> None:
        """Stop all threads; what runs now ends first."""
        await self.batcher.close()
        self.slow_threads.shutdown(wait=False, cancel_futures=True)

    def _run(self, kind: tuple[Any, ...], rows: list[Any]) -> list[Record]:
        operation, *options = kind
        return OPERATIONS[operation](self.model, self.limits, rows, *options)

    def _slow_is_done(self, work: asyncio.Future[Any]) -> None:
        self.num_slow -= 1
        if not work.cancelled():
            work.exception()  # it may be that nobody waits for it any more
