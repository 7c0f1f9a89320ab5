"""What users call: encode, decode, reconstruct and match."""

from dataclasses import replace

import jaxtyping
import networkx
import numpy as np
import pandas as pd
import pyarrow as pa
import pytest
import torch

from grale.codec.intake import by_size
from grale.codec.options import CodecOptions
from grale.codec.reconstruct import reconstruct
from grale.graphs.batch import GraphBatch
from grale.graphs.graph import Graph
from grale.graphs.space import GraphSpace
from grale.metrics.edit_distance import apply_edits, edit_distance
from grale.metrics.isomorphism import is_isomorphic
from grale.model.autoencoder import GRALE
from model.sample_graphs import SYMMETRIC, shuffled, symmetric_graphs
from strategies import random_graph

ATOL_ORDER = 1e-4  # the same sums in another order, float32, through four stacks
ATOL_BATCH = 1e-5  # the same sums over more zeros
TOO_LARGE = Graph([0] * 13)
BAD_NODE = Graph([0, 4])
BAD_EDGE = Graph([0, 1], [(0, 1)], [3])
DIRECTED = Graph([0, 1], [(0, 1)], directed=True)

ignore_pyg = pytest.mark.filterwarnings(
    "ignore:.torch.jit:DeprecationWarning"  # torch_geometric 2.7 scripts functions on import
)


@pytest.fixture
def graphs(rng):
    """Graphs of 1 to 12 nodes, symmetric and random, connected or not."""
    return [*symmetric_graphs(), *(random_graph(rng) for _ in range(5)), random_graph(rng, 12)]


@pytest.fixture
def unchecked():
    """Leave the types of arguments to the code under test, as users do."""
    jaxtyping.config.update("jaxtyping_disable", True)
    yield
    jaxtyping.config.update("jaxtyping_disable", False)


@pytest.fixture
def directed_model(tiny_config):
    torch.manual_seed(0)
    space = GraphSpace(max_nodes=8, num_node_labels=4, num_edge_labels=2, directed=True)
    return GRALE(space, tiny_config).eval()


def largest_gap(first, second):
    return float(np.abs(first - second).max())


@pytest.mark.slow
def test_encode_gives_one_row_per_graph_in_order(tiny_model, graphs):
    latents = tiny_model.encode(graphs)
    assert latents.shape == (len(graphs), tiny_model.latent_dim) == (len(graphs), 16)
    assert latents.dtype == np.float32
    assert np.isfinite(latents).all()
    sizes = [graph.num_nodes for graph in graphs]
    assert sizes != sorted(sizes)  # they are grouped by size on the way
    alone = np.concatenate([tiny_model.encode([graph]) for graph in graphs])
    assert largest_gap(latents, alone) < ATOL_BATCH
    assert largest_gap(latents, alone[::-1]) > 100 * ATOL_BATCH


@pytest.mark.parametrize("norm", ["pre", "post"])
@pytest.mark.parametrize("affinity", ["l1", "sphere"])
def test_embeddings_do_not_depend_on_node_order(space, tiny_config, graphs, rng, norm, affinity):
    matcher = replace(tiny_config.matcher, affinity=affinity)
    torch.manual_seed(1)
    model = GRALE(space, replace(tiny_config, norm=norm, matcher=matcher))
    latents = model.encode(graphs)
    moved = [shuffled(graph, rng) for graph in graphs]
    assert sum(first != second for first, second in zip(graphs, moved)) > len(graphs) // 2
    assert largest_gap(model.encode(moved), latents) < ATOL_ORDER


@pytest.mark.parametrize("name", SYMMETRIC)
def test_the_embedding_of_a_symmetric_graph_does_not_depend_on_node_order(tiny_model, rng, name):
    graph = Graph.from_networkx(SYMMETRIC[name])
    latents = tiny_model.encode([graph, *(shuffled(graph, rng) for _ in range(3))])
    assert largest_gap(latents, latents[:1]) < ATOL_ORDER


