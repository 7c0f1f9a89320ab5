"""`grale probe FILE --target COLUMN`: what vectors know of a measured property or a class."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from grale.cli.options import Column

if TYPE_CHECKING:
    from collections.abc import Sequence

    from grale.codec.graph_autoencoder import GraphAutoencoder
    from grale.data.molecules.files import MoleculeFile
    from grale.tasks.contenders import Maker, Molecules, Vectors
    from grale.tasks.probe import Probed

USUAL = ("molecules", "molecules+rdkit", "rdkit", "ecfp", "counts")
MOST_REASONS = 5


def probe(
    file: Annotated[
        Path,
        typer.Argument(
            help="Molecules in csv, tsv or parquet, also .gz; or, with a contender that was fitted "
            "to your own graphs, a file or folder of graphs."
        ),
    ],
    target: Annotated[
        str | None, typer.Option(help="Column of what is to be predicted: numbers, or two classes.")
    ] = None,
    contender: Annotated[
        list[str] | None,
        typer.Option(
            help="May be repeated: a model (its description), MODEL:latent, ecfp, atompair, rdkit, "
            "counts, chemnet, untrained, or several joined by a plus. Of your own graphs: a model, "
            "MODEL:latent, counts, untrained. "
            f"{', '.join(USUAL)} if not given."
        ),
    ] = None,
    column: Column = None,
    head: Annotated[
        Literal["svm", "svm-tuned", "mlp", "ridge", "logistic", "knn"],
        typer.Option(help="What learns from the vectors."),
    ] = "svm",
    split: Annotated[
        Literal["random", "scaffold", "size"], typer.Option(help="How a tenth is chosen for tests.")
    ] = "random",
    splits: Annotated[int, typer.Option(min=1, help="How many times.")] = 5,
    task: Annotated[
        Literal["auto", "regression", "classification"],
        typer.Option(help="auto: classification if the target has two values."),
    ] = "auto",
    what_is_missing: Annotated[
        bool,
        typer.Option(
            "--what-is-missing",
            help="Instead: the ten of RDKit's descriptors that are worst to read from each "
            "contender's vectors. Needs no target.",
        ),
    ] = False,
    out: Annotated[
        Path, typer.Option("--out", "-o", help="Picture; .json and .parquet go beside it.")
    ] = Path("probe.png"),
) -> None:
    """Compare what vectors know: same rows, same splits, same head for all contenders."""
    from grale.cli.terminal import counting, keep_freed_memory, say
    from grale.data.molecules.files import open_molecules
    from grale.data.molecules.targets import read_targets
    from grale.files import locked
    from grale.tasks import probe as probing
    from grale.tasks.contenders import find_makers, made_with
    from grale.tasks.probe_files import check_picture, write_probed
    from grale.tasks.probe_graphs import model_of_graphs, read_graph_rows

    keep_freed_memory()
    own = model_of_graphs(contender or ())
    opened = None if own is not None else open_molecules(file, column)
    if (target is None) != what_is_missing:
        raise ValueError(
            "give either --target COLUMN, what is to be predicted, or --what-is-missing"
        )
    if target is None:
        if opened is None:
            raise ValueError("--what-is-missing lists descriptors of molecules; give --target")
        _show_missing(opened, contender or USUAL[:1])
        return
    config = probing.ProbeConfig(head=head, split=split, num_splits=splits, task=task)
    check_picture(file, out)
    if own is not None:
        molecules, targets = read_graph_rows(file, target, own)
    elif opened is not None:
        targets = read_targets(opened, target)
    probing.check_targets(targets, config)
    with locked(out):
        if own is not None:
            vectors, sources = _of_graphs(contender or (), molecules, own)
        elif opened is not None:
            makers = find_makers(contender or USUAL)
            molecules, vectors = _read(opened, contender or USUAL, makers)
            sources = made_with(makers)
        with counting("fitting", len(vectors) * splits) as advance:
            found = probing.probe(molecules, targets, vectors, config, advance)
        written = write_probed(found, molecules, targets, config, out, sources)
    _show(found, vectors, f"{target} of {file}, {head}, {splits} {split} splits")
    say(f"written: {', '.join(str(path) for path in written)}")


def _of_graphs(
    contenders: Sequence[str], graphs: Molecules, model: GraphAutoencoder
) -> tuple[dict[str, Vectors], dict[str, dict[str, str | None]]]:
    """What the contenders make of the user's own graphs, and the models that did it."""
    from grale.cli.terminal import counting
    from grale.tasks.probe_graphs import graph_vectors, made_by_models

    with counting("vectors", len(contenders) * len(graphs.entries)) as advance:
        vectors = graph_vectors(contenders, graphs, model, advance)
    return vectors, made_by_models(contenders)


def _read(
    file: MoleculeFile, contenders: Sequence[str], makers: dict[str, Maker]
) -> tuple[Molecules, dict[str, Vectors]]:
    """All molecules of the file, and what the contenders make of them."""
    from grale.cli.terminal import counting
    from grale.tasks.contenders import contender_vectors, read_molecules

    entries = (entry for chunk in file.rows(65_536) for entry in chunk.entries)
    molecules = read_molecules(entries, file.text)
    with counting("vectors", len(makers) * len(molecules.entries)) as advance:
        return molecules, contender_vectors(contenders, molecules, makers, advance)


def _show(found: Probed, vectors: dict[str, Vectors], title: str) -> None:
    """Print the table, and which rows it is about."""
    from grale.cli.terminal import say, show
    from grale.tasks.probe_files import reasons_by_count

    lines = found.lines()
    widths = ["numbers", *(str(vectors[name].values.shape[1]) for name in found.scores)]
    show(title, [[row[0], width, *row[1:]] for row, width in zip(lines, widths)])
    say(f"{len(found.rows)} of {len(found.reasons)} rows, those that all contenders can take")
    reasons = reasons_by_count(found.reasons)
    for why, count in reasons[:MOST_REASONS]:
        say(f"  left out, {count}: {why}")
    if len(reasons) > MOST_REASONS:
        rest = sum(count for _, count in reasons[MOST_REASONS:])
        say(f"  left out, {rest}: other reasons; see the column reason of the parquet file")
    if any(found.shared):
        tested = sum(len(split.test) for split in found.splits)
        say(
            f"{sum(found.shared)} of {tested} tested rows hold a graph that was also learned "
            "from: duplicates flatter every contender"
        )


def _show_missing(file: MoleculeFile, contenders: Sequence[str]) -> None:
    """Print what cannot be read from each contender's vectors."""
    from grale.cli.terminal import counting, say, show
    from grale.tasks.contenders import find_makers
    from grale.tasks.missing import num_ticks, what_is_missing

    molecules, vectors = _read(file, contenders, find_makers(contenders))
    for name, made in vectors.items():
        with counting("descriptors", num_ticks(made)) as advance:
            found = what_is_missing(molecules, made, progress=advance)
        rows = [["descriptor", "R2, ridge", "R2, svm"]]
        rows += [[each.name, f"{each.ridge:.3f}", f"{each.svm:.3f}"] for each in found.worst]
        show(f"{name}: RDKit's descriptors that are worst to read from it", rows)
        say(
            f"{found.num_rows} molecules, a quarter of them predicted; {len(found.ridge)} "
            f"descriptors vary enough, half of them have an R2 above {found.median():.3f}"
        )
