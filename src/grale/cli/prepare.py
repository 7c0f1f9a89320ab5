"""`grale prepare`: molecules, or graphs of any kind, in files to a dataset for training."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from grale.cli.fit import Directed, EdgeAttribute, MaxNodes, NodeAttribute
from grale.files import locked

if TYPE_CHECKING:
    from grale.data.molecules.prepare import RowSource
    from grale.graphs.space import GraphSpace

prepare = typer.Typer(
    help="Turn molecules, or graphs of any kind, into a dataset for training.", no_args_is_help=True
)

Out = Annotated[Path, typer.Argument(help="Folder of the dataset.")]
MaxAtoms = Annotated[int, typer.Option(min=1, help="Heavy atoms; larger molecules are left out.")]
Descriptors = Annotated[
    bool, typer.Option(help="Store RDKit's descriptors, which a description can be trained on.")
]
Workers = Annotated[int, typer.Option(min=1, help="Processes that parse.")]


@prepare.command()
def molecules(
    files: Annotated[
        list[Path],
        typer.Argument(
            metavar="IN... OUT",
            help="csv, tsv, smi, sdf or parquet, also .gz; the folder comes last, or with --out.",
        ),
    ],
    out: Annotated[Path | None, typer.Option("--out", "-o", help="Folder of the dataset.")] = None,
    column: Annotated[str | None, typer.Option(help="Column of the SMILES.")] = None,
    max_atoms: MaxAtoms = 32,
    workers: Workers = 2,
    descriptors: Descriptors = False,
) -> None:
    """Parse, drop duplicate graphs, split by hash; a killed run continues when started again."""
    from grale.data.molecules.files import FORMATS, kind_of, open_molecules

    if out is None:
        *files, out = files
        if not files or out.is_file() or kind_of(out) in FORMATS:
            raise ValueError(
                f"the last argument should be the folder of the dataset, got {out}; "
                "name the folder last or with --out"
            )
    _run([open_molecules(file, column) for file in files], out, max_atoms, workers, descriptors)


@prepare.command()
def graphs(
    file: Annotated[
        Path,
        typer.Argument(
            metavar="IN",
            help="File or folder: GraphML, GEXF, JSON, JSON lines, parquet, TU, OGB, PyG.",
        ),
    ],
    out: Out,
    node_attribute: NodeAttribute = None,
    edge_attribute: EdgeAttribute = None,
    max_nodes: MaxNodes = 128,
    directed: Directed = False,
) -> None:
    """Graphs of your own: four fifths to train, a tenth each held out; names of labels are kept."""
    from grale.cli.terminal import show, working
    from grale.data.own.prepare import REJECTED
    from grale.data.own.prepare import prepare as run

    with working(f"reading {file}"):
        done = run(
            file,
            out,
            node_attributes=node_attribute,
            edge_attributes=edge_attribute,
            max_nodes=max_nodes,
            directed=directed,
        )
    rows = [[name, str(count)] for name, count in done.rows.items()]
    rows += [["distinct", str(done.distinct)], [f"left out, see {REJECTED}", str(done.rejected)]]
    show(f"{file} -> {out}", [["", "graphs"], *rows])
    show("what they carry", [["", "values"], *_carried(done.space)])


@prepare.command()
def pubchem(
    out: Out,
    file: Annotated[
        Path | None, typer.Option(help="CID-SMILES.gz, if you have it; by default, download it.")
    ] = None,
    max_atoms: MaxAtoms = 32,
    workers: Workers = 2,
) -> None:
    """All of PubChem (over 100 million molecules); an interrupted download continues."""
    from grale.cli.terminal import counting
    from grale.data.download import download
    from grale.data.molecules.files import MoleculeFile
    from grale.data.molecules.sets import PUBCHEM_SMILES

    if file is None:
        with counting("bytes", None) as advance:
            file = download(PUBCHEM_SMILES, out / "CID-SMILES.gz", advance)
    elif not file.is_file():
        raise FileNotFoundError(f"{file} is not a file")
    _run([MoleculeFile(file, "smi")], out, max_atoms, workers)


@prepare.command()
def networks(
    out: Out,
    count: Annotated[int, typer.Option(min=10, help="Networks to draw.")] = 200_000,
    seed: Annotated[int, typer.Option(min=0, help="Chooses the networks.")] = 0,
) -> None:
    """Random Bayesian networks of 8 variables: 90 % to train, 5 % each held out."""
    from grale.cli.terminal import say
    from grale.data.bayes_nets import NETWORK_SPACE, random_networks
    from grale.data.storage import write_shards

    cuts: dict[str, slice] = {
        "train": slice(0, -count // 10),
        "valid": slice(-count // 10, -count // 20),
        "test": slice(-count // 20, None),
    }
    with locked(out):
        drawn = random_networks(count, seed=seed)
        for split, cut in cuts.items():
            manifest = write_shards(out / split, drawn[cut], NETWORK_SPACE)
            say(f"{out / split}: {manifest.rows} networks")


@prepare.command()
def pool(
    folder: Annotated[Path, typer.Argument(help="Folder with pool-*.parquet.")],
    out: Out,
    max_atoms: MaxAtoms = 16,
    workers: Workers = 2,
    share: Annotated[
        float, typer.Option(min=0.0, max=1.0, help="Share of common training molecules to keep.")
    ] = 1.0,
    descriptors: Descriptors = False,
) -> None:
    """POOL 16 or 32, with its own split and without the molecules of the benchmarks."""
    from grale.data.molecules.pool import open_pool

    _run(open_pool(folder, max_atoms, share), out, max_atoms, workers, descriptors)


@prepare.command()
def ged(
    folder: Annotated[Path, typer.Argument(help="Folder with ged_graphs.parquet.")],
    out: Out,
    name: Annotated[str, typer.Option(help="AIDS700nef or LINUX.")] = "AIDS700nef",
) -> None:
    """Graphs with known edit distances; every tenth training graph is held out."""
    from grale.cli.terminal import say
    from grale.data.ged_sets import prepare_ged_set

    with locked(out):
        found = prepare_ged_set(folder, out, name)
    for split, rows in found.items():
        say(f"{out / split}: {rows} graphs")


def _carried(space: GraphSpace) -> list[list[str]]:
    """Rows of a table: attributes of nodes and edges, and how many values each label has."""
    known = space.attributes
    rows = [["largest graph", f"{space.max_nodes} nodes"]]
    for item, count, vocabulary, features in (
        ("node", space.num_node_labels, known and known.nodes, known and known.node_features),
        ("edge", space.num_edge_labels, known and known.edges, known and known.edge_features),
    ):
        names = f" ({', '.join(vocabulary.attributes)})" if vocabulary else ""
        rows.append([f"{item} labels{names}", str(count)])
        if features:
            names = ", ".join(dict.fromkeys(features.names))
            rows.append([f"{item} features ({names})", f"{len(features)} numbers"])
    return rows


@prepare.command()
def latents(
    data: Annotated[
        str,
        typer.Argument(help="coloring10, coloring15, coloring20, library, or a dataset folder."),
    ],
    out: Out,
    model: Annotated[str, typer.Option(help="A shipped model, a directory, or a hub id.")],
    count: Annotated[
        int, typer.Option(min=1, help="Training graphs to encode; all of a dataset of pairs.")
    ] = 100_000,
    properties: Annotated[
        list[str] | None,
        typer.Option(
            "--property",
            "-p",
            help="What new graphs may be asked for, besides their size; may be repeated. By "
            "default logP, QED and TPSA of molecules.",
        ),
    ] = None,
) -> None:
    """Latents of a trained model, for `grale train prior`; of pairs, for `grale train predict`."""
    from grale.catalog import load
    from grale.cli.terminal import counting, keep_freed_memory, say
    from grale.tasks.latent_cache import CacheConfig, cache_latents
    from grale.tasks.pair_latents import cache_pair_latents, is_pairs

    keep_freed_memory()
    wanted = None if properties is None else tuple(properties)
    config = CacheConfig(data=data, count=count, properties=wanted)
    with locked(out), counting("latents", None) as advance:
        if is_pairs(data):
            if wanted:
                raise ValueError("pairs have no properties; leave out --property")
            found = cache_pair_latents(load(model), model, Path(data), out, advance)
        else:
            found = cache_latents(load(model), model, out, config, advance)
    for split, rows in found.items():
        say(f"{out / split}: {rows} latents of {model}")


@prepare.command()
def images(
    name: Annotated[str, typer.Argument(help="coloring10, coloring15 or coloring20.")],
    out: Out,
    count: Annotated[int, typer.Option(min=3, help="Images; a tenth is held out.")] = 100_000,
    seed: Annotated[int, typer.Option(min=0, help="Chooses the training images.")] = 0,
) -> None:
    """COLORING graphs and the images that they are to be predicted from."""
    from grale.cli.terminal import counting, say
    from grale.data.pairs import prepare_images

    with locked(out), counting("images", count) as advance:
        found = prepare_images(name, out, count, seed, advance)
    for split, rows in found.items():
        say(f"{out / split}: {rows} images and graphs")


@prepare.command()
def fingerprints(
    data: Annotated[Path, typer.Argument(help="Dataset of molecules, as other verbs make it.")],
    out: Out,
    counts: Annotated[
        bool, typer.Option("--counts", help="How often each substructure occurs, not only which.")
    ] = False,
    places: Annotated[int, typer.Option(min=1, help="Length of the fingerprint.")] = 2_048,
    min_atoms: Annotated[int, typer.Option(min=1, help="Smaller molecules are left out.")] = 1,
    max_atoms: Annotated[int | None, typer.Option(min=1, help="Larger ones, too.")] = None,
    elements: Annotated[
        str, typer.Option(help="Only molecules of these elements, such as C,N,O,S,Cl.")
    ] = "",
    without: Annotated[
        list[str] | None,
        typer.Option(help="Leave out held-out molecules that this dataset trains on; repeatable."),
    ] = None,
    count: Annotated[int | None, typer.Option(min=1, help="Training molecules.")] = None,
) -> None:
    """Molecules and the Morgan fingerprints that they are to be predicted from."""
    from grale.cli.terminal import counting, show
    from grale.data.pairs import FingerprintConfig, prepare_fingerprints

    config = FingerprintConfig(
        kind="counts" if counts else "bits",
        num_places=places,
        min_atoms=min_atoms,
        max_atoms=max_atoms,
        elements=tuple(part.strip() for part in elements.split(",") if part.strip()),
        without=tuple(without or ()),
        count=count,
    )
    with locked(out), counting("molecules", None) as advance:
        found = prepare_fingerprints(data, out, config, advance)
    show(f"{data} -> {out}", [["", "molecules"], *([k, str(v)] for k, v in found.items())])


def _run(
    sources: Sequence[RowSource],
    out: Path,
    max_atoms: int,
    workers: int,
    descriptors: bool = False,
) -> None:
    from grale.cli.terminal import counting, show
    from grale.data.molecules.prepare import PrepareConfig
    from grale.data.molecules.prepare import prepare as run

    config = PrepareConfig(max_atoms=max_atoms, num_workers=workers, descriptors=descriptors)
    with counting("molecules", None) as advance:
        done = run(sources, out, config, advance)
    rows = [["rows", str(done.rows)], ["rejected", str(done.rejected)]]
    rows += [["duplicates", str(done.duplicates)]]
    rows += [[split, str(count)] for split, count in done.kept.items()]
    show(f"{out}: rejected rows are in rejected.parquet", [["", "graphs"], *rows])
