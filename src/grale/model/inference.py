"""Lists of graphs through a model: convert, check, group by size, run, put back in order.

Nothing here is random: noise follows each node's canonical position, so the order in which
nodes or graphs are listed, and the batch size, change nothing.

Departures: not in the paper.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import wraps
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import NDArray

from grale.graphs.batch import GraphBatch
from grale.graphs.graph import Graph
from grale.graphs.molecule import is_molecular
from grale.graphs.space import GraphSpace
from grale.model.failures import OnError, check_on_error
from grale.model.refined_encoding import check_refine, embed_refined

if TYPE_CHECKING:
    from grale.model.graph_autoencoder import GraphAutoencoder


def as_graph(item: Any, space: GraphSpace) -> Graph:
    """Accept a `Graph`, a networkx graph, a PyG `Data`; in a molecular space SMILES and Mol, too.

    PyG `Data` does not say whether it is directed: it is read as the space is.
    """
    if isinstance(item, Graph):
        return item
    if isinstance(item, str) or hasattr(item, "GetAtoms"):
        if not is_molecular(space):
            raise TypeError("got a molecule, but this model's labels are not atoms and bonds")
        return Graph.from_smiles(item) if isinstance(item, str) else Graph.from_mol(item)
    if hasattr(item, "adj") and hasattr(item, "is_multigraph"):
        return Graph.from_networkx(item)
    if hasattr(item, "edge_index"):
        return Graph.from_pyg(item, space.directed)
    molecules = ", SMILES, RDKit Mol" if is_molecular(space) else ""
    raise TypeError(
        f"expected a grale.Graph{molecules}, networkx graph or PyG Data, got {type(item).__name__}"
    )


def screen(items: Sequence[Any], space: GraphSpace) -> list[Graph | str]:
    """Convert each item, or say in one sentence why the model cannot take it."""
    screened: list[Graph | str] = []
    for item in items:
        try:
            graph = as_graph(item, space)
        except (TypeError, ValueError) as error:
            screened.append(str(error))
            continue
        reason = space.why_not(graph)
        screened.append(graph if reason is None else f"the graph {reason}")
    return screened


def accept(items: Sequence[Any], space: GraphSpace) -> list[Graph]:
    """Convert all items or raise, naming the first that cannot be taken."""
    _check_is_list(items)
    if len(items) == 0:
        raise ValueError("got an empty list; give at least one graph")
    graphs: list[Graph] = []
    for row, graph in enumerate(screen(items, space)):
        if isinstance(graph, str):
            raise ValueError(f"item {row}: {graph}")
        graphs.append(graph)
    return graphs


def _check_is_list(items: Any) -> None:
    if not isinstance(items, Sequence) or isinstance(items, str):
        raise TypeError(f"expected a list of graphs, got {type(items).__name__}; wrap it in a list")


def check_batch_size(batch_size: int) -> None:
    """Raise unless a batch holds something."""
    if batch_size < 1:
        raise ValueError(f"batch_size must be at least 1, got {batch_size}")


def check_latents(latents: NDArray[Any], latent_dim: int) -> NDArray[np.float32]:
    """Rows of latents, or an error that names what is wrong with them."""
    values = np.asarray(latents, dtype=np.float32)
    if values.ndim != 2 or values.shape[1] != latent_dim:
        raise ValueError(f"expected latents of shape (n, {latent_dim}), got {values.shape}")
    broken = np.flatnonzero(~np.isfinite(values).all(axis=1))
    if len(broken):
        raise ValueError(
            f"row {broken[0]} of the latents is not finite; use on_error='null' or 'skip' to go on"
        )
    return values


def are_finite(latents: NDArray[Any]) -> NDArray[np.bool_]:
    """Which rows of latents hold numbers only."""
    values = np.asarray(latents, dtype=np.float32)
    return np.asarray(np.isfinite(values).all(axis=tuple(range(1, values.ndim))))


def by_size(graphs: Sequence[Graph], batch_size: int) -> Iterator[tuple[list[int], GraphBatch]]:
    """Batches of graphs of similar size, each with the rows it came from."""
    check_batch_size(batch_size)
    order = sorted(range(len(graphs)), key=lambda row: graphs[row].num_nodes)
    for start in range(0, len(order), batch_size):
        rows = order[start : start + batch_size]
        yield rows, GraphBatch.from_graphs([graphs[row] for row in rows])


def quietly(run: Callable[..., Any]) -> Callable[..., Any]:
    """Run with the model in evaluation mode and without gradients."""

    @wraps(run)
    def wrapped(model: GraphAutoencoder, *args: Any, **options: Any) -> Any:
        was_training = model.training
        if was_training:  # switching touches every layer: 6 ms
            model.eval()
        try:
            with torch.no_grad():
                return run(model, *args, **options)
        finally:
            if was_training:
                model.train()

    return wrapped


def device_of(model: GraphAutoencoder) -> torch.device:
    """Where the weights are."""
    return next(model.parameters()).device


@quietly
def encode(
    model: GraphAutoencoder, items: Sequence[Any], batch_size: int, on_error: OnError, refine: int
) -> NDArray[np.float32]:
    """Embed each item; see `GraphAutoencoder.encode`."""
    check_on_error(on_error)
    check_refine(refine)
    if on_error == "raise":
        graphs, kept = accept(items, model.space), list(range(len(items)))
    else:
        _check_is_list(items)
        screened = screen(items, model.space)
        kept = [row for row, graph in enumerate(screened) if isinstance(graph, Graph)]
        graphs = [graph for graph in screened if isinstance(graph, Graph)]
    latents = np.full((len(items), model.latent_dim), np.nan, dtype=np.float32)
    for rows, batch in by_size(graphs, batch_size):
        latent = embed_refined(model, batch.to(device_of(model)), refine)
        latents[[kept[row] for row in rows]] = latent.float().cpu().numpy()
    return latents[kept] if on_error == "skip" else latents
