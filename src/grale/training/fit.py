"""`grale.fit`: from a list of graphs to a trained model; sizes and recipe follow from the data.

The recipe is `settings/configs/own.yaml`; what depends on the data is filled in here. A tenth of
the distinct graphs is held out: it says when to stop, and whether the set is large enough
(decisions/014).
"""

from __future__ import annotations

import logging
import tempfile
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from grale.data.own.graph_set import LARGEST, GraphSet, read_set
from grale.data.own.prepare import canonical_keys, split_by_key, write_splits
from grale.data.own.schema import Choice
from grale.data.sources import first_graphs
from grale.data.storage import MANIFEST, read_manifest
from grale.graphs.space import GraphSpace
from grale.model.autoencoder import GRALE
from grale.settings.build import build
from grale.settings.files import merged, read_settings
from grale.training.config import RunOptions, TrainConfig
from grale.training.evaluation import evaluate
from grale.training.loop import StepReport, Trainer

logger = logging.getLogger(__name__)

RECIPE = "own"
PAIRS_PER_STEP = 16_384  # pairs of nodes in a batch, so that a step takes about as long for any N
MOST_GRAPHS, FEWEST_GRAPHS = 64, 8  # in a batch
TOKEN_DIM, MOST_TOKEN_DIM = 16, 64
BYTES_PER_PAIR = 31_000  # 1.0 GB for 8 graphs of 64 nodes
MEMORY_LIMIT = 4.0  # GB, above which activations are recomputed in the backward pass
FEW_GRAPHS = 100  # distinct ones; a model of fewer rarely knows others
SCORED = 500  # graphs of train and valid that are reconstructed at the end, to compare
WORSE_ON_OTHERS = 0.2  # from this difference on, the set is too small

Watch = Callable[[Trainer], Any]
"""Runs a trainer to the end, shows its progress and returns its model."""


class Fitted(NamedTuple):
    """A model and how well it gives graphs back."""

    model: GRALE
    num_train: int
    num_held_out: int
    exact_train: float
    """Share of training graphs that come back exactly."""
    exact_held_out: float
    remarks: list[str]
    """What the user should know: graphs left out, a set that is too small."""


def fit(
    graphs: Iterable[Any] | str | Path,
    minutes: float = 10.0,
    *,
    node_attributes: Iterable[str] | None = None,
    edge_attributes: Iterable[str] | None = None,
    max_nodes: int = LARGEST,
    directed: bool = False,
    seed: int = 0,
    progress: bool = True,
) -> GRALE:
    """Train a model of your own graphs; names of labels are kept and come back on decoding.

    Parameters
    ----------
    graphs
        networkx graphs, PyG `Data` or `grale.Graph`; or a file, a folder, or a dataset that
        `grale.prepare` has written.
    minutes
        Time for training steps; less if all held-out graphs come back before.
    node_attributes, edge_attributes, max_nodes, directed
        As in `grale.prepare`.
    seed
        Chooses initial weights and the order of the graphs.
    progress
        Whether to show a progress bar.
    """
    choice = Choice(
        None if node_attributes is None else list(node_attributes),
        None if edge_attributes is None else list(edge_attributes),
    )
    with opened_dataset(graphs, choice, max_nodes, directed) as (folder, remarks):
        fitted = fit_dataset(folder, minutes, seed, _bar if progress else _in_silence)
    for remark in (*remarks, *fitted.remarks):
        logger.warning(remark)
    return fitted.model


@contextmanager
def opened_dataset(
    graphs: Iterable[Any] | str | Path, choice: Choice, max_nodes: int, directed: bool
) -> Iterator[tuple[Path, list[str]]]:
    """Folder of a dataset with train and valid: the given one, or a temporary one."""
    if isinstance(graphs, str | Path) and (Path(graphs) / "train" / MANIFEST).is_file():
        yield Path(graphs), []
        return
    found = read_set(graphs, choice, max_nodes, directed)
    remarks = []
    if found.rejected:
        first = found.rejected[0]
        remarks.append(
            f"{len(found.rejected)} graphs are left out; the first: {first.where} {first.reason}"
        )
    with tempfile.TemporaryDirectory(prefix="grale-fit-") as folder:
        _write_train_and_valid(found, Path(folder))
        yield Path(folder), remarks


def _write_train_and_valid(found: GraphSet, folder: Path) -> None:
    keys = canonical_keys(found.graphs)
    if len(set(keys)) == 1:  # then it is both: there is nothing else
        write_splits(found, ["valid"] * len(keys), folder)
        write_splits(found, ["train"] * len(keys), folder)
        return
    write_splits(found, split_by_key(keys, 0.1, 0.0), folder)


