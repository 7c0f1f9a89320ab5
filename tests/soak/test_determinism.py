"""Vectors do not depend on order, batch, threads, atom order or process."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pytest
import torch

from grale.catalog import load, shipped_versions
from grale.data.samples import sample_graphs
from soak.counts import few_or_many

pytestmark = pytest.mark.slow

SAME = 1e-5
"""Largest change of a number by order, batch, threads and processes, as a share of the largest
number of the vector: sums of float32 in another order."""
SENSITIVE = ("molecules-attention@1", "coloring-10@1")
"""Models that pool by attention enlarge rounding: a molecule in forty moved by up to 1e-3 with the
batch size. They are compared in double precision, which leaves nothing of it."""
FEW = 40
NAMES = [f"{model.name}@{model.version}" for model in shipped_versions()]
PROGRAM = """
import sys, numpy as np
from grale.catalog import load
from grale.data.samples import sample_graphs
model = load(sys.argv[1])
graphs = sample_graphs(model.space, int(sys.argv[2]), None, "test")
np.save(sys.argv[3], model.encode(graphs))
"""


@few_or_many(FEW, 1_000)
@pytest.mark.parametrize("name", NAMES)
def test_vectors_are_the_same_however_they_are_made(name, count, rng, tmp_path, figure) -> None:
    if count == FEW and name not in ("molecules@1", SENSITIVE[0]):
        pytest.skip("the short form looks at two models")
    model = load(name)
    if name in SENSITIVE:
        model = model.double()
    graphs = sample_graphs(model.space, count, None, "test")
    vectors = model.encode(graphs)
    assert np.array_equal(model.encode(graphs), vectors)
    order = rng.permutation(len(graphs))
    moved = {"order": _gap(model.encode([graphs[i] for i in order]), vectors[order])}
    moved["batch"] = max(_gap(model.encode(graphs, size), vectors) for size in (1, 37))
    shuffled = [graph.permuted(rng.permutation(graph.num_nodes)) for graph in graphs]
    moved["atom order"] = _gap(model.encode(shuffled), vectors)
    threads = torch.get_num_threads()
    torch.set_num_threads(2)
    try:
        moved["threads"] = _gap(model.encode(graphs), vectors)
    finally:
        torch.set_num_threads(threads)
    if count > FEW and name not in SENSITIVE:
        out = str(tmp_path / "z.npy")
        subprocess.run([sys.executable, "-c", PROGRAM, name, str(count), out], check=True)
        moved["process"] = _gap(np.load(out), vectors)
    told = ", ".join(f"{what} {gap:.1e}" for what, gap in moved.items())
    figure(f"determinism, {name}: {len(graphs)} graphs; largest change by {told}")
    assert max(moved.values()) <= SAME
    assert _gap(vectors[1:], vectors[:-1]) > 100 * SAME  # other graphs have other vectors


def _gap(first, second) -> float:
    moved = np.abs(first - second).max(axis=1) / np.abs(second).max(axis=1)
    return float(moved.max())
