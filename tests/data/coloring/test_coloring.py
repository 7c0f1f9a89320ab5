import pickle

import numpy as np
import pytest

from grale.data.coloring.block import BLOCK_SIZE, draw_block
from grale.data.coloring.cells import is_connected
from grale.data.coloring.four_coloring import exact_four_coloring, random_four_coloring
from grale.data.coloring.generate import (
    COLORING_VARIANTS,
    ColoringConfig,
    coloring_instance,
    generate_coloring,
)
from grale.data.coloring.image import coloring_image
from grale.data.coloring.palette import COLORING_PALETTE
from grale.graphs.graph import Graph
from reference.coloring_reference import (
    border_lengths_reference,
    is_connected_reference,
    is_properly_colored_reference,
    nearest_cells_reference,
)

COLORING20 = COLORING_VARIANTS["coloring20"]
STANDARD_ERRORS = 4.5  # a fair draw strays further about once in 150,000 tests


def is_valid(graph):
    edges = graph.edges.tolist()
    return (
        is_connected_reference(graph.num_nodes, edges)
        and is_properly_colored_reference(graph.node_labels.tolist(), edges)
        and bool((graph.edge_labels == 1).all())
    )


def same_bytes(first, second):
    return [pickle.dumps(g) for g in first] == [pickle.dumps(g) for g in second]


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(COLORING_VARIANTS))
def test_every_graph_is_connected_and_properly_colored(name):
    config = COLORING_VARIANTS[name]
    graphs = generate_coloring(1024, config, seed=1)
    assert all(is_valid(graph) for graph in graphs)
    assert all(config.min_nodes <= graph.num_nodes <= config.max_nodes for graph in graphs)
    assert {color for graph in graphs for color in graph.node_labels.tolist()} == {0, 1, 2, 3}


def test_the_validity_check_refuses_what_it_should():
    path = [(0, 1), (1, 2), (2, 3)]
    assert is_valid(Graph([0, 1, 2, 3], path))
    assert not is_valid(Graph([0, 1, 1, 3], path))
    assert not is_valid(Graph([0, 1, 4, 3], path))
    assert not is_valid(Graph([0, 1, 2, 3], path[:2]))
    assert not is_valid(Graph([0, 1, 2, 3], path, [1, 2, 1]))


@pytest.mark.slow
@pytest.mark.parametrize(("name", "mean"), [("coloring10", 7.5), ("coloring20", 12.5)])
def test_sizes_are_uniform(name, mean):
    config = COLORING_VARIANTS[name]
    sizes = np.array([graph.num_nodes for graph in generate_coloring(2048, config, seed=2)])
    num_sizes = config.max_nodes - config.min_nodes + 1
    deviation = np.sqrt((num_sizes**2 - 1) / 12)
    assert abs(sizes.mean() - mean) < STANDARD_ERRORS * deviation / np.sqrt(len(sizes))
    counts = np.bincount(sizes, minlength=config.max_nodes + 1)[config.min_nodes :]
    expected = len(sizes) / num_sizes
    chi_square = ((counts - expected) ** 2 / expected).sum()
    freedom = num_sizes - 1  # chi-square has mean `freedom` and variance `2 * freedom`
    assert chi_square < freedom + STANDARD_ERRORS * np.sqrt(2 * freedom)


@pytest.mark.slow
def test_rejection_does_not_bias_the_sizes():
    config = ColoringConfig(min_nodes=3, max_nodes=8, grid=4)  # rejects 1 % of 3, 60 % of 8
    graphs = generate_coloring(1024, config, seed=0)
    counts = np.bincount([graph.num_nodes for graph in graphs], minlength=9)[3:]
    expected = len(graphs) / 6
    assert (np.abs(counts - expected) < STANDARD_ERRORS * np.sqrt(expected)).all()
    assert counts[-1] > 0.75 * counts[0]  # about 0.4 if the size were drawn again
    assert all(is_valid(graph) for graph in graphs)


@pytest.mark.slow
def test_same_seed_gives_the_same_bytes_in_any_number_of_processes():
    alone = generate_coloring(300, COLORING20, seed=3, start=50)
    assert same_bytes(alone, generate_coloring(300, COLORING20, seed=3, start=50, num_workers=2))


@pytest.mark.slow
def test_same_seed_gives_the_same_bytes_however_the_range_is_cut():
    whole = generate_coloring(300, COLORING20, seed=4)
    for cuts in ([0, 1, 300], [0, BLOCK_SIZE, 300], [0, 100, 127, 129, 256, 257, 300]):
        parts = [
            generate_coloring(stop - start, COLORING20, seed=4, start=start)
            for start, stop in zip(cuts, cuts[1:])
        ]
        assert same_bytes(whole, [graph for part in parts for graph in part])
    assert whole[200] == coloring_instance(COLORING20, 4, 200).graph


@pytest.mark.slow
def test_different_seeds_and_blocks_give_different_graphs():
    first = generate_coloring(2 * BLOCK_SIZE, COLORING20, seed=5)
    other = generate_coloring(2 * BLOCK_SIZE, COLORING20, seed=6)
    assert sum(g == h for g, h in zip(first, other)) == 0
    assert sum(g == h for g, h in zip(first, first[BLOCK_SIZE:])) == 0


def test_progress_counts_every_graph_once():
    seen = []
    generate_coloring(200, COLORING20, seed=0, start=100, progress=seen.append)
    assert seen == [28, 128, 44]
    assert generate_coloring(0, COLORING20, seed=0, start=100) == []


