"""`grale fit FILE -o MODEL`: graphs of one's own to a trained model."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

NodeAttribute = Annotated[
    list[str] | None,
    typer.Option(
        "--node-attribute", help="Use only this attribute of nodes; may be repeated. Default: all."
    ),
]
EdgeAttribute = Annotated[
    list[str] | None, typer.Option("--edge-attribute", help="The same for edges.")
]
MaxNodes = Annotated[int, typer.Option(min=1, help="Larger graphs are left out, and named.")]
Directed = Annotated[
    bool, typer.Option("--directed", help="For formats that do not say: TU, OGB, PyG.")
]


def fit(
    file: Annotated[
        Path,
        typer.Argument(
            help="File or folder of graphs: GraphML, GEXF, JSON, JSON lines, parquet, TU, OGB, "
            "PyG; or a dataset of `grale prepare graphs`."
        ),
    ],
    out: Annotated[Path, typer.Option("--out", "-o", help="Folder of the model.")],
    minutes: Annotated[
        float, typer.Option(min=0.01, help="Time for training steps, at most.")
    ] = 10.0,
    node_attribute: NodeAttribute = None,
    edge_attribute: EdgeAttribute = None,
    max_nodes: MaxNodes = 128,
    directed: Directed = False,
    seed: Annotated[int, typer.Option(min=0, help="Chooses the initial weights.")] = 0,
) -> None:
    """Train a model of your own graphs; sizes, vocabulary and recipe are chosen from them."""
    from grale.cli.terminal import complain, keep_freed_memory, say, show
    from grale.cli.watch import watch
    from grale.data.own.schema import Choice
    from grale.files import locked
    from grale.training.fit import fit_dataset, opened_dataset

    keep_freed_memory()
    if out.is_file():
        raise FileExistsError(f"{out} is a file; name a folder for the model")
    choice = Choice(node_attribute, edge_attribute)
    with locked(out), opened_dataset(file, choice, max_nodes, directed) as (folder, remarks):
        fitted = fit_dataset(folder, minutes, seed, lambda trainer: watch(trainer, []))
        fitted.model.save_pretrained(out)
    space = fitted.model.space
    rows = [
        ["training graphs", str(fitted.num_train)],
        ["largest graph", f"{space.max_nodes} nodes"],
        ["node labels, edge labels", f"{space.num_node_labels}, {space.num_edge_labels}"],
        ["numbers in a vector", str(fitted.model.latent_dim)],
        ["training graphs that come back exactly", f"{fitted.exact_train:.1%}"],
        [f"of {fitted.num_held_out} held-out graphs", f"{fitted.exact_held_out:.1%}"],
    ]
    show(f"{file} -> {out}", [["", "model"], *rows])
    for remark in (*remarks, *fitted.remarks):
        complain(f"note: {remark}")
    say(f'use it: grale.load("{out}"), or grale map {file} --model {out}')
