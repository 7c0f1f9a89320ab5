"""How many molecules are found from their fingerprints, and how many can be."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from hashlib import blake2b
from typing import NamedTuple

import numpy as np

from grale.data.packed import PackedGraphs
from grale.graphs.graph import Graph
from grale.matching.local_search import reconstruction_distances
from grale.metrics.isomorphism import is_isomorphic
from grale.tasks.elucidate import Candidate


class ElucidationReport(NamedTuple):
    """Shares and means over the fingerprints."""

    top1: float
    """Share whose first answer is the molecule, bonds included."""
    top10: float
    """Share with the molecule among the first ten."""
    edit_distance: float
    """Mean upper bound on the edits of the first answer; no answer costs the whole molecule."""
    similarity: float
    """Mean Tanimoto similarity of the first answer's fingerprint; 0 without an answer."""
    same_fingerprint: float
    """Share whose first answer has the fingerprint."""
    num_targets: int


class Ceiling(NamedTuple):
    """What nobody can exceed who sees only the fingerprint."""

    top1: float
    """Mean of 1 / m, m molecules of the set sharing the fingerprint."""
    top10: float
    """Mean of min(1, 10 / m)."""
    shared: float
    """Share of fingerprints that several molecules have."""


def elucidation_report(
    targets: Sequence[Graph], answers: Sequence[Sequence[Candidate]]
) -> ElucidationReport:
    """Compare answers with the molecules."""
    if len(targets) != len(answers) or not targets:
        raise ValueError(f"{len(targets)} molecules, {len(answers)} answers; give one list each")
    places = [_place(target, listed) for target, listed in zip(targets, answers)]
    firsts = [listed[0] if listed else None for listed in answers]
    graphs = [None if first is None else first.graph for first in firsts]
    edits = reconstruction_distances(targets, graphs)
    near = [0.0 if first is None else first.similarity for first in firsts]
    count = len(targets)
    return ElucidationReport(
        top1=sum(place == 0 for place in places) / count,
        top10=sum(place is not None and place < 10 for place in places) / count,
        edit_distance=sum(edits) / count,
        similarity=sum(near) / count,
        same_fingerprint=sum(each == 1 for each in near) / count,
        num_targets=count,
    )


def _place(target: Graph, listed: Sequence[Candidate]) -> int | None:
    """Place of the molecule among the answers, or None."""
    for place, candidate in enumerate(listed):
        if is_isomorphic(target, candidate.graph):
            return place
    return None


def ceiling(wanted: np.ndarray, packs: Iterable[PackedGraphs]) -> Ceiling:
    """How many distinct molecules of some pairs share each of the wanted fingerprints."""
    counts: Counter[bytes] = Counter()
    for pack in packs:
        assert pack.inputs is not None
        counts.update(_digest(row) for row in pack.inputs)
    sharing = np.array([max(1, counts[_digest(row)]) for row in wanted])
    return Ceiling(
        float((1 / sharing).mean()),
        float(np.minimum(1, 10 / sharing).mean()),
        float((sharing > 1).mean()),
    )


def _digest(row: np.ndarray) -> bytes:
    return blake2b(row.tobytes(), digest_size=16).digest()
