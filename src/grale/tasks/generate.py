"""New graphs from the prior of a model, as a stream of rows (decisions/015)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from math import isnan
from pathlib import Path
from typing import Any

from grale.codec.decode import decode
from grale.codec.identity import checksum_of_weights, provenance
from grale.codec.options import CodecOptions
from grale.codec.sample import SIZE, SampleOptions, check_conditions, sample_latents
from grale.files import locked
from grale.graphs.graph import Graph
from grale.graphs.molecules.molecule import is_molecular
from grale.metrics.generation import SeenGraphs, why_invalid
from grale.model.autoencoder import GRALE
from grale.prior.conditions import Range, Wanted
from grale.tasks.generated_files import check_format, open_writer
from grale.tasks.interpolate import decode_valid
from grale.tasks.keep import contains, template_of
from grale.tasks.properties import Property, named_property

MOST_DRAWS = 10  # for each graph wanted, if repeats are left out


@dataclass(frozen=True, kw_only=True)
class GenerateConfig:
    """What to draw."""

    count: int
    wanted: Wanted = field(default_factory=dict)
    """Conditions by name: numbers or ranges."""
    options: SampleOptions = field(default_factory=SampleOptions)
    distinct: bool = False
    """Whether invalid graphs and repeats are left out, and more are drawn instead."""
    tries: int = 1
    """Likeliest graphs of a latent to look at for a valid molecule; 1 for no repair."""
    keep: str | None = None
    """A pattern (SMARTS): new molecules keep these atoms of `like`."""
    like: str | None = None
    """The molecule whose atoms are kept."""

    def __post_init__(self) -> None:
        if self.count < 1:
            raise ValueError(f"the number of graphs must be at least 1, got {self.count}")
        if self.tries < 1:
            raise ValueError(f"tries must be at least 1, got {self.tries}")
        if (self.keep is None) != (self.like is None):
            raise ValueError(
                "keep and like go together: the atoms to keep, and a molecule that has them"
            )


@dataclass(frozen=True)
class GenerateReport:
    """Counts over all rows."""

    drawn: int = 0
    """Latents drawn."""
    rows: int = 0
    """Graphs returned or written."""
    valid: int = 0
    met: int = 0
    """Valid graphs that meet every size and range that was asked for."""


@dataclass(frozen=True)
class NewGraph:
    """One drawn graph."""

    row: int
    graph: Graph
    reason: str | None
    """Why it is not valid, or None."""
    values: dict[str, float]
    """What was asked for, as it is."""
    meets: bool
    """Whether it is valid, in every range that was asked for, and has the part to keep."""

    def record(self, has_smiles: bool) -> dict[str, Any]:
        """Values of a row of a file; formats choose from them."""
        graph, is_valid = self.graph, self.reason is None
        return {
            "row": self.row,
            "smiles": graph.to_smiles() if has_smiles and is_valid else None,
            "valid": is_valid,
            "reason": self.reason,
            "meets": self.meets,
            "node_labels": graph.node_labels.tolist(),
            "edges": graph.edges.tolist(),
            "edge_labels": graph.edge_labels.tolist(),
            SIZE: float(graph.num_nodes),
            **self.values,
        }


def generate(
    model: GRALE, config: GenerateConfig, progress: Callable[[int], object] = lambda done: None
) -> Iterator[NewGraph]:
    """Draw graphs one by one; everything is checked before the first."""
    check_conditions(model, config.wanted)
    template = None
    if config.keep is not None:
        template = template_of(model, config.like, config.keep)
    known = {name: named_property(name) for name in config.wanted}
    total = config.count * (MOST_DRAWS if config.distinct else 1)
    batches = sample_latents(model, total, config.wanted, config.options, template)
    return _rows(model, config, known, batches, progress)


def _rows(
    model: GRALE,
    config: GenerateConfig,
    known: dict[str, Property],
    batches: Iterator[Any],
    progress: Callable[[int], object],
) -> Iterator[NewGraph]:
    seen, row, found = SeenGraphs(model.space), 0, 0
    for latents in batches:
        for graph in _decoded(model, latents, config):
            new = _described(row, graph, model, config, known)
            row += 1
            if config.distinct and (not new.meets or not seen.adds(graph)):
                continue
            found += 1
            progress(1)
            yield new
            if found == config.count:
                return


def _decoded(model: GRALE, latents: Any, config: GenerateConfig) -> list[Graph]:
    if config.tries > 1:
        return decode_valid(model, latents, CodecOptions(molecule_tries=config.tries))
    return decode(model, latents, CodecOptions(batch_size=config.options.batch_size))


def _described(
    row: int, graph: Graph, model: GRALE, config: GenerateConfig, known: dict[str, Property]
) -> NewGraph:
    reason = why_invalid(graph, model.space)
    values = {name: of(graph) for name, of in known.items()}
    meets = reason is None and all(
        _is_met(name, config.wanted[name], value) for name, value in values.items()
    )
    if meets and config.keep is not None:
        meets = contains(graph, config.keep)
    return NewGraph(row, graph, reason, values, meets)


def _is_met(name: str, wanted: Any, value: float) -> bool:
    """Whether a graph has the size, or lies in the range; other numbers are only aimed at."""
    if isnan(value):
        return False
    if isinstance(wanted, Range):
        return wanted.low <= value <= wanted.high
    return name != SIZE or value == wanted


def generate_file(
    model: GRALE,
    model_name: str,
    out: Path,
    config: GenerateConfig,
    progress: Callable[[int], object] = lambda done: None,
) -> GenerateReport:
    """Write new graphs as they are drawn; the file appears when it is complete.

    It says which model and which prior they are from: parquet in its metadata, others in a file
    beside it.
    """
    check_format(out, is_molecular(model.space))
    graphs = generate(model, config, progress)
    drawn = rows = valid = met = 0
    has_smiles = is_molecular(model.space)
    columns = [SIZE, *(name for name in config.wanted if name != SIZE)]
    made_with = provenance(model, model_name, "prior")
    made_with["prior"] = checksum_of_weights(model.prior)
    with locked(out), open_writer(out, columns, made_with) as write:
        for new in graphs:
            write(new.record(has_smiles))
            drawn, rows = new.row + 1, rows + 1
            valid, met = valid + (new.reason is None), met + new.meets
    return GenerateReport(drawn, rows, valid, met)