def test_directed_embeddings_do_not_depend_on_node_order(directed_model, rng):
    graphs = [random_graph(rng, size, directed=True) for size in (1, 2, 3, 5, 8)]
    moved = [shuffled(graph, rng) for graph in graphs]
    latents = directed_model.encode(graphs)
    assert largest_gap(directed_model.encode(moved), latents) < ATOL_ORDER
    reversed_graph = Graph([0, 0, 1], [(0, 2), (1, 2)], directed=True)
    forward_graph = Graph([0, 0, 1], [(2, 0), (2, 1)], directed=True)
    both = directed_model.encode([reversed_graph, forward_graph])
    assert largest_gap(both[0], both[1]) > 10 * ATOL_ORDER  # direction counts


def test_noise_by_index_would_break_the_order_test(tiny_model, graphs, rng, monkeypatch):
    featurizer = tiny_model.featurizer

    def as_numbered(batch):
        noise = featurizer.noise_table[: batch.max_nodes].expand(len(batch), -1, -1)
        return featurizer(batch, noise), torch.arange(batch.max_nodes).expand(len(batch), -1)

    monkeypatch.setattr(featurizer, "in_canonical_order", as_numbered)
    moved = [shuffled(graph, rng) for graph in graphs]
    assert largest_gap(tiny_model.encode(moved), tiny_model.encode(graphs)) > 10 * ATOL_ORDER


@pytest.mark.slow
@pytest.mark.parametrize("batch_size", [1, 3, 7, 1000])
def test_embeddings_do_not_depend_on_the_batch_size(tiny_model, graphs, batch_size):
    whole = tiny_model.encode(graphs)
    assert largest_gap(tiny_model.encode(graphs, batch_size=batch_size), whole) < ATOL_BATCH


@pytest.mark.slow
def test_embeddings_do_not_depend_on_batch_mates(tiny_model, graphs):
    backwards = tiny_model.encode(graphs[::-1], batch_size=4)[::-1]
    some = tiny_model.encode(graphs[::2])
    whole = tiny_model.encode(graphs)
    assert largest_gap(backwards, whole) < ATOL_BATCH
    assert largest_gap(some, whole[::2]) < ATOL_BATCH


def test_encoding_twice_gives_the_same_bits(tiny_model, graphs):
    assert np.array_equal(tiny_model.encode(graphs), tiny_model.encode(graphs))


@pytest.mark.parametrize("batch_size", [0, -1])
def test_a_batch_size_below_one_is_refused(tiny_model, graphs, batch_size):
    latents = tiny_model.encode(graphs[:2])
    with pytest.raises(ValueError, match=f"batch_size must be at least 1, got {batch_size}"):
        tiny_model.encode(graphs, batch_size=batch_size)
    with pytest.raises(ValueError, match="batch_size must be at least 1"):
        tiny_model.decode(latents, batch_size=batch_size)
    with pytest.raises(ValueError, match="batch_size must be at least 1"):
        tiny_model.reconstruct(graphs, batch_size=batch_size)


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


@pytest.mark.slow
@pytest.mark.parametrize("training", [True, False])
def test_the_model_stays_in_the_mode_it_was_in(tiny_model, graphs, training):
    tiny_model.train(training)
    latents = tiny_model.encode(graphs)
    tiny_model.decode(latents)
    tiny_model.reconstruct(graphs)
    tiny_model.match(graphs[0], graphs[1])
    with pytest.raises(ValueError, match="item 0"):
        tiny_model.encode([TOO_LARGE])
    assert all(module.training is training for module in tiny_model.modules())
    assert all(parameter.grad is None for parameter in tiny_model.parameters())


def test_decode_gives_graphs_of_the_space(tiny_model, rng):
    graphs = tiny_model.decode(3 * rng.standard_normal((20, 16)))
    assert len(graphs) == 20
    tiny_model.space.check(graphs)
    assert len(set(graphs)) > 1
    for graph in graphs:
        assert graph == Graph(graph.node_labels, graph.edges, graph.edge_labels)  # passes checks


def test_decode_gives_directed_graphs_of_a_directed_space(directed_model, rng):
    graphs = directed_model.decode(3 * rng.standard_normal((10, 16)))
    directed_model.space.check(graphs)
    assert all(graph.directed for graph in graphs)


@pytest.mark.slow
def test_decode_does_not_depend_on_the_batch_size(tiny_model, rng):
    latents = rng.standard_normal((10, 16)).astype(np.float32)
    assert tiny_model.decode(latents, batch_size=3) == tiny_model.decode(latents)
    assert tiny_model.decode(latents[:0]) == []


