"""`grale evaluate MODEL`: how well a model reconstructs unseen graphs."""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

import typer

from grale.cli.options import Refine, Search

if TYPE_CHECKING:
    from grale.codec.graph_autoencoder import GraphAutoencoder
    from grale.training.evaluation import Outcomes

MOST_OF_GEOMETRY = 6_000  # graphs; ridge and neighbours need no more


def evaluate(
    model: str = typer.Argument(help="A shipped model, a directory, or a hub id."),
    data: str | None = typer.Option(
        None,
        help="coloring10, coloring15, coloring20, library, or a dataset folder; by default what "
        "suits the model (for molecules data/pool32 or data/pool16, if it is there).",
    ),
    split: str = typer.Option("test", help="Split of the data: test, valid or train."),
    count: int = typer.Option(10_000, min=1, help="Held-out graphs to reconstruct."),
    by_size: bool = typer.Option(False, "--by-size", help="Also by number of nodes."),
    batch_size: int = typer.Option(256, min=1, help="Graphs at once."),
    search: Search = 1,
    refine: Refine = 0,
    geometry: bool = typer.Option(
        False,
        "--geometry",
        help="Measure the geometry of the space instead: what near vectors mean, and how "
        "much is valid next to and between graphs.",
    ),
) -> None:
    """Reconstruct held-out graphs and print the scores, with 95 % intervals."""
    from dataclasses import replace

    import numpy as np

    from grale.catalog import load_any
    from grale.cli.terminal import counting, keep_freed_memory, show
    from grale.codec.options import CodecOptions
    from grale.data.molecules.prepared import prepared_molecules
    from grale.data.samples import sample_graphs, usual_data
    from grale.graphs.molecules.molecule import is_molecular
    from grale.training.evaluation import reconstruct_all

    keep_freed_memory()
    options = CodecOptions(batch_size=batch_size, searched_graphs=search, refine_steps=refine)
    loaded = load_any(model)
    if data is None:
        data = prepared_molecules(loaded.space) or usual_data(loaded.space)
    if geometry:
        _show_geometry(model, loaded, data, split, min(count, MOST_OF_GEOMETRY))
        return
    graphs = sample_graphs(loaded.space, count, data, split)
    count = len(graphs)
    with counting("reconstructing", count) as advance:
        full = reconstruct_all(loaded, graphs, options, False, advance)
    told, rest = full, full.inexact()  # exact ones stay exact when the size is given
    if rest:
        with counting("the others, with their size given", len(rest)) as advance:
            plain = replace(options, searched_graphs=1)
            again = reconstruct_all(loaded, rest, plain, True, advance)
        told = full.with_second_try(again)
    rows = [
        ["", "standard", "size given (as in the paper)"],
        ["exactly reconstructed", str(full.exact()), str(told.exact())],
        ["edit distance (upper bound)", str(full.mean_distance()), str(told.mean_distance())],
        ["size right", f"{full.report().size_accuracy:.2%}", "-"],
    ]
    if is_molecular(loaded.space):
        rows.append(["valid molecule", str(full.valid()), str(told.valid())])
    if full.feature_errors:
        error = np.nanmean(full.feature_errors)
        rows.append(["node features, mean error over deviation", f"{error:.4f}", "-"])
    show(f"{model} on {count} unseen {data} graphs", rows)
    if by_size:
        _show_by_size(full)


def _show_by_size(full: Outcomes) -> None:
    """Print the scores of the graphs of each size."""
    from grale.cli.terminal import show

    groups = full.grouped([graph.num_nodes for graph in full.graphs])
    rows = [["nodes", "graphs", "exactly reconstructed", "edit distance (upper bound)"]]
    for size, part in groups.items():
        found = str(part.exact()), str(part.mean_distance())
        rows.append([str(size), str(len(part.graphs)), *found])
    show("by size", rows)


def _show_geometry(name: str, model: GraphAutoencoder, data: str, split: str, count: int) -> None:
    """Measure and print the geometry of a model's space."""
    from grale.cli.terminal import counting, show
    from grale.data.samples import stream_graphs
    from grale.tasks.geometry import measure_geometry, suits

    everything = stream_graphs(model.space, 1_000_000, data, split)
    graphs = list(islice((g for g in everything if suits(model.space, g)), count))
    if len(graphs) < 100:
        raise ValueError(f"{data} has {len(graphs)} suitable graphs; at least 100 are needed")
    with counting("measuring", 5) as advance:
        found = measure_geometry(model, graphs, progress=advance)
    rows = [["", "latent", "description"]]
    for title, values in (("five neighbours", found.neighbours), ("ridge", found.ridge)):
        for label, r2 in values.items():
            rows.append([f"R2 of {label}, {title}", f"{r2.latent:.3f}", f"{r2.description:.3f}"])
    both = (f"{each:.3f}" for each in found.edits)
    rows.append(["rank correlation of distance and edits", *both])
    rows.append(["valid and in one piece after a random step of 30 %", str(found.moved), "-"])
    rows.append(["valid and in one piece half way to another", str(found.midpoints), "-"])
    show(f"{name}: the space of {found.num_graphs} unseen {data} graphs", rows)
