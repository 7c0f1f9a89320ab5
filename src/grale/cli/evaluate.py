"""`grale evaluate MODEL`: how well a model gives unseen graphs back."""

from __future__ import annotations

from pathlib import Path

import typer

from grale.cli.options import Refine, Search


def evaluate(
    model: str = typer.Argument(help="A shipped model, a directory, or a hub id."),
    data: str | None = typer.Option(
        None,
        help="coloring10, coloring15, coloring20, library, or the folder of a dataset; what suits "
        "the model if not given (molecules: data/pool16 if it is there).",
    ),
    split: str = typer.Option("test", help="Split of the data: test, valid or train."),
    count: int = typer.Option(10_000, min=1, help="Held-out graphs to reconstruct."),
    by_size: bool = typer.Option(False, "--by-size", help="Also by number of nodes."),
    batch_size: int = typer.Option(256, min=1, help="Graphs at once."),
    search: Search = 1,
    refine: Refine = 0,
) -> None:
    """Reconstruct held-out graphs and print the scores, with 95 % intervals."""
    from grale.catalog import load_any
    from grale.cli.terminal import console, counting, keep_freed_memory, table
    from grale.data.samples import sample_graphs, usual_data
    from grale.experiments.molecules import find_molecules
    from grale.graphs.molecule import is_molecular
    from grale.training.evaluation import reconstruct_all

    keep_freed_memory()
    loaded = load_any(model)
    if data is None:
        molecules = find_molecules(None, Path()) if is_molecular(loaded.space) else None
        data = molecules or usual_data(loaded.space)
    graphs = sample_graphs(loaded.space, count, data, split)
    count = len(graphs)
    with counting("reconstructing", count) as advance:
        full = reconstruct_all(loaded, graphs, batch_size, False, advance, search, refine)
    told, rest = full, full.inexact()  # what is exact without being told its size is so with it
    if rest:
        with counting("the others, told their size", len(rest)) as advance:
            again = reconstruct_all(loaded, rest, batch_size, True, advance, refine=refine)
        told = full.with_second_try(again)
    rows = [
        ["", "standard", "size told (as in the paper)"],
        ["exactly reconstructed", str(full.exact()), str(told.exact())],
        ["edit distance (upper bound)", str(full.mean_distance()), str(told.mean_distance())],
        ["size right", f"{full.report().size_accuracy:.2%}", "-"],
    ]
    if is_molecular(loaded.space):
        rows.append(["valid molecule", str(full.valid()), str(told.valid())])
    console.print(table(f"{model} on {count} unseen {data} graphs", rows))
    if by_size:
        groups = full.grouped([graph.num_nodes for graph in graphs])
        rows = [["nodes", "graphs", "exactly reconstructed", "edit distance (upper bound)"]]
        for size, part in groups.items():
            found = str(part.exact()), str(part.mean_distance())
            rows.append([str(size), str(len(part.graphs)), *found])
        console.print(table("by size", rows))