def test_decode_refuses_rows_that_are_not_finite(tiny_model, rng):
    latents = rng.standard_normal((4, 16))
    for value in (np.nan, np.inf):
        latents[2, 5] = value
        with pytest.raises(ValueError, match="row 2 of the latents is not finite"):
            tiny_model.decode(latents)
    with pytest.raises(ValueError, match="row 1 of"):
        tiny_model.decode(tiny_model.encode([Graph([0]), TOO_LARGE], on_error="null"))


@pytest.mark.parametrize("shape", [(16,), (2, 15), (2, 2, 8), (0,)])
def test_decode_refuses_other_shapes(tiny_model, shape):
    with pytest.raises(ValueError, match=r"expected latents of shape \(n, 16\), got"):
        tiny_model.decode(np.zeros(shape))


@pytest.mark.slow
@pytest.mark.parametrize("dtype", [torch.float64, torch.bfloat16], ids=str)
def test_a_model_of_another_precision_encodes_and_decodes(tiny_model, graphs, dtype):
    single = tiny_model.encode(graphs)
    model = tiny_model.to(dtype)
    latents = model.encode(graphs)
    assert latents.dtype == np.float32
    assert largest_gap(latents, single) < (1e-4 if dtype == torch.float64 else 0.5)
    assert len(model.decode(latents)) == len(graphs)
    assert len(model.reconstruct(graphs)) == len(graphs)


@pytest.mark.slow
def test_reconstructions_are_the_decoded_graphs_in_another_node_order(tiny_model, graphs):
    decoded = tiny_model.decode(tiny_model.encode(graphs))
    again = tiny_model.reconstruct(graphs)
    assert len(again) == len(graphs)
    assert all(is_isomorphic(first, second) for first, second in zip(decoded, again))
    assert any(first != second for first, second in zip(decoded, again))


@pytest.mark.slow
def test_mappings_say_which_decoded_node_plays_each_input(tiny_model, graphs):
    found, mappings, latents = reconstruct(tiny_model, graphs, CodecOptions(batch_size=7))
    assert np.array_equal(latents, tiny_model.encode(graphs, batch_size=7))
    for graph, again, mapping in zip(graphs, found, mappings, strict=True):
        assert mapping.shape == (graph.num_nodes,)
        assert mapping.dtype == np.int64
        matched = mapping[mapping >= 0]
        assert (mapping >= -1).all()
        assert (mapping < again.num_nodes).all()
        # matched nodes come first and in the input's order, the others after them
        assert np.array_equal(matched, np.arange(len(matched)))
        edit_distance(graph, again, mapping)  # raises for an invalid mapping


@pytest.mark.slow
def test_matched_nodes_carry_what_their_slot_says(tiny_model, graphs):
    """Slot permutation[i] plays input node i: its label is found at mapping[i]."""
    graph = next(g for g in graphs if g.num_nodes == 7)
    found, (mapping,), _ = reconstruct(tiny_model, [graph])
    batch = GraphBatch.from_graphs([graph])
    with torch.no_grad():
        nodes, latent = tiny_model.encoder(tiny_model.featurizer(batch), tiny_model.matcher)[:2]
        slots, logits, _ = tiny_model.decoder(latent)
        permutation = tiny_model.matcher.hard(nodes, slots)[0]
    likely = logits.most_likely(directed=False)
    assert likely.node_mask[0, permutation[:7]].any()
    labels = found[0].label_matrix()
    for i in range(7):
        slot = permutation[i]
        assert (mapping[i] >= 0) == bool(likely.node_mask[0, slot])
        if mapping[i] < 0:
            continue
        assert found[0].node_labels[mapping[i]] == likely.node_labels[0, slot]
        for k in range(7):
            if mapping[k] >= 0:
                edge = likely.edge_labels[0, slot, permutation[k]]
                assert labels[mapping[i], mapping[k]] == edge


@pytest.mark.slow
def test_reconstructed_graphs_do_not_depend_on_node_order(tiny_model, graphs, rng):
    moved = [shuffled(graph, rng) for graph in graphs]
    first, second = tiny_model.reconstruct(graphs), tiny_model.reconstruct(moved)
    assert all(is_isomorphic(one, other) for one, other in zip(first, second))
    assert not all(is_isomorphic(one, other) for one, other in zip(first, first[1:]))


