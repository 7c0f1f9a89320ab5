"""Edits and lines with a prior: ranked, distinct, valid, and as near as asked for."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
import torch

from grale.graphs.graph import Graph
from grale.metrics.generation import num_pieces, why_invalid, why_not_coloured
from grale.model.autoencoder import GRALE
from grale.tasks.interpolate import barycenter, check_path, interpolate
from grale.tasks.keep import contains
from grale.tasks.on_data import BackConfig, led_back
from grale.tasks.properties import named_property
from grale.tasks.propose import ProposeConfig, propose
from grale.tasks.similarity import similarity_to
from prior.still_prior import CENTRE, still_prior

LOGP = named_property("logP")
QUICK = ProposeConfig(count=16, amount=1.0, steps=2)
START = "CCCc1ccccc1"


@pytest.mark.slow
def test_proposals_are_distinct_valid_and_the_best_come_first(generative: GRALE) -> None:
    generative.use_prior(still_prior(generative, share=0.6))  # nearer draws are all one molecule
    config = replace(QUICK, count=48, steps=1)
    found = propose(generative, START, LOGP, config=config)
    values = [each.value for each in found.best]
    texts = [each.graph.to_smiles() for each in found.best]
    assert found.drawn == 48
    assert len(values) > 2
    assert values == sorted(values, reverse=True)
    assert len({*texts, Graph.from_smiles(START).to_smiles()}) == len(texts) + 1
    assert all(why_invalid(each.graph, generative.space) is None for each in found.best)
    lower = [each.value for each in propose(generative, START, LOGP, None, -1, config).best]
    assert lower == sorted(lower)


@pytest.mark.slow
def test_less_noise_gives_more_similar_proposals(generative: GRALE) -> None:
    def similarity(amount: float) -> float:
        config = ProposeConfig(count=16, amount=amount, levels=1, steps=2)
        found = propose(generative, START, LOGP, config=config)
        same = similarity_to(Graph.from_smiles(START), generative.space)
        valid = (g for g in found.drawn_graphs if why_invalid(g, generative.space) is None)
        return float(np.mean([same(graph) for graph in valid]))

    assert similarity(0.1) > similarity(1.0) + 0.1


@pytest.mark.slow
def test_dissimilar_proposals_are_left_out(generative: GRALE) -> None:
    every = propose(generative, START, LOGP, config=QUICK).best
    near = propose(
        generative,
        START,
        LOGP,
        config=ProposeConfig(count=16, amount=1.0, steps=2, least_similarity=0.4),
    ).best
    assert min(each.similarity for each in every) < 0.4
    assert [each.graph for each in near] == [each.graph for each in every if each.similarity >= 0.4]


@pytest.mark.slow
def test_a_push_changes_the_property_in_its_direction(generative: GRALE) -> None:
    direction = torch.randn(generative.latent_dim, generator=torch.Generator().manual_seed(0))
    prior = still_prior(generative)
    torch.nn.init.normal_(prior.network.write.bias, std=0.5)  # a push is relative to the velocity
    generative.use_prior(prior)

    def predictor(latents: torch.Tensor) -> torch.Tensor:
        return latents @ direction

    def ends(sign: int) -> float:
        noise = torch.randn(4, generative.latent_dim, generator=torch.Generator().manual_seed(1))
        from grale.tasks.propose import _push

        with torch.no_grad():
            drawn = prior.draw(
                noise, torch.full((4, 2), 5.0), steps=4,
                push=_push(generative, predictor, sign), strength=2.0,
            )  # fmt: skip
        return float(predictor(drawn).mean())

    assert ends(1) > ends(-1)


@pytest.mark.slow
def test_kept_atoms_are_in_every_proposal(generative: GRALE) -> None:
    config = ProposeConfig(count=12, amount=1.0, steps=2, keep="c1ccccc1")
    found = propose(generative, CENTRE, LOGP, config=config)
    assert all(contains(each.graph, "c1ccccc1") for each in found.best)
    with pytest.raises(ValueError, match="does not contain"):
        propose(generative, "CCO", LOGP, config=config)


@pytest.mark.parametrize(
    "changes", [{"amount": 0.0}, {"amount": 1.1}, {"count": 0}, {"least_similarity": 2.0}]
)
def test_bad_options_are_refused(changes) -> None:
    with pytest.raises(ValueError, match="must be"):
        ProposeConfig(**changes)


@pytest.mark.slow
def test_points_that_decode_stay_and_others_are_led_back(generative: GRALE) -> None:
    generative.use_prior(still_prior(generative, share=0.02))
    rng = np.random.default_rng(0)
    good = generative.encode([CENTRE, "CCCCO"])
    bad = rng.standard_normal((4, generative.latent_dim)).astype(np.float32) * good.std()
    back = led_back(generative, np.concatenate([good, bad]), BackConfig(amount=1.0, steps=2))
    assert back.amounts[:2] == [0.0, 0.0]
    assert [graph.to_smiles() for graph in back.graphs[:2]] == ["CCOc1ccccc1", "CCCCO"]
    assert all(why_invalid(graph, generative.space) is None for graph in back.graphs)
    assert max(back.amounts) > 0  # noise that is not a molecule was led to the centre


@pytest.mark.slow
def test_a_line_by_the_prior_has_the_same_ends_and_more_valid_graphs(generative: GRALE) -> None:
    generative.use_prior(still_prior(generative, share=0.02))
    ends = "CC(=O)Nc1ccccc1", "OCC1CCCCC1N"
    line, prior = (
        interpolate(generative, *ends, steps=5, path=path, back=BackConfig(amount=1.0))
        for path in ("line", "prior")
    )

    def num_valid(graphs: list[Graph]) -> int:
        return sum(why_invalid(graph, generative.space) is None for graph in graphs)

    assert [prior.graphs[k].to_smiles() for k in (0, 4)] == [
        line.graphs[k].to_smiles() for k in (0, 4)
    ]
    assert num_valid(prior.graphs) == 5
    assert num_valid(line.graphs) < 5


@pytest.mark.slow
def test_a_barycentre_by_the_prior_is_valid(generative: GRALE) -> None:
    molecules = ["CCO", "c1ccccc1C", "CC(=O)NCC", "C1CCNCC1CO"]
    found = barycenter(generative, molecules, path="prior", back=BackConfig(amount=1.0))
    assert why_invalid(found.graph, generative.space) is None


def test_lines_by_the_prior_need_one(molecule_model: GRALE) -> None:
    with pytest.raises(ValueError, match="this model has no prior"):
        interpolate(molecule_model, "CCO", "CCN", path="prior")
    with pytest.raises(ValueError, match="expected 'line' or 'prior'"):
        check_path(molecule_model, "curve")


def test_a_colouring_is_checked_for_colours_planes_and_pieces() -> None:
    square = [(0, 1), (1, 2), (2, 3), (3, 0)]
    five = [(a, b) for a in range(5) for b in range(a)]
    assert why_not_coloured(Graph([0, 1, 0, 1], square)) is None
    assert "same colour" in str(why_not_coloured(Graph([0, 1, 1, 2], square)))
    assert why_not_coloured(Graph([0, 1, 2, 3, 4], five)) == "it is not planar"
    assert num_pieces(Graph([0, 1, 0], [(0, 1)])) == 2
