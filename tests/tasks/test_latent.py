"""Operations in the latent: means, edits, denoising, failures, maps."""

from __future__ import annotations

import sys
from importlib.util import find_spec

import networkx as nx
import numpy as np
import pytest
import torch

import grale
from grale.codec.options import CodecOptions
from grale.data.coloring.generate import COLORING_VARIANTS, generate_coloring
from grale.data.molecules.library import library_graphs
from grale.graphs.graph import Graph
from grale.matching.local_search import edit_distance_bound
from grale.metrics.isomorphism import is_isomorphic
from grale.model.autoencoder import GRALE
from grale.tasks import interpolate as interpolation
from grale.tasks.denoise import denoise_curve, is_valid_coloring, is_valid_molecule, recolour
from grale.tasks.edit import EditPath, EditStep, edit, latent_path
from grale.tasks.failures import Failure, exact_by_twins, worst_reconstructions
from grale.tasks.interpolate import barycenter, decode_valid
from grale.tasks.latent_predictor import fit_predictor, learn_property
from grale.tasks.project import project
from grale.tasks.properties import named_property


@pytest.fixture(scope="module")
def coloring() -> GRALE:
    return grale.load("coloring-10")


@pytest.fixture(scope="module")
def graphs() -> list[Graph]:
    return generate_coloring(400, COLORING_VARIANTS["coloring10"], seed=11)


@pytest.mark.slow
def test_the_barycenter_is_the_decoded_mean(
    tiny_model: GRALE, coloring_graphs: list[Graph]
) -> None:
    weights = np.arange(1.0, len(coloring_graphs) + 1)
    found = barycenter(tiny_model, coloring_graphs, weights)
    mean = np.average(tiny_model.encode(coloring_graphs), axis=0, weights=weights)
    np.testing.assert_allclose(found.latent, mean, rtol=1e-5, atol=1e-6)
    assert is_isomorphic(found.graph, tiny_model.decode(found.latent[None])[0])
    assert found.num_graphs == len(coloring_graphs)


