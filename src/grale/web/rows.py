"""Rows of requests to the model, and back: what each operation does with a list.

Every function takes the rows of one or of several requests and returns a record for each, in
order. A row that cannot be taken has the status `failed` and a reason; others go on without it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from grale.codec.failures import NOT_FINITE, are_finite
from grale.codec.graph_autoencoder import GraphAutoencoder
from grale.codec.intake import screen
from grale.codec.options import CodecOptions
from grale.codec.reconstruct import reconstruct_good
from grale.graphs.graph import Graph
from grale.graphs.molecules.molecule import is_molecular
from grale.matching.local_search import edit_distance_bound
from grale.metrics.isomorphism import is_isomorphic
from grale.web.limits import Limits
from grale.web.names import smiles_in
from grale.web.requests import GraphBody

Record = dict[str, Any]
OK: Record = {"status": "ok", "reason": None}
NO_ENTRY = "the row has no entry"
INVALID = "no valid molecule among the likeliest graphs"


def failed(reason: str) -> Record:
    """Record of a row that could not be taken."""
    return {"status": "failed", "reason": reason}


def taken(items: Sequence[Any], model: GraphAutoencoder, limits: Limits) -> list[Graph | str]:
    """Graphs, or reasons why the model cannot take them."""
    found: list[Graph | str] = []
    for item in items:
        read = _read(item, model)
        if isinstance(read, Graph) and read.num_nodes > limits.max_atoms:
            read = f"it has {read.num_nodes} nodes; this server takes at most {limits.max_atoms}"
        found.append(read)
    return found


def _read(item: Any, model: GraphAutoencoder) -> Graph | str:
    if item is None:
        return NO_ENTRY
    if isinstance(item, GraphBody):
        try:
            item = Graph(item.node_labels, item.edges, item.edge_labels, item.directed)
        except ValueError as error:
            return str(error)
    return screen([item], model.space)[0]


def encode_rows(
    model: GraphAutoencoder, limits: Limits, items: Sequence[Any], refine: int
) -> list[Record]:
    """Vectors that decode."""
    checked = taken(items, model, limits)
    graphs = [item for item in checked if isinstance(item, Graph)]
    found = iter(model.encode(graphs, limits.batch_rows, "null", refine))
    return [_vector(item, found) for item in checked]


def describe_rows(
    model: GraphAutoencoder, limits: Limits, items: Sequence[Any], are_vectors: bool
) -> list[Record]:
    """Vectors to compare."""
    if are_vectors:
        good, reasons = _latents(model, items)
        found = iter(model.describe(good, limits.batch_rows, "null"))
        return [_vector(reason, found) for reason in reasons]
    checked = taken(items, model, limits)
    graphs = [item for item in checked if isinstance(item, Graph)]
    found = iter(model.describe(graphs, limits.batch_rows, "null"))
    return [_vector(item, found) for item in checked]


def _vector(item: Graph | str | None, found: Any) -> Record:
    """Record of an item; a reason has no vector."""
    if isinstance(item, str):
        return failed(item) | {"vector": None}
    vector = next(found)
    if not np.isfinite(vector).all():
        return failed(NOT_FINITE) | {"vector": None}
    return OK | {"vector": vector}


def decode_rows(
    model: GraphAutoencoder, limits: Limits, items: Sequence[Any], tries: int
) -> list[Record]:
    """Graphs of vectors; of molecules the likeliest valid one, if there is one among `tries`."""
    good, reasons = _latents(model, items)
    graphs = iter(model.decode(good, limits.batch_rows))
    if is_molecular(model.space):
        texts = iter(model.decode_smiles(good, tries, limits.batch_rows))
    records = []
    for reason in reasons:
        if reason is not None:
            records.append(failed(reason) | {"smiles": None, "graph": None})
            continue
        graph = next(graphs)
        if not is_molecular(model.space):
            records.append(OK | {"smiles": None, "graph": as_body(graph)})
            continue
        text = next(texts)
        graph = Graph.from_smiles(text) if text else graph
        state = OK if text else {"status": "invalid", "reason": INVALID}
        records.append(state | {"smiles": text, "graph": as_body(graph)})
    return records


def reconstruct_rows(
    model: GraphAutoencoder, limits: Limits, items: Sequence[Any], refine: int
) -> list[Record]:
    """Graphs that were encoded and decoded, and how they differ from the input."""
    options = CodecOptions(batch_size=limits.batch_rows, refine_steps=refine)
    checked, result = reconstruct_good(model, taken(items, model, limits), options)
    again = iter(zip(result.graphs, result.mappings))
    records = []
    for item in checked:
        if isinstance(item, str):
            nothing = dict.fromkeys(("smiles", "graph", "exact", "edit_distance"))
            records.append(failed(item) | nothing)
            continue
        graph, mapping = next(again)
        exact = is_isomorphic(item, graph)
        edits = 0 if exact else edit_distance_bound(item, graph, mapping).edit_distance
        record = shown(graph, model) | {"exact": exact, "edit_distance": edits}
        records.append(record)
    return records


def shown(graph: Graph, model: GraphAutoencoder) -> Record:
    """A graph of the model with its SMILES; invalid if it should be a molecule and is none."""
    if not is_molecular(model.space):
        return OK | {"smiles": None, "graph": as_body(graph)}
    text = smiles_in(graph, model.space)
    reason = "the reconstruction is not a valid molecule"
    state = OK if text else {"status": "invalid", "reason": reason}
    return state | {"smiles": text, "graph": as_body(graph)}


def as_body(graph: Graph | None) -> Record | None:
    """A graph as JSON."""
    if graph is None:
        return None
    return {
        "node_labels": graph.node_labels.tolist(),
        "edges": graph.edges.tolist(),
        "edge_labels": graph.edge_labels.tolist(),
        "directed": graph.directed,
    }


def _latents(model: GraphAutoencoder, items: Sequence[Any]) -> tuple[Any, list[str | None]]:
    """Vectors that the model can decode, and for every row the reason why not, or None."""
    reasons = [_why_not(item, model.latent_dim) for item in items]
    good = [item for item, reason in zip(items, reasons) if reason is None]
    return np.array(good, dtype=np.float32).reshape(-1, model.latent_dim), reasons


def _why_not(item: Any, latent_dim: int) -> str | None:
    if item is None:
        return NO_ENTRY
    if len(item) != latent_dim:
        return f"the vector has {len(item)} numbers; this model expects {latent_dim}"
    with np.errstate(over="ignore"):
        values = np.array(item, dtype=np.float64).astype(np.float32)  # null is NaN
    return None if are_finite(values[None])[0] else "the vector holds a value that is not finite"
