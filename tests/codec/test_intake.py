"""What users may pass: graphs in any form; what cannot be taken raises, is null or is skipped."""

import networkx
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import torch

from grale.codec.intake import by_size
from grale.graphs.graph import Graph
from strategies import random_graph

TOO_LARGE = Graph([0] * 13)
BAD_NODE = Graph([0, 4])
BAD_EDGE = Graph([0, 1], [(0, 1)], [3])
DIRECTED = Graph([0, 1], [(0, 1)], directed=True)
ignore_pyg = pytest.mark.filterwarnings(
    "ignore:.torch.jit:DeprecationWarning"  # torch_geometric 2.7 scripts functions on import
)


@pytest.mark.slow
@ignore_pyg
def test_networkx_and_pyg_graphs_are_accepted(tiny_model, rng):
    graphs = [random_graph(rng, size) for size in (1, 5, 9)]
    expected = tiny_model.encode(graphs)
    mixed = [graphs[0].to_networkx(), graphs[1].to_pyg(), graphs[2]]
    assert np.array_equal(tiny_model.encode(mixed), expected)
    assert np.array_equal(tiny_model.encode([g.to_networkx() for g in graphs]), expected)
    assert np.array_equal(tiny_model.encode([g.to_pyg() for g in graphs]), expected)
    assert np.array_equal(tiny_model.encode(tuple(graphs)), expected)


@ignore_pyg
def test_a_directed_model_accepts_networkx_and_pyg_graphs(directed_model, rng):
    graphs = [random_graph(rng, size, directed=True) for size in (3, 6)]
    expected = directed_model.encode(graphs)
    assert np.array_equal(directed_model.encode([g.to_networkx() for g in graphs]), expected)
    assert np.array_equal(directed_model.encode([g.to_pyg() for g in graphs]), expected)


BROKEN = [
    (TOO_LARGE, "has 13 nodes, but max_nodes=12"),
    (BAD_NODE, "has label 4 on node 1, but node labels end at 3"),
    (BAD_EDGE, r"has label 3 on edge \(0, 1\), but edge labels end at 2"),
    (DIRECTED, "is directed=True, but directed=False is expected"),
    ("CCO", "not trained on molecules"),
    (None, "the row has no entry"),
    (networkx.MultiGraph([(0, 1), (0, 1)]), "multigraph"),
    (networkx.empty_graph(0), "at least one node"),
]


@pytest.mark.parametrize(("broken", "reason"), BROKEN)
def test_an_error_names_the_item_and_the_reason(tiny_model, graphs, broken, reason):
    for run in (tiny_model.encode, tiny_model.reconstruct):
        with pytest.raises(ValueError, match=f"item 2: .*{reason}"):
            run([*graphs[:2], broken, *graphs[2:4]])
    with pytest.raises(ValueError, match="pair 0, second graph: "):
        tiny_model.match(graphs[0], broken)


@pytest.mark.slow
@pytest.mark.parametrize(("broken", "reason"), BROKEN)
def test_a_graph_the_model_cannot_hold_is_nan_or_left_out_as_asked(
    tiny_model, graphs, broken, reason
):
    kept = graphs[:4]
    items = [*kept[:1], broken, *kept[1:], broken]
    expected = tiny_model.encode(kept)
    null = tiny_model.encode(items, on_error="null")
    assert null.shape == (6, 16)
    assert np.isnan(null[[1, 5]]).all()  # never zeros
    assert np.array_equal(null[[0, 2, 3, 4]], expected)
    assert np.array_equal(tiny_model.encode(items, on_error="skip"), expected)


@pytest.mark.slow
def test_without_errors_all_three_ways_agree(tiny_model, graphs):
    null, skip = (tiny_model.encode(graphs, on_error=way) for way in ("null", "skip"))
    assert np.array_equal(null, tiny_model.encode(graphs))
    assert np.array_equal(skip, null)


def test_all_rows_may_fail(tiny_model):
    assert np.isnan(tiny_model.encode([TOO_LARGE] * 2, on_error="null")).all()
    assert tiny_model.encode([TOO_LARGE] * 2, on_error="skip").shape == (0, 16)


def test_an_unknown_way_to_fail_is_refused(tiny_model, graphs, unchecked):
    with pytest.raises(ValueError, match="on_error='ignore'; expected 'raise', 'null' or 'skip'"):
        tiny_model.encode(graphs, on_error="ignore")


def test_an_empty_list_gives_nothing_of_the_right_width(tiny_model):
    assert tiny_model.encode([]).shape == (0, tiny_model.latent_dim)
    assert tiny_model.describe([]).shape == (0, tiny_model.description_dim)
    assert tiny_model.reconstruct([]) == []