def fit_dataset(folder: Path, minutes: float, seed: int, watch: Watch) -> Fitted:
    """Train on a dataset folder that has train and valid."""
    if minutes <= 0:
        raise ValueError(f"minutes must be above 0, got {minutes}")
    train = first_graphs(folder / "train", SCORED)
    held_out = first_graphs(folder / "valid", SCORED)
    config = recipe(folder, seed)
    with tempfile.TemporaryDirectory(prefix="grale-fit-") as run:
        options = RunOptions(
            max_minutes=minutes,
            recompute_activations=activation_gigabytes(config) > MEMORY_LIMIT,
            save_every=1_000_000,
            save_minutes=1e6,
            keep=1,
        )
        model = watch(Trainer(config, Path(run) / "run", options))
    assert isinstance(model, GRALE)  # the recipe trains no other
    on_train, on_others = (evaluate(model, some).accuracy for some in (train, held_out))
    distinct = len(set(canonical_keys(train)))
    rows = read_manifest(folder / "train").rows
    fitted = Fitted(model, rows, len(held_out), on_train, on_others, [])
    return fitted._replace(remarks=_remarks(fitted, distinct))


def recipe(folder: Path, seed: int = 0) -> TrainConfig:
    """Settings for a dataset, by the number and the size of its graphs."""
    manifest = read_manifest(folder / "train")
    space = manifest.space
    changes = {
        "data": {"path": str(folder), "augment": {"share": changed_share(manifest.rows)}},
        "model": {"num_tokens": space.max_nodes, "token_dim": token_dim(space)},
        "batch_size": graphs_per_step(space, manifest.rows),
        "seed": seed,
    }
    return build(TrainConfig, merged(read_settings(RECIPE), changes))


def graphs_per_step(space: GraphSpace, rows: int) -> int:
    """Batch size, by the total size of the graphs of a batch.

    >>> graphs_per_step(GraphSpace(max_nodes=64, num_node_labels=1), rows=1000)
    8
    """
    wanted = PAIRS_PER_STEP // space.max_nodes**2
    return min(rows, max(FEWEST_GRAPHS, min(MOST_GRAPHS, wanted)))


def activation_gigabytes(config: TrainConfig) -> float:
    """Estimated memory of a step without recomputation, by the pairs of nodes of a batch.

    The factor is the growth of peak memory at one size, 8 graphs of 64 nodes at this recipe's
    widths (docs/own-graphs.md); other sizes are extrapolated.
    """
    return BYTES_PER_PAIR * config.batch_size * config.model.num_tokens**2 / 1e9


def token_dim(space: GraphSpace) -> int:
    """Numbers per token: room for the features of a node and of its edges."""
    features = 4 * space.node_feature_dim + 8 * space.edge_feature_dim
    return min(TOKEN_DIM + features, MOST_TOKEN_DIM)


def changed_share(rows: int) -> float:
    """Share of changed copies: the fewer graphs, the more."""
    for least, share in ((100_000, 0.0), (20_000, 0.25), (2_000, 0.5)):
        if rows >= least:
            return share
    return 0.75


def _remarks(fitted: Fitted, distinct: int) -> list[str]:
    """Say when a set is too small to generalise."""
    found = []
    if distinct < FEW_GRAPHS:
        found.append(
            f"there are only {distinct} distinct graphs to train on: graphs that differ from them "
            f"will hardly be reconstructed; give at least {FEW_GRAPHS}"
        )
    if fitted.exact_train - fitted.exact_held_out >= WORSE_ON_OTHERS:
        found.append(
            f"{fitted.exact_train:.0%} of the training graphs come back exactly, but only "
            f"{fitted.exact_held_out:.0%} of {fitted.num_held_out} held-out ones: the set is too "
            "small to generalise; give more graphs, or fewer attributes"
        )
    elif fitted.exact_train < 0.5:
        found.append(
            f"only {fitted.exact_train:.0%} of the training graphs come back exactly: train for "
            "more minutes"
        )
    return found


def _in_silence(trainer: Trainer) -> Any:
    return trainer.run(lambda step: None)


def _bar(trainer: Trainer) -> Any:
    """Run with a progress bar on the error stream."""
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TextColumn, TimeRemainingColumn

    columns = (TextColumn("fitting"), BarColumn(), TextColumn("{task.fields[state]}", markup=False))
    with Progress(*columns, TimeRemainingColumn(), console=Console(stderr=True)) as progress:
        task = progress.add_task("fitting", total=1.0, state="")

        def report(step: StepReport) -> None:
            state = f"step {step.step}, loss {step.values['loss']:.3f}"
            if step.validation is not None:
                state = f"{step.validation.text}"
            progress.update(task, completed=step.progress, state=state)

        return trainer.run(report)
