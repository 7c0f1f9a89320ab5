"""`grale evaluate MODEL`: how well a model gives unseen graphs back."""

from __future__ import annotations

import typer


def evaluate(
    model: str = typer.Argument(help="A shipped model, a directory, or a hub id."),
    data: str = typer.Option(
        "coloring10", help="coloring10, coloring15, coloring20, or the folder of a dataset."
    ),
    split: str = typer.Option("test", help="Split of a dataset folder: test, valid or train."),
    count: int = typer.Option(10_000, min=1, help="Held-out graphs to reconstruct."),
    batch_size: int = typer.Option(256, min=1, help="Graphs at once."),
) -> None:
    """Reconstruct held-out graphs and print the scores."""
    from grale.cli.terminal import console, counting, keep_freed_memory, table
    from grale.data.sources import held_out_graphs
    from grale.model.catalog import load
    from grale.training.evaluation import evaluate as score

    keep_freed_memory()
    graphs = held_out_graphs(data, count, split)
    loaded = load(model)
    count = len(graphs)
    with counting("reconstructing", 2 * count) as advance:
        full = score(loaded, graphs, batch_size, progress=advance)
        told = score(loaded, graphs, batch_size, at_size=True, progress=advance)
    rows = [
        ["", "standard", "size told (as in the paper)"],
        ["exactly reconstructed", f"{full.accuracy:.2%}", f"{told.accuracy:.2%}"],
        ["edit distance (upper bound)", f"{full.edit_distance:.3f}", f"{told.edit_distance:.3f}"],
        ["size right", f"{full.size_accuracy:.2%}", "-"],
    ]
    console.print(table(f"{model} on {count} unseen {data} graphs", rows))
