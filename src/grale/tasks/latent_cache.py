"""Latents of many graphs as a dataset, on which a prior is trained (decisions/015)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from grale.codec.identity import fingerprint
from grale.codec.sample import SIZE
from grale.data.latents import LatentSet, write_latent_set
from grale.data.packed import PackedGraphs
from grale.data.samples import stream_graphs
from grale.data.storage import write_packed
from grale.graphs.graph import Graph
from grale.graphs.molecules.molecule import is_molecular
from grale.model.autoencoder import GRALE
from grale.prior.config import Condition, TokenSpace
from grale.tasks.properties import Property, named_property

HELD_OUT_SHARE = 0.02
SHARD_ROWS = 16_384
USUAL_PROPERTIES = ("logP", "QED", "TPSA")  # of molecules


@dataclass(frozen=True, kw_only=True)
class CacheConfig:
    """Which latents to make."""

    data: str | None = None
    """A dataset folder or a generator, as for `grale map`; None for what suits the model."""
    count: int = 100_000
    """Training graphs; a fiftieth of that is held out besides."""
    properties: tuple[str, ...] | None = None
    """Properties to condition on, besides the size; None for the usual ones of the model."""

    def __post_init__(self) -> None:
        if self.count < 1:
            raise ValueError(f"count must be at least 1, got {self.count}")


def token_space(model: GRALE) -> TokenSpace:
    """Where the tokens of a model lie."""
    config = model.config
    return TokenSpace(
        num_tokens=config.num_tokens,
        token_dim=config.token_dim,
        on_sphere=config.latent.on_sphere,
    )


def cache_latents(
    model: GRALE,
    name: str,
    out: Path,
    config: CacheConfig,
    progress: Callable[[int], object] = lambda done: None,
) -> dict[str, int]:
    """Write `out/train` and `out/valid`; return how many latents each holds."""
    names = config.properties
    if names is None:
        names = USUAL_PROPERTIES if is_molecular(model.space) else ()
    known = [(SIZE, named_property(SIZE)), *((text, named_property(text)) for text in names)]
    conditions = tuple(Condition(name=text) for text, _ in known)
    found = LatentSet(
        model=name, weights=fingerprint(model), tokens=token_space(model), conditions=conditions
    )
    rows = {"train": config.count, "valid": max(1, round(HELD_OUT_SHARE * config.count))}
    kept = {}
    for split, count in rows.items():
        graphs = stream_graphs(model.space, count, config.data, split)
        packs = _packs(model, graphs, [function for _, function in known], progress)
        columns = found.column_names()
        kept[split] = write_packed(out / split, packs, model.space, columns).rows
    write_latent_set(out, found)
    return kept


def _packs(
    model: GRALE,
    graphs: Iterable[Graph],
    known: Sequence[Property],
    progress: Callable[[int], object],
) -> Iterator[PackedGraphs]:
    left = iter(graphs)
    while chunk := list(islice(left, SHARD_ROWS)):
        rows: list[NDArray[np.float32]] = []
        for start in range(0, len(chunk), 1024):
            part = chunk[start : start + 1024]
            told = np.array([[of(graph) for of in known] for graph in part], dtype=np.float32)
            rows.append(np.concatenate([model.encode(part), told], axis=1))
            progress(len(part))
        yield PackedGraphs.from_graphs(chunk, np.concatenate(rows))
