"""Vectors of molecules by the name of who makes them: models, fingerprints, and several joined.

NAME               description by a model: a shipped one, a folder, or a hub id
NAME:latent        its latent
untrained          description by a GRALE like `molecules` whose weights are random
ecfp, atompair, rdkit, counts, chemnet
A+B                the numbers of A and of B side by side

A molecule that one of them cannot take has a reason instead of numbers; nothing is dropped.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from grale.catalog import load, load_any
from grale.codec.graph_autoencoder import GraphAutoencoder
from grale.codec.identity import provenance
from grale.codec.intake import in_space
from grale.data.molecules.files import Text, parse, read_molecule
from grale.graphs.graph import Graph
from grale.graphs.molecules.fingerprints import FINGERPRINTS
from grale.graphs.molecules.molecule import is_molecular
from grale.tasks.chemnet import check_chemnet, chemnet_vectors
from grale.tasks.chemnet import why_not as why_not_chemnet

LATENT = ":latent"
UNTRAINED, CHEMNET = "untrained", "chemnet"
LIKE = "molecules"  # whose architecture the untrained model has
ROWS_AT_ONCE = 256
UNKNOWN = "no number of its vector is finite"

Progress = Callable[[int], object]


class Molecules(NamedTuple):
    """Rows of a file, each read once."""

    entries: Sequence[str | None]
    graphs: list[Graph | None]
    molecules: list[Any]
    """RDKit's; None where the row cannot be read."""
    reasons: list[str | None]
    """Why a row cannot be read."""
    keys: list[str] | None = None
    """Equal for rows that hold the same graph; None to compare molecules by their SMILES."""

    def taken(self, rows: Sequence[int] | NDArray[np.int64]) -> Molecules:
        """Some of the rows, in that order."""
        places = [int(row) for row in rows]
        return Molecules(
            [self.entries[row] for row in places],
            [self.graphs[row] for row in places],
            [self.molecules[row] for row in places],
            [self.reasons[row] for row in places],
            None if self.keys is None else [self.keys[row] for row in places],
        )


class Vectors(NamedTuple):
    """What one contender makes of all rows."""

    values: NDArray[np.float64]
    """One row each; NaN where there is a reason, or where a single number is unknown."""
    reasons: list[str | None]


def read_molecules(entries: Iterable[str | None], text: Text = "smiles") -> Molecules:
    """Read every entry as a graph and as RDKit's molecule, or say why not."""
    listed = list(entries)
    parsed = [parse(entry, text) for entry in listed]
    graphs = [None if isinstance(item, str) else item for item in parsed]
    reasons = [item if isinstance(item, str) else None for item in parsed]
    molecules = [
        None if graph is None else read_molecule(str(entry), text)
        for entry, graph in zip(listed, graphs)
    ]
    return Molecules(listed, graphs, molecules, reasons)


def parts_of(contender: str) -> list[str]:
    """Who makes the numbers of a contender; a folder may have a plus in its name."""
    if not contender.strip("+ "):
        raise ValueError(f"{contender!r} names no contender; try molecules, rdkit or ecfp")
    if Path(contender.removesuffix(LATENT)).is_dir():
        return [contender]
    return [part.strip() for part in contender.split("+")]


def find_makers(contenders: Sequence[str]) -> dict[str, Maker]:
    """Load everything that the contenders need, once; an unknown name is an error."""
    repeated = [name for name in contenders if list(contenders).count(name) > 1]
    if repeated:
        raise ValueError(f"{repeated[0]!r} is named more than once among the contenders")
    makers: dict[str, Maker] = {}
    models: dict[str, ModelMaker] = {}
    for part in (part for contender in contenders for part in parts_of(contender)):
        if part in FINGERPRINTS:
            makers[part] = FingerprintMaker(part)
        elif part == CHEMNET:
            check_chemnet()
            makers[part] = chemnet_maker
        else:
            name = part.removesuffix(LATENT)
            models[name] = models.get(name) or ModelMaker(name)
            makers[part] = models[name].latents if part.endswith(LATENT) else models[name]
    return makers


def made_with(makers: dict[str, Maker]) -> dict[str, dict[str, str | None]]:
    """Which model, version and weights stand behind each maker that is a model."""
    found = {}
    for name, maker in makers.items():
        owner = getattr(maker, "__self__", maker)
        if isinstance(owner, ModelMaker):
            reading = "latent" if name.endswith(LATENT) else "description"
            found[name] = provenance(owner.model, owner.name, reading)
    return found


def join(contender: str, made: dict[str, Vectors]) -> Vectors:
    """Vectors of a contender from those of its parts; a row fails where one of them does."""
    parts = [made[part] for part in parts_of(contender)]
    values = np.concatenate([part.values for part in parts], axis=1)
    reasons = [next((r for r in row if r), None) for row in zip(*(p.reasons for p in parts))]
    return Vectors(values, reasons)


