"""Labelled molecules of the paper's downstream tables, in their published formats.

Each set is a csv of SMILES and targets, as published by MoleculeNet and the authors of QM40 and
GDB-13. A parquet file with columns `smiles` and `target` is accepted for any of them.

Rows are returned as published, including duplicates, salts and stereo.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from grale.data.download import download
from grale.data.molecules.files import open_molecules
from grale.data.molecules.folder import Molecules, open_file_or_folder
from grale.data.molecules.targets import read_targets

MOLECULENET = "https://deepchemdata.s3-us-west-1.amazonaws.com/datasets"
PUBCHEM_SMILES = "https://ftp.ncbi.nlm.nih.gov/pubchem/Compound/Extras/CID-SMILES.gz"


@dataclass(frozen=True)
class MoleculeSet:
    """Where a set is published, and which of its columns are used."""

    file: str
    smiles: str | None
    target: str | None
    """None for a set without targets."""
    is_class: bool = False
    url: str | None = None
    """None if the publisher asks for a form to be filled in."""


MOLECULE_SETS = {
    "esol": MoleculeSet(
        "delaney-processed.csv", "smiles", "measured log solubility in mols per litre",
        url=f"{MOLECULENET}/delaney-processed.csv",
    ),
    "freesolv": MoleculeSet("SAMPL.csv", "smiles", "expt", url=f"{MOLECULENET}/SAMPL.csv"),
    "lipophilicity": MoleculeSet(
        "Lipophilicity.csv", "smiles", "exp", url=f"{MOLECULENET}/Lipophilicity.csv"
    ),
    "bbbp": MoleculeSet("BBBP.csv", "smiles", "p_np", True, url=f"{MOLECULENET}/BBBP.csv"),
    "bace": MoleculeSet("bace.csv", "mol", "Class", True, url=f"{MOLECULENET}/bace.csv"),
    "qm9": MoleculeSet("qm9.csv", "smiles", "u0", url=f"{MOLECULENET}/qm9.csv"),
    "qm40": MoleculeSet("QM40_main.csv", "smile", "Internal_E(0K)"),
    "gdb13": MoleculeSet("gdb13.smi", None, None),
}  # fmt: skip


@dataclass(frozen=True)
class LabelledMolecules:
    """SMILES and targets, row by row."""

    smiles: list[str | None]
    targets: NDArray[np.float64] | None


def open_set(name: str, folder: Path) -> Molecules:
    """Open the molecules of a set as a stream; for GDB-13, of which 977 million are published.

    Files are found and downloaded as in `read_set`. An unpacked archive of many files, such as
    GDB-13's, may be in a folder with the set's name.

    >>> for chunk in open_set("gdb13", Path("data")).rows(65_536):  # doctest: +SKIP
    ...     print(chunk.entries[0])
    """
    path = _find(name, folder)
    column = "smiles" if path.suffix == ".parquet" else MOLECULE_SETS[name].smiles
    return open_file_or_folder(path, column)


def read_set(name: str, folder: Path) -> LabelledMolecules:
    """Read a set from `folder`: its published file, plain or .gz, or `NAME.parquet`.

    A set with a public address is downloaded to `folder` if it is not there.
    """
    path = _find(name, folder)
    wanted = MOLECULE_SETS[name]
    if wanted.target is None:
        chunks = open_set(name, folder).rows(65_536)
        return LabelledMolecules([entry for chunk in chunks for entry in chunk.entries], None)
    columns = ("smiles", "target") if path.suffix == ".parquet" else (wanted.smiles, wanted.target)
    opened = open_molecules(path, columns[0])
    smiles = [entry for chunk in opened.rows(65_536) for entry in chunk.entries]
    return LabelledMolecules(smiles, read_targets(opened, columns[1]))


def _find(name: str, folder: Path) -> Path:
    """Path of the file or folder of a set; downloads it if it is not there yet."""
    if name not in MOLECULE_SETS:
        raise ValueError(f"no set is called {name!r}; known sets are {', '.join(MOLECULE_SETS)}")
    wanted = MOLECULE_SETS[name]
    names = (wanted.file, f"{wanted.file}.gz", f"{name}.parquet")
    path = next((folder / file for file in names if (folder / file).is_file()), None)
    if path is None and wanted.target is None and (folder / name).is_dir():
        path = folder / name
    if path is None and wanted.url is None:
        raise FileNotFoundError(
            f"{folder} holds none of {', '.join(names)}; get the file from its authors"
        )
    return path or download(str(wanted.url), folder / wanted.file)