@pytest.mark.slow
def test_a_stream_has_the_same_barycenter_as_a_list(
    tiny_model: GRALE, coloring_graphs: list[Graph], monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = barycenter(tiny_model, coloring_graphs)
    monkeypatch.setattr(interpolation, "CHUNK", 3)
    done: list[int] = []
    streamed = barycenter(tiny_model, iter(coloring_graphs), iter([2.0] * 16), done.append)
    np.testing.assert_allclose(streamed.latent, whole.latent, rtol=1e-5, atol=1e-6)
    assert sum(done) == 16
    assert max(done) == 3


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        ([1.0], "give one per graph"),
        ([1.0, 1.0, 1.0], "more weights than"),
        ([1.0, -1.0], "weight 1 is -1"),
        ([0.0, 0.0], "nothing to average"),
        ([1.0, float("nan")], "weight 1 is nan"),
    ],
)
def test_bad_weights_are_named(tiny_model: GRALE, weights: list[float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        barycenter(tiny_model, [Graph([0]), Graph([1])], weights)


def test_nothing_to_average_is_an_error(tiny_model: GRALE) -> None:
    with pytest.raises(ValueError, match="nothing to average"):
        barycenter(tiny_model, [])


@pytest.mark.slow
def test_valid_molecules_are_preferred_on_request(molecule_model: GRALE) -> None:
    rng = np.random.default_rng(0)
    latents = rng.normal(size=(40, molecule_model.latent_dim)).astype(np.float32)
    options = [CodecOptions(molecule_tries=tries) for tries in (1, 200)]
    plain, valid = (decode_valid(molecule_model, latents, each) for each in options)

    def count(some: list[Graph]) -> int:
        return sum(np.isfinite(named_property("logP")(graph)) for graph in some)

    assert count(valid) > count(plain)
    assert len(valid) == 40


def test_a_linear_predictor_gives_a_straight_path_of_even_steps(rng: np.random.Generator) -> None:
    weight = torch.tensor([3.0, 4.0])
    path = latent_path(lambda z: z @ weight, np.array([1.0, 0.0], np.float32), 0.1, 5)
    steps = np.diff(path, axis=0)
    np.testing.assert_allclose(steps, np.tile([[0.06, 0.08]], (5, 1)), atol=1e-6)
    stretched = latent_path(
        lambda z: z @ weight, np.array([1.0, 0.0], np.float32), -0.1, 1, np.diag([1.0, 0.0])
    )
    np.testing.assert_allclose(stretched[1] - stretched[0], [-0.1, 0.0], atol=1e-6)


def test_a_flat_predictor_is_an_error() -> None:
    with pytest.raises(ArithmeticError, match="must be finite and not zero"):
        latent_path(lambda z: (0 * z).sum(dim=1), np.ones(3, np.float32), 0.1, 2)


@pytest.mark.slow
def test_raising_the_size_makes_graphs_larger(coloring: GRALE, graphs: list[Graph]) -> None:
    size = named_property("size")
    latents = coloring.encode(graphs)
    fitted = fit_predictor(latents, np.array([size(graph) for graph in graphs]))
    assert fitted.r2 > 0.9
    small = next(graph for graph in graphs if graph.num_nodes == 5)
    up = edit(coloring, small, fitted.predictor, num_steps=60, true_property=size)
    assert up.steps[0].step == 0
    assert max(step.true for step in up.steps) >= 8
    assert all(not is_isomorphic(a.graph, b.graph) for a, b in zip(up.steps, up.steps[1:]))
    assert [step.true for step in up.records()] == sorted({step.true for step in up.records()})
    large = next(graph for graph in graphs if graph.num_nodes == 10)
    down = edit(coloring, large, fitted.predictor, -1, metric=np.cov(latents.T), num_steps=60)
    assert down.steps[-1].graph.num_nodes <= 8
    assert np.isnan(down.steps[0].true)


@pytest.mark.slow
def test_a_predictor_reads_the_description_and_its_gradient_reaches_the_latent(
    coloring: GRALE, graphs: list[Graph]
) -> None:
    size = named_property("size")
    learned = learn_property(coloring, graphs, size)
    assert learned.r2 > 0.95
    small = next(graph for graph in graphs if graph.num_nodes == 5)
    latent = torch.tensor(coloring.encode([small])).requires_grad_()
    predicted = learned.predictor(latent)
    direct = learned.predictor.predictor(torch.tensor(coloring.describe([small])))
    torch.testing.assert_close(predicted, direct, atol=1e-3, rtol=1e-3)
    (slope,) = torch.autograd.grad(predicted.sum(), latent)
    assert slope.abs().max() > 0
    up = edit(coloring, small, learned.predictor, num_steps=40, true_property=size)
    assert max(step.true for step in up.steps) > 5


def test_records_begin_at_the_first_known_value() -> None:
    values = [float("nan"), 1.0, float("nan"), 0.5, 2.0]
    path = EditPath([EditStep(k, Graph([0]), 0.0, value) for k, value in enumerate(values)])
    assert [step.step for step in path.records()] == [0, 1, 4]
    assert [step.step for step in path.records(-1)] == [0, 1, 3]


@pytest.mark.slow
def test_the_predictor_leaves_rows_without_value_out() -> None:
    rng = np.random.default_rng(0)
    latents = rng.normal(size=(200, 4)).astype(np.float32)
    values = latents @ np.array([1.0, -2.0, 0.5, 0.0])
    values[::7] = np.nan
    assert fit_predictor(latents, values).r2 > 0.95
    with pytest.raises(ValueError, match="only 3 graphs"):
        fit_predictor(latents[:3], np.ones(3))
    with pytest.raises(ValueError, match="nothing to learn"):
        fit_predictor(latents, np.ones(200))
    with pytest.raises(ValueError, match="give one each"):
        fit_predictor(latents, np.ones(3))


@pytest.mark.slow
def test_of_molecules_with_many_wrong_atoms_some_are_repaired() -> None:
    model = grale.load("molecules@1")
    graphs = library_graphs(200)
    clean, noisy = denoise_curve(model, graphs, [0.0, 0.5])
    assert clean.before.value == 1.0
    assert noisy.before.value < 0.3
    assert noisy.after.value > noisy.before.value
    assert is_valid_molecule(Graph.from_smiles("O=[N+]([O-])c1ccccc1"))
    assert not is_valid_molecule(Graph([3, 3, 3], [(0, 1), (1, 2)], [1, 1]))  # F-F-F


def test_an_unknown_property_names_its_neighbour() -> None:
    with pytest.raises(ValueError, match="did you mean 'logp'"):
        named_property("logq")
    with pytest.raises(ValueError, match=r"no property 'nonsense'\. Known: size"):
        named_property("nonsense")
    ethanol = Graph.from_smiles("CCO")
    assert named_property("LogP")(ethanol) == pytest.approx(-0.0014, abs=1e-3)
    assert named_property("edges")(ethanol) == 2
    assert np.isnan(named_property("qed")(Graph([0, 0], [(0, 1)], [4])))


@pytest.mark.parametrize("level", [0.0, 1.0])
def test_recolouring_changes_none_or_all(
    level: float, graphs: list[Graph], rng: np.random.Generator
) -> None:
    again = recolour(graphs[0], level, 4, rng)
    assert ((again.node_labels != graphs[0].node_labels) == (level == 1)).all()
    assert (again.edges == graphs[0].edges).all()
    assert again.node_labels.max() < 4


def test_the_noise_level_is_the_share_of_changed_nodes(rng: np.random.Generator) -> None:
    graph = Graph([0] * 5_000)
    changed = recolour(graph, 0.3, 4, rng).node_labels
    assert (changed != 0).mean() == pytest.approx(0.3, abs=0.03)
    counts = np.bincount(changed, minlength=4)[1:]
    assert counts.min() > 0.8 * counts.max()


@pytest.mark.slow
def test_reconstruction_repairs_colours(coloring: GRALE, graphs: list[Graph]) -> None:
    clean, noisy = denoise_curve(coloring, graphs[:150], [0.0, 0.15])
    assert clean.before.value == 1
    assert clean.after.value > 0.95
    assert noisy.before.interval[1] < noisy.after.interval[0]
    assert denoise_curve(coloring, graphs[:150], [0.0, 0.15])[1] == noisy
    assert all(is_valid_coloring(graph) for graph in graphs)


@pytest.mark.slow
def test_failures_come_worst_first_and_are_no_isomorphic_pairs(
    coloring: GRALE, graphs: list[Graph]
) -> None:
    noise = np.random.default_rng(0)
    odd = [recolour(graph, 0.5, 4, noise) for graph in graphs[:100]]
    found = worst_reconstructions(coloring, odd, count=4, batch_size=30)
    distances = [failure.edit_distance for failure in found]
    assert distances == sorted(distances, reverse=True)
    assert len(found) == 4
    for failure in found:
        assert failure.graph == odd[failure.row]
        assert not is_isomorphic(failure.graph, failure.reconstruction)
        bound = edit_distance_bound(failure.graph, failure.reconstruction, failure.mapping)
        assert bound.edit_distance == failure.edit_distance
    everything = worst_reconstructions(coloring, odd, count=None)
    assert [f.row for f in everything[:4]] == [f.row for f in found]
    groups = exact_by_twins(odd, everything)
    assert sum(group.num_graphs for group in groups) == len(odd)
    assert sum(group.num_graphs - group.exact for group in groups) == len(everything)


def test_graphs_are_counted_by_their_nodes_with_twins() -> None:
    path, star, lone = Graph([0, 1, 0], [(0, 1), (1, 2)]), nx.star_graph(4), Graph([0])
    graphs = [path, lone, Graph.from_networkx(star), path]
    failure = Failure(3, path, lone, np.array([0, -1, -1]), 4, np.array([2, 1, 2]))
    assert exact_by_twins(graphs, [failure]) == [(0, 0, 1, 1), (1, 2, 2, 1), (3, 4, 1, 1)]


def test_principal_components_are_those_of_the_svd(rng: np.random.Generator) -> None:
    values = rng.normal(size=(50, 6)) * np.array([5, 3, 1, 1, 1, 1])
    points = project(values).points
    centred = values - values.mean(axis=0)
    left, scale, _ = np.linalg.svd(centred, full_matrices=False)
    np.testing.assert_allclose(np.abs(points), np.abs(left[:, :2] * scale[:2]), atol=1e-8)
    assert (project(values).points == points).all()


@pytest.mark.slow
def test_umap_keeps_two_clouds_apart(rng: np.random.Generator) -> None:
    if find_spec("umap") is None:
        pytest.skip("umap-learn is not installed")
    clouds = np.concatenate([rng.normal(size=(40, 5)), 30 + rng.normal(size=(40, 5))])
    first, second = np.split(project(clouds, "umap").points, 2)
    apart = np.linalg.norm(first.mean(axis=0) - second.mean(axis=0))
    assert apart > 2 * max(first.std(), second.std())


def test_without_umap_the_error_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "umap", None)
    with pytest.raises(ImportError, match=r"grale\[umap\]"):
        project(np.eye(20), "umap")


def test_a_map_refuses_what_it_cannot_place() -> None:
    with pytest.raises(ValueError, match="at least 3"):
        project(np.zeros((2, 4)))
    with pytest.raises(ValueError, match="embedding 1 is not finite"):
        project(np.array([[0.0, 1], [np.nan, 0], [1, 1]]))
