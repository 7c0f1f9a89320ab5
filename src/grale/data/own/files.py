"""A file or folder of graphs, in whatever format people have.

FILE.graphml  .gexf  .json  .jsonl (.ndjson)  .parquet  .pt (of PyG)  .zip (TU)
FOLDER        of such files, of a TU set, of an OGB set, of PyG's InMemoryDataset
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from grale.data.own.json_graphs import read_json_graphs, read_json_lines
from grale.data.own.pyg_folder import CONVERT, find_pyg, read_pyg
from grale.data.own.tables import read_parquet_graphs
from grale.data.own.text_tables import find_ogb, find_tu, read_ogb, read_tu
from grale.data.own.xml_graphs import read_gexf, read_graphml
from grale.graphs.record import GraphRecord, RecordError

READERS: dict[str, Callable[[Path], Iterator[GraphRecord]]] = {
    ".graphml": read_graphml,
    ".gexf": read_gexf,
    ".json": read_json_graphs,
    ".jsonl": read_json_lines,
    ".ndjson": read_json_lines,
    ".parquet": read_parquet_graphs,
}
PICKLES = (".pkl", ".pickle", ".gpickle", ".p")


def read_records(path: Path, directed: bool = False) -> Iterator[GraphRecord]:
    """All graphs of a file or folder; `directed` is for formats that do not say."""
    if path.is_dir():
        return _read_folder(path, directed)
    if not path.is_file():
        raise FileNotFoundError(f"{path} is neither a file nor a folder")
    suffix = path.suffix.lower()
    if suffix in PICKLES:
        raise RecordError(
            f"{path} is a pickle, and opening one executes whatever it holds; where you trust it, "
            "load it in Python and call grale.prepare(graphs, 'data/mine')"
        )
    if suffix == ".pt":
        return read_pyg(path, directed)
    if suffix == ".zip":
        return read_tu(path, directed)
    if suffix in READERS:
        return READERS[suffix](path)
    known = ", ".join([*READERS, ".pt", ".zip"])
    raise RecordError(f"{path} has an unknown format; its name should end in one of {known}")


def is_graph_file(path: Path) -> bool:
    """Whether a path looks like graphs of one's own."""
    if path.is_dir():
        return bool(_files_of(path) or find_tu(path) or find_ogb(path) or find_pyg(path))
    return path.is_file() and path.suffix.lower() in (*READERS, ".pt", ".zip")


def _files_of(folder: Path) -> list[Path]:
    return [
        file for file in sorted(folder.iterdir())
        if file.is_file() and not file.name.startswith((".", "_"))
        and file.suffix.lower() in READERS
    ]  # fmt: skip


def _read_folder(folder: Path, directed: bool) -> Iterator[GraphRecord]:
    if find_tu(folder) is not None:
        return read_tu(folder, directed)
    if find_ogb(folder) is not None:
        return read_ogb(folder, directed)
    files = _files_of(folder)
    if not files:
        stored = find_pyg(folder)
        if stored is not None:
            return read_pyg(stored, directed)
        pickles = [file for file in sorted(folder.iterdir()) if file.suffix in PICKLES]
        hint = f"; {pickles[0].name} is a pickle: {CONVERT}" if pickles else ""
        known = ", ".join(READERS)
        raise RecordError(f"{folder} holds no file that ends in one of {known}{hint}")
    odd = next((file for file in files if file.suffix.lower() != files[0].suffix.lower()), None)
    if odd is not None:
        raise RecordError(f"{folder} mixes {files[0].name} and {odd.name}; keep one format")
    return (record for file in files for record in READERS[file.suffix.lower()](file))
