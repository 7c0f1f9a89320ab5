"""Lists of graphs for a model: convert, check, group by size, run, put back in order.

Nothing here is random. Noise follows each node's canonical position, so the order of nodes, the
order of graphs and the batch size do not change the result.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from functools import wraps
from math import inf
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from grale.codec.failures import OnError, check_on_error
from grale.codec.identity import check_same_model, identity_in
from grale.graphs.batch import GraphBatch
from grale.graphs.graph import Graph
from grale.graphs.molecules.molecule import is_molecular
from grale.graphs.record import record_of, to_graph
from grale.graphs.space import GraphSpace

if TYPE_CHECKING:
    from grale.codec.graph_autoencoder import GraphAutoencoder

PAIRS_IN_CACHE = 24_000.0
"""Pairs of nodes whose states stay in the cache of a processor; more at once are slower."""


def as_graph(item: Any, space: GraphSpace) -> Graph:
    """Accept a `Graph`, a networkx graph, a PyG `Data`; in a molecular space also SMILES and Mol.

    PyG `Data` does not say whether it is directed: it is read as directed if the space is. In a
    space with attributes, labels are looked up by their names.
    """
    if isinstance(item, Graph):
        return _as_named(item, space)
    if is_missing(item):
        raise ValueError("the row has no entry")
    if isinstance(item, str) or hasattr(item, "GetAtoms"):
        if not is_molecular(space):
            raise TypeError("got a molecule, but this model was not trained on molecules")
        return Graph.from_smiles(item) if isinstance(item, str) else Graph.from_mol(item)
    is_other = hasattr(item, "is_multigraph") or hasattr(item, "edge_index")
    if space.attributes is not None and is_other:
        return to_graph(record_of(item, "the graph", space.directed), space.attributes)
    if hasattr(item, "adj") and hasattr(item, "is_multigraph"):
        return Graph.from_networkx(item)
    if hasattr(item, "edge_index"):
        return Graph.from_pyg(item, space.directed)
    molecules = ", SMILES, RDKit Mol" if is_molecular(space) else ""
    raise TypeError(
        f"expected a grale.Graph{molecules}, networkx graph or PyG Data, got {type(item).__name__}"
    )


def is_missing(item: Any) -> bool:
    """Whether a value stands for a missing one, as pandas, numpy and polars write it."""
    is_nan = isinstance(item, float | np.floating) and bool(np.isnan(item))
    return item is None or is_nan or type(item).__name__ in ("NAType", "NaTType")


def _as_named(graph: Graph, space: GraphSpace) -> Graph:
    """The graph with the model's labels; a graph without names has them already."""
    if graph.attributes is None or space.attributes is None or graph.attributes == space.attributes:
        return graph
    return to_graph(record_of(graph, "the graph"), space.attributes)


def named(graphs: Sequence[Graph], space: GraphSpace) -> list[Graph]:
    """Decoded graphs with the names of the model's labels, if it has any."""
    return [space.named(graph) for graph in graphs]


def screen(items: Iterable[Any], space: GraphSpace) -> list[Graph | str]:
    """Convert each item, or say in one sentence why the model cannot take it."""
    screened: list[Graph | str] = []
    for item in listed(items):
        try:
            graph = as_graph(item, space)
        except (TypeError, ValueError) as error:
            screened.append(str(error))
            continue
        screened.append(in_space(graph, space))
    return screened


def in_space(graph: Graph, space: GraphSpace) -> Graph | str:
    """Return the graph, or a sentence that says why the model cannot take it."""
    reason = space.why_not(graph)
    if reason is None:
        return graph
    if not is_molecular(space):
        return f"the graph {reason}"
    if graph.num_nodes > space.max_nodes:  # in the words of the documents, not of the settings
        reason = f"has {graph.num_nodes} heavy atoms, but the model takes at most {space.max_nodes}"
    return f"the molecule {reason}"


class TakenIn(NamedTuple):
    """The items of a list that the model can take."""

    graphs: list[Graph]
    rows: list[int]
    """Place of each of them in the list."""
    num_items: int


def taken_in(items: Iterable[Any], space: GraphSpace, on_error: OnError) -> TakenIn:
    """Convert all items; one that cannot be taken is left out, or raises and names its row."""
    check_on_error(on_error)
    screened = screen(items, space)
    if on_error == "raise":
        for row, item in enumerate(screened):
            if isinstance(item, str):
                raise ValueError(f"item {row}: {item}")
    kept = [(row, item) for row, item in enumerate(screened) if isinstance(item, Graph)]
    return TakenIn([graph for _, graph in kept], [row for row, _ in kept], len(screened))


def accept(items: Iterable[Any], space: GraphSpace) -> list[Graph]:
    """Convert all items, or raise and name the first that cannot be taken."""
    return taken_in(items, space, "raise").graphs


def listed(items: Any) -> list[Any]:
    """Make a list from a list, a column of a data frame, an array or a generator.

    A single molecule or graph is not a list, even if Python can iterate over it.
    """
    is_one = isinstance(items, str | bytes | Mapping | Graph) or hasattr(items, "GetAtoms")
    is_one = is_one or hasattr(items, "is_multigraph") or hasattr(items, "edge_index")
    if is_one or not isinstance(items, Iterable):
        raise TypeError(
            f"expected a list of graphs, got one {type(items).__name__}; wrap it in a list"
        )
    if hasattr(items, "columns") and not isinstance(items, np.ndarray):
        raise TypeError("expected one column of graphs, got a data frame; choose its column")
    if isinstance(items, np.ndarray) and items.ndim != 1:
        raise TypeError(f"expected one column of graphs, got an array of shape {items.shape}")
    if hasattr(items, "to_pylist"):  # pyarrow, whose scalars are not strings
        items = items.to_pylist()
    return [item.item() if isinstance(item, np.str_) else item for item in items]