@pytest.mark.slow
def test_cells_and_edges_agree_with_a_loop_over_pixels():
    for index in range(12):
        instance = coloring_instance(COLORING20, 7, index)
        cells = nearest_cells_reference(instance.centroids, COLORING20.grid)
        assert np.array_equal(instance.cells, cells)
        borders = border_lengths_reference(cells)
        assert sorted(borders) == [tuple(edge) for edge in instance.graph.edges.tolist()]


@pytest.mark.slow
def test_min_pixels_removes_small_cells_and_thin_borders():
    # So coarse that each of the two reasons to redraw an image occurs without the other.
    config = ColoringConfig(min_nodes=3, max_nodes=8, grid=8, min_pixels=3)
    num_dropped = 0
    for index in range(2 * BLOCK_SIZE):
        instance = coloring_instance(config, 8, index)
        borders = border_lengths_reference(instance.cells)
        edges = sorted(pair for pair, length in borders.items() if length >= 3)
        assert edges == [tuple(edge) for edge in instance.graph.edges.tolist()]
        assert np.bincount(instance.cells.ravel()).min() >= 3
        assert is_valid(instance.graph)
        assert is_properly_colored_reference(instance.graph.node_labels.tolist(), borders)
        num_dropped += len(borders) - len(edges)
    assert num_dropped > 0


def test_connectivity_agrees_with_a_slow_search():
    rng = np.random.default_rng(0)
    upper = np.triu(rng.random((200, 8, 8)) < 0.15, 1)
    adjacency = upper | upper.transpose(0, 2, 1)
    node_mask = np.arange(8) < rng.integers(1, 9, 200)[:, None]
    adjacency &= node_mask[:, :, None] & node_mask[:, None, :]
    expected = [
        is_connected_reference(mask.sum(), np.argwhere(matrix))
        for matrix, mask in zip(adjacency, node_mask)
    ]
    assert 0 < sum(expected) < len(expected)
    assert is_connected(adjacency, node_mask).tolist() == expected


@pytest.mark.slow
def test_exact_coloring_finds_what_greedy_cannot_and_says_when_there_is_none():
    rng = np.random.default_rng(0)
    adjacency = draw_block(ColoringConfig(min_nodes=30, max_nodes=30), 0, 0).adjacency[:20]
    for matrix in adjacency:
        colors = exact_four_coloring(matrix, rng)
        assert is_properly_colored_reference(colors.tolist(), np.argwhere(matrix))
    complete = ~np.eye(5, dtype=bool)
    without_one_edge = complete.copy()
    without_one_edge[0, 1] = without_one_edge[1, 0] = False
    colors = random_four_coloring(np.stack([complete, without_one_edge]), rng)
    assert (colors[0] == -1).all()
    assert is_properly_colored_reference(colors[1].tolist(), np.argwhere(without_one_edge))


def test_colors_of_the_image_are_the_node_labels():
    for index in range(20):
        image = coloring_image(COLORING20, 9, index)
        assert image.shape == (32, 32, 3)
        assert image.dtype == np.float32
        assert 0 <= image.min() < image.max() <= 1
        instance = coloring_instance(COLORING20, 9, index)
        for node, label in enumerate(instance.graph.node_labels):
            inside = instance.cells == node
            mean = image[interior(inside) if interior(inside).any() else inside].mean(axis=0)
            assert np.abs(np.array(COLORING_PALETTE) - mean).sum(axis=1).argmin() == label


def interior(region):
    """Keep the pixels whose 4 neighbours, where they exist, are in the region too."""
    padded = np.pad(region, 1, constant_values=True)
    beside = padded[1:-1, :-2] & padded[1:-1, 2:]
    return region & beside & padded[:-2, 1:-1] & padded[2:, 1:-1]


def test_images_repeat_and_do_not_alter_graphs():
    before = generate_coloring(5, COLORING20, seed=10)
    first, second = (coloring_image(COLORING20, 10, 3) for _ in range(2))
    assert np.array_equal(first, second)
    assert not np.array_equal(first, coloring_image(COLORING20, 10, 4))
    assert same_bytes(before, generate_coloring(5, COLORING20, seed=10))


def test_changing_an_instance_does_not_change_the_next_call():
    instance = coloring_instance(COLORING20, 11, 0)
    kept = instance.cells.copy()
    instance.cells[:] = 0
    instance.centroids[:] = 0
    again = coloring_instance(COLORING20, 11, 0)
    assert np.array_equal(again.cells, kept)
    assert again.centroids.any()


@pytest.mark.parametrize(
    ("settings", "value"),
    [
        ({"min_nodes": 0}, "0"),
        ({"min_nodes": 21}, "20"),
        ({"grid": 1}, "1"),
        ({"min_pixels": -7}, "-7"),
        ({"max_nodes": 17, "grid": 4}, "17"),
    ],
)
def test_bad_configs_are_refused_with_the_value_in_the_message(settings, value):
    with pytest.raises(ValueError, match=rf"{next(iter(settings))}.*{value}"):
        ColoringConfig(**settings)


@pytest.mark.parametrize("name", ["count", "seed", "start", "num_workers"])
def test_negative_arguments_are_refused_by_name(name):
    arguments = {"count": 1, "seed": 0, name: -3}
    with pytest.raises(ValueError, match=f"{name} must be >= 0, got -3"):
        generate_coloring(config=COLORING20, **arguments)
    with pytest.raises(ValueError, match="index must be >= 0, got -3"):
        coloring_instance(COLORING20, 0, -3)


@pytest.mark.slow
def test_cells_that_never_fit_end_in_an_error_and_not_in_an_endless_loop():
    with pytest.raises(RuntimeError, match="9 cells.*grid=3"):
        generate_coloring(1, ColoringConfig(min_nodes=9, max_nodes=9, grid=3), seed=0)