def make_vectors(
    makers: dict[str, Maker], molecules: Molecules, progress: Progress = lambda done: None
) -> dict[str, Vectors]:
    """What every maker says of every molecule; `progress` counts the rows done by each."""
    return {name: maker(molecules, progress) for name, maker in makers.items()}


def contender_vectors(
    contenders: Sequence[str],
    molecules: Molecules,
    makers: dict[str, Maker] | None = None,
    progress: Progress = lambda done: None,
) -> dict[str, Vectors]:
    """What each contender, such as "molecules+rdkit", makes of every molecule.

    `makers` is what `find_makers` returns, if it is known already; `progress` as in `make_vectors`.
    """
    made = make_vectors(makers or find_makers(contenders), molecules, progress)
    return {name: join(name, made) for name in contenders}


Maker = Callable[[Molecules, Progress], Vectors]


class FingerprintMaker:
    """A function of one molecule, for all of them."""

    def __init__(self, name: str) -> None:
        self.function = FINGERPRINTS[name]

    def __call__(self, molecules: Molecules, progress: Progress) -> Vectors:
        """Compute row by row."""

        def fill(rows: list[int]) -> NDArray[np.float64]:
            return np.stack([self.function(molecules.molecules[row]) for row in rows])

        return _filled(molecules, molecules.reasons, fill, progress)


class ModelMaker:
    """Descriptions by a model, and its latents; a molecule is encoded once for both."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.model = untrained() if name == UNTRAINED else load_any(name)
        if not is_molecular(self.model.space):
            raise ValueError(f"{name} was not trained on molecules, so it cannot be a contender")
        self.made: tuple[Molecules, Vectors] | None = None

    def latents(self, molecules: Molecules, progress: Progress) -> Vectors:
        """Encode every molecule that the model can hold."""
        if self.made is not None and self.made[0] is molecules:
            progress(len(molecules.entries))
            return self.made[1]
        space = self.model.space
        screened = [None if g is None else in_space(g, space) for g in molecules.graphs]
        reasons = [
            f"{self.name}: {item}" if isinstance(item, str) else reason
            for item, reason in zip(screened, molecules.reasons)
        ]

        def fill(rows: list[int]) -> NDArray[np.float64]:
            wanted = [screened[row] for row in rows]
            return self.model.encode(wanted, on_error="null").astype(np.float64)

        self.made = molecules, _filled(molecules, reasons, fill, progress)
        return self.made[1]

    def __call__(self, molecules: Molecules, progress: Progress) -> Vectors:
        """Describe every molecule that the model can hold."""
        latents = self.latents(molecules, progress)
        rows = latents.values.astype(np.float32)
        described = self.model.describe(rows, on_error="null").astype(np.float64)
        return Vectors(described, latents.reasons)


def untrained() -> GraphAutoencoder:
    """A model like `molecules` with the weights it would begin with."""
    with torch.random.fork_rng(devices=[]):
        like = load(LIKE)
        torch.manual_seed(0)
        return type(like)(like.space, like.config).eval()


def chemnet_maker(molecules: Molecules, progress: Progress) -> Vectors:
    """ChemNet's last hidden layer, from canonical SMILES."""
    from rdkit import Chem

    written = [None if mol is None else Chem.MolToSmiles(mol) for mol in molecules.molecules]
    too_long = [None if text is None else why_not_chemnet(text) for text in written]
    reasons = [reason or long for reason, long in zip(molecules.reasons, too_long)]

    def fill(rows: list[int]) -> NDArray[np.float64]:
        return chemnet_vectors([str(written[row]) for row in rows])

    return _filled(molecules, reasons, fill, progress)


def _filled(
    molecules: Molecules,
    reasons: Sequence[str | None],
    fill: Callable[[list[int]], NDArray[np.float64]],
    progress: Progress,
) -> Vectors:
    """Compute the rows without a reason, some at a time; an entry that comes again is copied."""
    first: dict[str | None, int] = {}
    same = [first.setdefault(entry, row) for row, entry in enumerate(molecules.entries)]
    wanted = [row for row in first.values() if reasons[row] is None]
    if not wanted:
        raise ValueError(_nothing_left(reasons))
    values: NDArray[np.float64] | None = None
    for start in range(0, len(wanted), ROWS_AT_ONCE):
        rows = wanted[start : start + ROWS_AT_ONCE]
        found = fill(rows)
        if values is None:
            values = np.full((len(same), found.shape[1]), np.nan)
        values[rows] = found
        progress(len(rows))
    assert values is not None
    progress(len(same) - len(wanted))
    is_unknown: NDArray[np.bool_] = np.all(np.isnan(values[same]), axis=1)
    final = [why or (UNKNOWN if is_unknown[row] else None) for row, why in enumerate(reasons)]
    return Vectors(values[same], final)


def _nothing_left(reasons: Sequence[str | None]) -> str:
    if not reasons:
        return "there are no molecules"
    return f"none of {len(reasons)} rows can be used; the first: {reasons[0]}"