def listed_pairs(items: Any) -> list[tuple[Any, Any]]:
    """Make a list of pairs from any listing of them, an array (n, 2) or a frame of two columns."""
    if hasattr(items, "columns") and not isinstance(items, np.ndarray):
        names = list(items.columns)
        if len(names) != 2:
            raise TypeError(f"expected a data frame of two columns of graphs, got {len(names)}")
        items = zip(*(listed(items[name]) for name in names))
    elif isinstance(items, np.ndarray) and items.ndim == 2:
        items = items.tolist()
    pairs = []
    for number, pair in enumerate(listed(items)):
        is_one = isinstance(pair, str | bytes | Mapping | Graph) or not isinstance(pair, Iterable)
        is_one = is_one or hasattr(pair, "is_multigraph") or hasattr(pair, "edge_index")
        sides = [] if is_one else list(pair)
        if len(sides) != 2:
            raise TypeError(f"pair {number} should be two graphs, got {type(pair).__name__}")
        pairs.append((sides[0], sides[1]))
    return pairs


def as_latents(values: Any) -> Any:
    """Rows of vectors as an array: also of a column of vectors, or of a list of them."""
    if hasattr(values, "to_pylist"):
        values = values.to_pylist()
    if isinstance(values, np.ndarray) and values.dtype != object:
        return values
    if hasattr(values, "vectors"):
        return values.vectors
    rows = list(values)
    if not all(is_missing(row) or hasattr(row, "__len__") for row in rows):
        return np.asarray(rows)
    width = max((len(row) for row in rows if not is_missing(row)), default=0)
    gap = np.full(width, np.nan, dtype=np.float32)
    return np.array([gap if is_missing(row) else np.asarray(row, np.float32) for row in rows])


def rows_to_decode(model: GraphAutoencoder, values: Any) -> NDArray[Any]:
    """Latents as an array; raise if they carry the name of another model that made them.

    What `grale.read_vectors` returns and columns of `grale.embed_frame` in pandas carry one.
    """
    known = getattr(values, "made_with", None)
    attributes = getattr(values, "attrs", None)
    known = known or (attributes.get("grale") if isinstance(attributes, dict) else None)
    check_same_model(model, identity_in(known), "the input")
    return np.asarray(as_latents(values))


def check_batch_size(batch_size: int) -> None:
    """Raise unless a batch holds at least one graph."""
    if batch_size < 1:
        raise ValueError(f"batch_size must be at least 1, got {batch_size}")


def check_latents(latents: NDArray[Any], latent_dim: int) -> NDArray[np.float32]:
    """Return the latents in float32, or raise an error that names what is wrong."""
    values = np.asarray(latents, dtype=np.float32)
    if values.ndim != 2 or values.shape[1] != latent_dim:
        raise ValueError(f"expected latents of shape (n, {latent_dim}), got {values.shape}")
    broken = np.flatnonzero(~np.isfinite(values).all(axis=1))
    if len(broken):
        raise ValueError(
            f"row {broken[0]} of the latents is not finite; use on_error='null' or 'skip' instead"
        )
    return values


def by_size(
    graphs: Sequence[Graph], batch_size: int, most_pairs: float = inf
) -> Iterator[tuple[list[int], GraphBatch]]:
    """Batches of graphs of similar size, each with the rows it came from.

    A batch has at most `batch_size` graphs, and at most `most_pairs` pairs of nodes unless it is a
    single graph.
    """
    check_batch_size(batch_size)
    rows: list[int] = []
    for row in sorted(range(len(graphs)), key=lambda row: graphs[row].num_nodes):
        pairs = (len(rows) + 1) * graphs[row].num_nodes ** 2
        if rows and (len(rows) == batch_size or pairs > most_pairs):
            yield rows, GraphBatch.from_graphs([graphs[row] for row in rows])
            rows = []
        rows.append(row)
    if rows:
        yield rows, GraphBatch.from_graphs([graphs[row] for row in rows])


def pairs_at_once(model: GraphAutoencoder) -> float:
    """Pairs of nodes to work on at once: on a processor, as many as its cache holds."""
    return PAIRS_IN_CACHE if device_of(model).type == "cpu" else inf


def decoded_at_once(model: GraphAutoencoder, batch_size: int) -> int:
    """How many graphs to decode at once, at most `batch_size`."""
    fitting = pairs_at_once(model) // model.space.max_nodes**2
    return int(min(batch_size, max(1, fitting)))


def quietly(run: Callable[..., Any]) -> Callable[..., Any]:
    """Run with the model in evaluation mode and without gradients, whatever mode torch is in."""

    @wraps(run)
    def wrapped(model: GraphAutoencoder, *args: Any, **options: Any) -> Any:
        was_training = model.training
        if was_training:  # switching touches every layer: 6 ms
            model.eval()
        try:
            with torch.inference_mode(False), torch.no_grad(), _on_cpu_by_default():
                return run(model, *args, **options)
        finally:
            if was_training:
                model.train()

    return wrapped


def _on_cpu_by_default() -> AbstractContextManager[Any]:
    """Make new tensors on the CPU, whatever the user told torch; they are moved to the model."""
    cpu = torch.device("cpu")
    return nullcontext() if torch.get_default_device() == cpu else cpu


def device_of(model: GraphAutoencoder) -> torch.device:
    """Where the weights are."""
    return next(model.parameters()).device
