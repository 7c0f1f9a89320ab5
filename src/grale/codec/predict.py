"""Lists of inputs to lists of graphs, for every predictor (paper: "Graph prediction").

Departures: the paper gives one graph per input. Here, the next likeliest may be listed, too.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import fields
from itertools import islice
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from jaxtyping import Int, UInt8
from numpy.typing import NDArray
from torch import Tensor

from grale.codec.candidates import likeliest_graphs
from grale.codec.failures import OnError, check_on_error
from grale.codec.intake import is_missing, named, quietly
from grale.codec.logits import GraphLogits
from grale.codec.options import CodecOptions
from grale.graphs.graph import Graph
from grale.graphs.molecules.fingerprints import morgan_counts
from grale.graphs.molecules.molecule import MoleculeError
from grale.inputs.space import InputSpace
from grale.metrics.generation import SeenGraphs

if TYPE_CHECKING:
    from grale.codec.graph_predictor import GraphPredictor

InputRow = NDArray[np.uint8]


def screen_inputs(inputs: Any, space: InputSpace) -> list[InputRow | str]:
    """Each input as a row of bytes, or a sentence that says why it cannot be one."""
    return [_screened(item, space) for item in inputs]


def _screened(item: Any, space: InputSpace) -> InputRow | str:
    if is_missing(item):
        return "the row has no entry"
    try:
        if isinstance(item, str) or hasattr(item, "GetAtoms"):
            return row_of_molecule(item, space)
        return space.row_of(item)
    except (TypeError, ValueError) as error:
        text = str(error)
        return text if text.startswith(("the ", "cannot ")) else f"the input {text}"


def row_of_molecule(item: Any, space: InputSpace) -> InputRow:
    """Fingerprint of a molecule or a SMILES as a row of bytes."""
    if space.is_image:
        raise TypeError(f"the input is a molecule, but this model takes {space.called()}")
    molecule = item
    if isinstance(item, str):
        from rdkit import Chem

        Graph.from_smiles(item)  # says what is wrong with it, if anything is
        molecule = Chem.MolFromSmiles(item.strip())
    return space.of_counts(morgan_counts(molecule, space.size))


@quietly
def predict(
    model: GraphPredictor,
    inputs: Any,
    batch_size: int = 256,
    on_error: OnError = "raise",
    sizes: Sequence[int] | None = None,
    progress: Callable[[int], object] | None = None,
) -> list[Graph | None]:
    """Predict graphs; see `GraphPredictor.predict`."""
    check_on_error(on_error)
    rows, good = _good_rows(model, inputs, on_error)
    if sizes is not None and len(sizes) != len(inputs):
        raise ValueError(f"got {len(sizes)} sizes for {len(inputs)} inputs; give one each")
    told = None if sizes is None else np.asarray(sizes)[good]
    found = iter(_likeliest(model, rows, told, batch_size, progress))
    if on_error == "skip":
        return [*found]
    is_good = np.zeros(len(inputs), dtype=bool)
    is_good[good] = True
    return [next(found) if is_there else None for is_there in is_good]


def _likeliest(
    model: GraphPredictor,
    rows: InputRow,
    sizes: NDArray[Any] | None,
    batch_size: int,
    progress: Callable[[int], object] | None,
) -> list[Graph]:
    graphs: list[Graph] = []
    for logits, told in logits_of_rows(model, rows, sizes, batch_size):
        graphs += logits.most_likely(model.space.directed, told).to_graphs()
        if progress is not None:
            progress(len(logits.node_mask))
    return named(graphs, model.space)


@quietly
def predict_candidates(
    model: GraphPredictor, inputs: Any, options: CodecOptions
) -> list[list[Graph]]:
    """Several graphs per input; see `GraphPredictor.predict_candidates`."""
    rows, _ = _good_rows(model, inputs, "raise")
    found: list[list[Graph]] = []
    for logits, _ in logits_of_rows(model, rows, None, options.batch_size):
        found += candidates_of(model, logits, options)
    return found


@quietly
def likeliest_and_candidates(
    model: GraphPredictor, rows: InputRow, options: CodecOptions
) -> list[list[Graph]]:
    """Of each row of bytes the likeliest graph, valid or not, and then its candidates."""
    found: list[list[Graph]] = []
    for logits, _ in logits_of_rows(model, rows, None, options.batch_size):
        firsts = named(logits.most_likely(model.space.directed).to_graphs(), model.space)
        listed = candidates_of(model, logits, options)
        found += [[first, *more] for first, more in zip(firsts, listed)]
    return found


def candidates_of(
    model: GraphPredictor, logits: GraphLogits, options: CodecOptions
) -> list[list[Graph]]:
    """Distinct likely graphs of each row of logits, the likeliest first."""
    candidates, most = options.candidates, options.candidates * options.molecule_tries
    logits = GraphLogits(*(getattr(logits, field.name).cpu() for field in fields(logits)))
    found = []
    for row in range(len(logits.node_mask)):
        likely = islice(likeliest_graphs(logits, row, model.space.directed), most)
        found.append([*islice(_distinct(likely, model), candidates)])
    return found


def _distinct(graphs: Iterator[Graph], model: GraphPredictor) -> Iterator[Graph]:
    seen = SeenGraphs(model.space)
    for graph in graphs:
        with suppress(MoleculeError):
            if seen.adds(graph):
                yield model.space.named(graph)


def logits_of_rows(
    model: GraphPredictor, rows: InputRow, sizes: NDArray[Any] | None, batch_size: int
) -> Iterator[tuple[GraphLogits, Int[Tensor, " B"] | None]]:
    """Predict rows of bytes batch by batch; also the true sizes, if they are given."""
    device = next(model.parameters()).device
    for start in range(0, len(rows), batch_size):
        cut = slice(start, start + batch_size)
        batch: UInt8[Tensor, "B w"] = torch.tensor(rows[cut], device=device)
        told = None if sizes is None else torch.tensor(sizes[cut], device=device)
        yield model.logits_of(batch, told), told


def _good_rows(model: GraphPredictor, inputs: Any, on_error: OnError) -> tuple[InputRow, list[int]]:
    """Rows of bytes of the inputs that the model can take, and their places."""
    if model.inputs.holds_rows(inputs):
        return inputs, list(range(len(inputs)))
    screened = screen_inputs(inputs, model.inputs)
    if on_error == "raise":
        for place, item in enumerate(screened):
            if isinstance(item, str):
                raise ValueError(f"item {place}: {item}")
    good = [place for place, item in enumerate(screened) if not isinstance(item, str)]
    kept = [screened[place] for place in good]
    rows = np.stack(kept) if kept else np.zeros((0, model.inputs.num_bytes), dtype=np.uint8)  # type: ignore[arg-type]
    return rows, good
