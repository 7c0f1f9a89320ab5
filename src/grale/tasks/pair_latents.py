"""Latents of the graphs of a dataset of pairs, computed once (paper: "Graph prediction").

Stage 1 regresses onto them; the encoder never sees a graph twice.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

from grale.codec.identity import fingerprint
from grale.data.latents import LatentSet, write_latent_set
from grale.data.packed import PackedGraphs
from grale.data.pairs import SPLITS, open_pairs, stored_pairs
from grale.data.storage import MANIFEST, read_manifest, write_packed
from grale.graphs.space import GraphSpace
from grale.model.autoencoder import GRALE
from grale.tasks.latent_cache import token_space

BATCH = 256
BOUNDS = ("max_nodes", "num_node_labels", "num_edge_labels")


def is_pairs(data: str) -> bool:
    """Whether a name is that of a dataset of inputs and graphs."""
    folder = Path(data) / "train"
    return (folder / MANIFEST).is_file() and read_manifest(folder).inputs is not None


def cache_pair_latents(
    model: GRALE,
    name: str,
    data: Path,
    out: Path,
    progress: Callable[[int], object] = lambda done: None,
) -> dict[str, int]:
    """Write the pairs of `data` with the latents of their graphs; return rows per split.

    The graphs may be smaller than the model's: the dataset then has the model's space.
    """
    found = LatentSet(model=name, weights=fingerprint(model), tokens=token_space(model))
    manifest = open_pairs(data / "train")
    _check_holds(model.space, manifest.space, name, data)
    kept = {}
    for split in reversed(SPLITS):
        packs = _packs(model, data / split, progress)
        columns = found.column_names()
        written = write_packed(out / split, packs, model.space, columns, manifest.inputs)
        kept[split] = written.rows
    write_latent_set(out, found)
    return {split: kept[split] for split in SPLITS}


def _check_holds(model: GraphSpace, data: GraphSpace, name: str, folder: Path) -> None:
    for bound in BOUNDS:
        has, needs = getattr(model, bound), getattr(data, bound)
        if has < needs:
            raise ValueError(
                f"{name} has {bound}={has}, but the graphs of {folder} need {needs}; use a larger "
                "model, or prepare the pairs again with smaller graphs"
            )
    if data.directed != model.directed or (model.num_node_labels != data.num_node_labels):
        raise ValueError(f"{name} was trained on other graphs than those of {folder}")


def _packs(model: GRALE, folder: Path, progress: Callable[[int], object]) -> Iterator[PackedGraphs]:
    for pack in stored_pairs(folder):
        yield replace(pack, properties=model.encode(pack.graphs(), BATCH, progress=progress))