@pytest.mark.slow
@pytest.mark.parametrize("affinity", ["l1", "sphere"])
def test_matching_a_graph_with_itself_in_another_order_costs_nothing(
    space, tiny_config, graphs, rng, affinity
):
    torch.manual_seed(0)
    matcher = replace(tiny_config.matcher, affinity=affinity)
    model = GRALE(space, replace(tiny_config, matcher=matcher))
    for graph in graphs:
        order = rng.permutation(graph.num_nodes)
        found = model.match(graph, graph.permuted(order))
        assert found.edit_distance == 0, (graph, found.mapping)
        assert found.edits == []
        assert np.array_equal(np.sort(found.mapping), np.arange(graph.num_nodes))


@pytest.mark.slow
def test_a_match_is_a_valid_mapping_and_counts_its_edits(tiny_model, graphs, rng):
    costs = []
    for first, second in zip(graphs, rng.permutation(len(graphs))):
        second = graphs[second]
        found = tiny_model.match(first, second)
        assert found.mapping.shape == (first.num_nodes,)
        matched = found.mapping[found.mapping >= 0]
        assert len(np.unique(matched)) == len(matched)
        assert (matched < second.num_nodes).all()
        assert found.edit_distance == len(found.edits)
        assert found.edit_distance == edit_distance(first, second, found.mapping)
        assert is_isomorphic(apply_edits(first, found.edits), second)
        costs.append(found.edit_distance)
    assert max(costs) > 0


def test_a_larger_graph_loses_nodes_in_a_match(tiny_model, rng):
    large, small = random_graph(rng, 9), random_graph(rng, 4)
    assert (tiny_model.match(large, small).mapping == -1).sum() >= 5
    assert tiny_model.match(small, large).mapping.shape == (4,)


@pytest.mark.slow
def test_a_graph_of_one_node_works_everywhere(tiny_model):
    dot = Graph([2])
    assert tiny_model.encode([dot]).shape == (1, 16)
    assert len(tiny_model.reconstruct([dot])) == 1
    assert tiny_model.match(dot, dot).mapping.tolist() == [0]


@pytest.mark.slow
def test_a_disconnected_graph_works_everywhere(tiny_model):
    pieces = Graph([0, 1, 2, 3, 0], [(0, 1), (3, 4)])
    joined = Graph([0, 1, 2, 3, 0], [(0, 1), (3, 4), (1, 2)])
    latents = tiny_model.encode([pieces, joined])
    assert largest_gap(latents[0], latents[1]) > 10 * ATOL_ORDER
    assert tiny_model.match(pieces, pieces).edit_distance == 0
    assert len(tiny_model.reconstruct([pieces])) == 1


@pytest.mark.slow
def test_rows_that_cannot_be_decoded_leave_a_gap_or_are_left_out(tiny_model) -> None:
    items = [Graph([0, 1], [(0, 1)]), TOO_LARGE, Graph([2])]
    latents = tiny_model.encode(items, on_error="null")
    good = tiny_model.decode(latents[[0, 2]])
    assert tiny_model.decode(latents, on_error="null") == [good[0], None, good[1]]
    assert tiny_model.decode(latents, on_error="skip") == good
    assert tiny_model.decode(latents[1:2], on_error="null") == [None]
    assert tiny_model.decode(latents[1:2], on_error="skip") == []
    with pytest.raises(ValueError, match="row 1 of the latents .* use on_error='null' or 'skip'"):
        tiny_model.decode(latents)


@pytest.mark.slow
def test_graphs_that_cannot_be_reconstructed_leave_a_gap_or_are_left_out(tiny_model) -> None:
    items = [TOO_LARGE, Graph([0, 1], [(0, 1)]), Graph([2])]
    good = tiny_model.reconstruct(items[1:])
    assert tiny_model.reconstruct(items, on_error="null") == [None, *good]
    assert tiny_model.reconstruct(items, on_error="skip") == good
    with pytest.raises(ValueError, match="item 0"):
        tiny_model.reconstruct(items)


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