@pytest.mark.slow
@pytest.mark.parametrize("on_error", ["raise", "null", "skip"])
def test_columns_arrays_and_generators_are_lists(molecule_model, on_error):
    smiles = ["CCO", "CCN", "c1ccccc1"]
    expected = molecule_model.encode(smiles)
    held = [
        tuple(smiles),
        np.array(smiles),
        np.array(smiles, dtype=object),
        (text for text in smiles),
        dict.fromkeys(smiles).keys(),
        pa.array(smiles),
        pa.chunked_array([smiles[:1], smiles[1:]]),
        pd.Series(smiles, index=[5, 6, 7]),
        pd.Index(smiles),
    ]
    for items in held:
        assert np.array_equal(molecule_model.encode(items, on_error=on_error), expected)
    assert molecule_model.reconstruct(np.array(smiles)) == molecule_model.reconstruct(smiles)
    assert molecule_model.why_not(pd.Series(smiles)) == [None] * 3


@pytest.mark.parametrize("on_error", ["raise", "null", "skip"])
@pytest.mark.usefixtures("unchecked")
def test_a_lone_molecule_or_graph_is_no_list(molecule_model, on_error):
    graph = Graph([0, 1], [(0, 1)])
    lone = ["CCO", b"CCO", {"smiles": "CCO"}, graph, graph.to_networkx(), graph.to_mol(), 3, None]
    for item in lone:
        for run in (molecule_model.encode, molecule_model.describe, molecule_model.reconstruct):
            with pytest.raises(TypeError, match="expected a list of graphs, got one"):
                run(item, on_error=on_error)
        with pytest.raises(TypeError, match="expected a list of graphs, got one"):
            molecule_model.why_not(item)
    frame = pd.DataFrame({"smiles": ["CCO"]})
    with pytest.raises(TypeError, match="choose its column"):
        molecule_model.encode(frame)
    with pytest.raises(TypeError, match=r"an array of shape \(1, 2\)"):
        molecule_model.encode(np.array([["CCO", "CC"]]))


@pytest.mark.parametrize("on_error", ["raise", "null", "skip"])
@pytest.mark.parametrize("convert", [lambda g: g, Graph.to_networkx, Graph.to_pyg, repr])
@ignore_pyg
def test_a_single_graph_instead_of_a_list_is_refused(tiny_model, rng, convert, on_error, unchecked):
    single = convert(random_graph(rng, 5))
    with pytest.raises(TypeError, match="expected a list of graphs, got .*; wrap it in a list"):
        tiny_model.encode(single, on_error=on_error)


@pytest.fixture
def overflowing(tiny_model, graphs):
    """A model whose vector of `graphs[1]` alone is not finite."""
    plain = tiny_model.encoded

    def encoded(batch):
        found = plain(batch)
        is_bad = batch.num_nodes == graphs[1].num_nodes
        return found._replace(latents=found.latents.masked_fill(is_bad[:, None], torch.inf))

    tiny_model.encoded = encoded
    return tiny_model


@pytest.mark.slow
@pytest.mark.parametrize("run", ["encode", "reconstruct", "describe"])
def test_a_vector_that_is_not_finite_is_a_failed_row(overflowing, graphs, run):
    sizes = [graph.num_nodes for graph in graphs]
    bad = [row for row, size in enumerate(sizes) if size == sizes[1]]
    assert 0 < len(bad) < len(graphs)
    call = getattr(overflowing, run)
    reason = f"item {bad[0]}: the model gives a vector that is not finite"
    with pytest.raises(ValueError, match=reason):
        call(graphs)
    rows = call(graphs, on_error="null")
    assert len(rows) == len(graphs)
    missing = [r for r, row in enumerate(rows) if row is None or np.isnan(_numbers(row)).all()]
    assert missing == bad
    assert len(call(graphs, on_error="skip")) == len(graphs) - len(bad)


def _numbers(row):
    return row if isinstance(row, np.ndarray) else np.zeros(1)


def test_batches_hold_no_more_pairs_of_nodes_than_asked_for_and_every_graph_once():
    graphs = [Graph([0] * size) for size in (5, 2, 9, 3, 3, 9, 1)]
    batches = list(by_size(graphs, 3, most_pairs=20.0))
    assert sorted(row for rows, _ in batches for row in rows) == list(range(len(graphs)))
    assert all(len(rows) <= 3 for rows, _ in batches)
    assert all(len(rows) * batch.max_nodes**2 <= 20 for rows, batch in batches if len(rows) > 1)
    assert any(len(rows) > 1 for rows, _ in batches)
    assert [len(rows) for rows, _ in by_size(graphs, 3)] == [3, 3, 1]
