"""`grale match A B`: which node plays which, and the edits between two graphs."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from grale.cli.interpolate import GRAPH_HELP, Model
from grale.cli.options import Column

PICTURE = Path("match.png")


def match(
    first: Annotated[
        str,
        typer.Argument(help=GRAPH_HELP + " Or a csv or parquet of pairs (columns a and b)."),
    ],
    second: Annotated[
        str | None,
        typer.Argument(help="The other graph, or another file to match row by row with the first."),
    ] = None,
    model: Model = "molecules",
    method: Annotated[
        str,
        typer.Option(
            help="grale, grale+tabu, grale+beam, tabu, beam, graduated, exact, sm, rrwm, ipfp, "
            "astar or greedy-astar."
        ),
    ] = "grale+tabu",
    time_limit: Annotated[
        float | None,
        typer.Option(min=1e-4, help="Seconds per pair; by default 0.01, for solvers 10."),
    ] = None,
    tries: Annotated[
        int,
        typer.Option(min=1, help="Draws of the model's noise to match under; the best is kept."),
    ] = 1,
    column: Column = None,
    out: Annotated[
        Path | None, typer.Option("--out", "-o", help="Picture; for many pairs .parquet or .csv.")
    ] = None,
) -> None:
    """Match two graphs, print the edits and draw them with matched nodes in one colour."""
    from grale.catalog import load
    from grale.cli.terminal import counting, keep_freed_memory, say, show
    from grale.data.samples import named_graph
    from grale.graphs.molecules.names import names_of
    from grale.matching.solve import method_called, solve
    from grale.plot.figures import picture_format, save_figure
    from grale.plot.look import look_of
    from grale.plot.matching import matching_figure
    from grale.tasks.match_file import count_pairs, match_file

    method = method_called(method)
    if time_limit is None:
        time_limit = 0.01 if "tabu" in method else 10.0
    is_many = second is None or (_is_table(first) and _is_table(second))
    if not is_many:
        picture_format(out or PICTURE)
    loaded = load(model)
    if second is None or is_many:
        keep_freed_memory()
        target, other = out or Path("matched.parquet"), Path(second) if second else None
        total = count_pairs(Path(first), other, loaded.space, column)
        with counting("matching", total) as advance:
            report = match_file(
                loaded, Path(first), target, method, time_limit, advance, tries, other, model,
                column,
            )  # fmt: skip
        rows = [["", method], ["pairs", str(report.pairs)], ["failed", str(report.failed)]]
        rows.append(["mean edit distance (upper bound)", f"{report.mean_distance:.3f}"])
        show(f"{first} -> {target}", rows)
        return
    g1, g2 = (named_graph(text, loaded.space, column) for text in (first, second))
    found = solve(g1, g2, method, time_limit, loaded, tries)
    assert found.seconds is not None  # `solve` measures it
    kind = "the edit distance" if found.is_optimal else "an upper bound of the edit distance"
    say(f"{found.edit_distance} edits ({kind}), {1000 * found.seconds:.1f} ms")
    for edit in found.edits:
        say(f"  {edit.text(names_of(loaded.space))}")
    figure = matching_figure(g1, g2, found.mapping, look_of(loaded.space))
    say(f"picture: {save_figure(figure, out or PICTURE)}")


def _is_table(text: str) -> bool:
    """Whether a text names a file or folder of many graphs."""
    return Path(text).exists() and not text.endswith(".json")
