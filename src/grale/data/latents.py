"""A dataset of latents: graphs as usual, whose properties are their latents and conditions.

A row's properties are the K x D numbers of the latent, then the conditions. So latents are stored,
checked, shuffled and cut into batches like any graphs. `latents.json` says what the numbers are.
"""

from __future__ import annotations

import dataclasses
import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
from numpy.typing import NDArray

from grale.data.storage import read_manifest
from grale.files import read_json, write_whole
from grale.prior.config import Condition, TokenSpace
from grale.settings.build import SettingsError, build

LATENTS = "latents.json"


@dataclass(frozen=True, kw_only=True)
class LatentSet:
    """What the properties of a dataset of latents are."""

    model: str
    """The autoencoder: a shipped name, a folder or a hub id."""
    weights: str
    """Fingerprint of its weights."""
    tokens: TokenSpace
    conditions: tuple[Condition, ...] = ()

    def column_names(self) -> tuple[str, ...]:
        """Names of the properties, in order."""
        latent = [f"latent {place}" for place in range(self.tokens.latent_dim)]
        told = [
            condition.name if condition.width == 1 else f"{condition.name} {place}"
            for condition in self.conditions
            for place in range(condition.width)
        ]
        return (*latent, *told)


def write_latent_set(folder: Path, found: LatentSet) -> None:
    """Write `latents.json`."""
    write_whole(folder / LATENTS, json.dumps(dataclasses.asdict(found), indent=2) + "\n")


def read_latent_set(folder: Path) -> LatentSet:
    """Read `latents.json` of a dataset, or say what is missing."""
    path = folder / LATENTS
    if not path.is_file():
        raise FileNotFoundError(
            f"{folder} holds no {LATENTS}; make a dataset of latents with `grale prepare latents`"
        )
    try:
        return build(LatentSet, read_json(path))
    except SettingsError as error:
        raise ValueError(f"{path} cannot be used: {error}") from error


def first_conditions(folder: Path, count: int) -> NDArray[np.float32]:
    """Conditions of the first rows of the split `train`; fewer if it has fewer."""
    size = read_latent_set(folder).tokens.latent_dim
    first = folder / "train" / read_manifest(folder / "train").shards[0].file
    batch = next(pq.ParquetFile(first).iter_batches(batch_size=count, columns=["properties"]))
    rows = batch.column(0).flatten().to_numpy(zero_copy_only=False).reshape(batch.num_rows, -1)
    return np.asarray(rows[:, size:], dtype=np.float32)
