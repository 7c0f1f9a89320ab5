"""Folders of PyTorch Geometric's `InMemoryDataset`, without executing a pickle.

`processed/data.pt` holds the arrays of all graphs one after the other, and where each graph begins.
It is opened by `torch.load(weights_only=True)`, which knows tensors and plain containers; the names
of PyG's classes stand for a class that does nothing. Anything else is refused.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch

from grale.graphs.record import GraphRecord, RecordError, from_tensors

KNOWN = (
    "torch_geometric.data.data.Data",
    "torch_geometric.data.data.DataEdgeAttr",
    "torch_geometric.data.data.DataTensorAttr",
    "torch_geometric.data.storage.GlobalStorage",
)
CONVERT = (
    "convert it where you trust it: `import grale, torch_geometric; "
    "grale.prepare(list(dataset), 'data/mine')`"
)


class _Inert:
    """Stands for a class of PyG; keeps the state it is given and does nothing."""

    def __setstate__(self, state: Any) -> None:
        self.state = state


def find_pyg(path: Path) -> Path | None:
    """File of an `InMemoryDataset` in a folder, or None."""
    found = [
        file for folder in (path, path / "processed") if folder.is_dir()
        for file in sorted(folder.glob("*.pt")) if not file.name.startswith("pre_")
    ]  # fmt: skip
    if len(found) > 1:
        names = ", ".join(file.name for file in found[:5])
        raise RecordError(f"{path} holds several files of graphs: {names}; give one of them")
    return found[0] if found else None


def read_pyg(path: Path, directed: bool = False) -> Iterator[GraphRecord]:
    """Graphs of a .pt file that an `InMemoryDataset` has written."""
    arrays, slices = _stored(path, _loaded(path))
    starts = {name: torch.as_tensor(each).tolist() for name, each in slices.items()}
    count = len(next(iter(starts.values()))) - 1
    for number in range(count):
        here = {
            name: _part(name, arrays[name], place[number], place[number + 1])
            for name, place in starts.items()
            if name in arrays
        }
        yield from_tensors(here, f"{path}, graph {number}", directed)


def _loaded(path: Path) -> Any:
    stubs: list[Any] = [(_Inert, name) for name in KNOWN]
    try:
        with torch.serialization.safe_globals(stubs):
            return torch.load(path, map_location="cpu", weights_only=True)
    except pickle.UnpicklingError as error:
        reason = str(error).strip().splitlines()[0][:200]
        raise RecordError(
            f"{path} needs code to be executed, which is refused ({reason}); {CONVERT}"
        ) from error
    except (RuntimeError, EOFError, KeyError, AttributeError, TypeError) as error:
        raise RecordError(f"{path} cannot be read: {str(error)[:200]}") from error


def _stored(path: Path, content: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """Arrays of all graphs, and where each graph begins in them."""
    is_pair = isinstance(content, tuple | list) and len(content) >= 2
    arrays, slices = content[:2] if is_pair else (content, None)
    if isinstance(arrays, _Inert):
        raise RecordError(f"{path} holds objects of an older PyTorch Geometric; {CONVERT}")
    if not isinstance(arrays, dict) or not isinstance(slices, dict) or not slices:
        raise RecordError(f"{path} does not hold an InMemoryDataset; {CONVERT}")
    return {name: value for name, value in arrays.items() if value is not None}, slices


def _part(name: str, values: Any, start: int, stop: int) -> Any:
    if not isinstance(values, torch.Tensor):
        part = values[start:stop]
        return part[0] if len(part) == 1 else part
    return (values[:, start:stop] if name == "edge_index" else values[start:stop]).numpy()
