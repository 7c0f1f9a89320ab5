"""From a fingerprint to the molecule: predict, check, search, rerank (beyond the paper).

The fingerprint of a decoded molecule can be computed exactly. So a candidate is not only likely or
not: it has the wanted fingerprint, or it is known how far it is off.

    start      the likeliest graphs of z = phi(x)
    correct    g(G) + phi(x) - phi(fingerprint of G),  for the best candidates G so far
    around     z + noise
    rerank     by the similarity of fingerprints, then by the order in which they were found

The rounds end for an input when some candidate has its fingerprint.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from itertools import islice

import numpy as np
import torch
from jaxtyping import Float
from numpy.typing import NDArray
from torch import Tensor

from grale.codec.candidates import likeliest_graphs
from grale.codec.intake import quietly
from grale.data.pairs import fingerprint_row
from grale.graphs.graph import Graph
from grale.graphs.molecules.molecule import MoleculeError, is_molecular
from grale.model.predictor import GralePredictor

Rows = NDArray[np.uint8]
DECODED = 256  # latents at once


@dataclass(frozen=True, kw_only=True)
class ElucidateConfig:
    """How hard to look for the molecule of a fingerprint."""

    candidates: int = 10
    """Molecules to return for each fingerprint."""
    likeliest: int = 20
    """Likeliest graphs of the first latent to look at."""
    reranks: bool = True
    """Whether candidates are ordered by their fingerprints; otherwise as they were found."""
    rounds: int = 0
    """Rounds of search around the first latent and the best candidates."""
    corrected: int = 4
    """Best candidates that a round corrects."""
    around: int = 8
    """Latents that a round draws around the first one."""
    noise: float = 0.3
    """Standard deviation of those draws, over that of the latent."""
    each: int = 4
    """Likeliest graphs of each latent of a round to look at."""
    batch_size: int = 64
    """Fingerprints at once."""
    seed: int = 0

    def __post_init__(self) -> None:
        for name in ("candidates", "likeliest", "each", "batch_size"):
            if getattr(self, name) < 1:
                raise ValueError(f"{name} must be at least 1, got {getattr(self, name)}")
        for name in ("rounds", "corrected", "around", "noise"):
            if getattr(self, name) < 0:
                raise ValueError(f"{name} must not be negative, got {getattr(self, name)}")


@dataclass(frozen=True)
class Candidate:
    """A molecule, and how near its fingerprint is to the wanted one."""

    smiles: str
    graph: Graph
    row: Rows
    """Its fingerprint."""
    similarity: float
    """1 exactly if the fingerprints are equal."""


@dataclass
class _Search:
    """Candidates of one fingerprint, in the order in which they were found."""

    wanted: Rows
    found: dict[str, Candidate] = field(default_factory=dict)

    def add(self, graph: Graph, model: GralePredictor) -> None:
        """Look at one more graph; graphs that are not molecules, and repeats, are passed over."""
        with suppress(MoleculeError):
            smiles = graph.to_smiles()
            row = fingerprint_row(graph, model.inputs) if smiles not in self.found else "known"
            if not isinstance(row, str):
                near = similarity(row, self.wanted)
                self.found[smiles] = Candidate(smiles, graph, row, near)

    @property
    def is_done(self) -> bool:
        """Whether some candidate has the wanted fingerprint."""
        return any(candidate.similarity == 1 for candidate in self.found.values())

    def best(self, count: int, reranks: bool = True) -> list[Candidate]:
        """Candidates by similarity; equal ones as they were found."""
        listed = list(self.found.values())
        if reranks:
            listed.sort(key=lambda candidate: -candidate.similarity)
        return listed[:count]


def similarity(first: Rows, second: Rows) -> float:
    """Tanimoto similarity: sum of minima over sum of maxima; shared over joint bits.

    >>> similarity(np.array([2, 1, 0], dtype=np.uint8), np.array([1, 1, 1], dtype=np.uint8))
    0.5
    """
    joint = int(np.maximum(first, second).sum())
    return float(int(np.minimum(first, second).sum()) / joint) if joint else 1.0


@quietly
def elucidate(
    model: GralePredictor,
    rows: Rows,
    config: ElucidateConfig | None = None,
    progress: Callable[[int], object] = lambda done: None,
) -> list[list[Candidate]]:
    """Find molecules for rows of fingerprints, as many as the rows, the best candidate first."""
    config = config or ElucidateConfig()
    check_elucidates(model)
    generator = torch.Generator().manual_seed(config.seed)
    found: list[list[Candidate]] = []
    for start in range(0, len(rows), config.batch_size):
        part = rows[start : start + config.batch_size]
        searches = [_Search(row) for row in part]
        latents = model.latents_of(_tensor(part, model))
        _look(model, searches, latents, list(range(len(part))), config.likeliest)
        for _ in range(config.rounds):
            _search_round(model, searches, latents, config, generator)
        found += [search.best(config.candidates, config.reranks) for search in searches]
        progress(len(part))
    return found


def check_elucidates(model: GralePredictor) -> None:
    """Raise unless a model goes from fingerprints to molecules."""
    if not isinstance(model, GralePredictor):
        raise TypeError("elucidation needs a predictor that GRALE's latents are behind")
    if model.inputs.is_image or not is_molecular(model.space):
        raise ValueError(
            f"elucidation needs a model from fingerprints to molecules; this one takes "
            f"{model.inputs.called()}"
        )


def _search_round(
    model: GralePredictor,
    searches: Sequence[_Search],
    latents: Float[Tensor, "B Z"],
    config: ElucidateConfig,
    generator: torch.Generator,
) -> None:
    """Look around the first latent, and at corrected candidates, of searches without success."""
    waiting = [place for place, search in enumerate(searches) if not search.is_done]
    if not waiting:
        return
    moved, owners = _corrected(model, searches, latents, waiting, config.corrected)
    drawn = [place for place in waiting for _ in range(config.around)]
    if drawn:
        first = latents[drawn]
        noise = torch.randn(first.shape, generator=generator).to(first)
        spread = config.noise * first.square().mean(dim=1, keepdim=True).sqrt()
        moved, owners = [*moved, first + spread * noise], [*owners, *drawn]
    if owners:
        _look(model, searches, model.projected(torch.cat(moved)), owners, config.each)


def _corrected(
    model: GralePredictor,
    searches: Sequence[_Search],
    latents: Float[Tensor, "B Z"],
    waiting: Sequence[int],
    count: int,
) -> tuple[list[Tensor], list[int]]:
    """g(G) + phi(x) - phi(fingerprint of G) of the best candidates, and whose they are."""
    owned = [(place, each) for place in waiting for each in searches[place].best(count)]
    if not owned:
        return [], []
    owners = [place for place, _ in owned]
    encoded = torch.from_numpy(model.autoencoder.encode([each.graph for _, each in owned]))
    said = model.latents_of(_tensor(np.stack([each.row for _, each in owned]), model))
    return [encoded.to(latents) + latents[owners] - said], owners


def _look(
    model: GralePredictor,
    searches: Sequence[_Search],
    latents: Float[Tensor, "L Z"],
    owners: Sequence[int],
    count: int,
) -> None:
    """Add the likeliest graphs of latents to the searches that own them."""
    for start in range(0, len(owners), DECODED):
        logits = model.autoencoder.logits_of(latents[start : start + DECODED])
        for place, owner in enumerate(owners[start : start + DECODED]):
            for graph in islice(likeliest_graphs(logits, place, directed=False), count):
                searches[owner].add(graph, model)


def _tensor(rows: Rows, model: GralePredictor) -> Tensor:
    return torch.tensor(rows, device=next(model.parameters()).device)
