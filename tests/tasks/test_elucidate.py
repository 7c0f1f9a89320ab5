"""Elucidation: candidates are molecules, ordered by their fingerprints; search finds more."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch

from grale.data.pairs import fingerprint_row, first_pairs, stored_pairs
from grale.experiments.picture import PictureConfig
from grale.experiments.tables import elucidation
from grale.graphs.graph import Graph
from grale.graphs.molecules.molecule import molecule_space
from grale.graphs.space import GraphSpace
from grale.model.config import ModelConfig
from grale.model.predictor import GralePredictor, PredictorSettings
from grale.tasks.elucidate import Candidate, ElucidateConfig, _Search, elucidate
from grale.tasks.elucidation_scores import ceiling, elucidation_report
from prediction_setup import BITS, IMAGE, READER, write_molecule_pairs


@pytest.fixture(scope="module")
def predictor(tiny_config: ModelConfig) -> GralePredictor:
    torch.manual_seed(0)
    settings = PredictorSettings(inputs=BITS, reader=READER, autoencoder=tiny_config)
    return GralePredictor(molecule_space(10), settings).eval()


@pytest.fixture(scope="module")
def pairs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_molecule_pairs(tmp_path_factory.mktemp("pairs"))


def _candidate(text: str, near: float) -> Candidate:
    graph = Graph.from_smiles(text)
    return Candidate(text, graph, np.zeros(64, dtype=np.uint8), near)


def test_a_candidate_with_the_fingerprint_comes_first(predictor: GralePredictor) -> None:
    wanted = Graph.from_smiles("CC(=O)O")
    search = _Search(np.asarray(fingerprint_row(wanted, BITS)))
    for text in ("CCO", "c1ccccc1", "CC(=O)O", "CCO"):
        search.add(Graph.from_smiles(text), predictor)
    assert search.is_done
    assert len(search.found) == 3
    best = search.best(2)
    assert (best[0].smiles, best[0].similarity) == ("CC(=O)O", 1.0)
    assert [each.smiles for each in search.best(3, reranks=False)][0] == "CCO"


def test_what_is_no_molecule_is_passed_over(predictor: GralePredictor) -> None:
    search = _Search(np.zeros(64, dtype=np.uint8))
    search.add(Graph([3] * 4, [(0, 1), (0, 2), (0, 3)], edge_labels=[3, 3, 3]), predictor)
    assert not search.found


def test_search_keeps_what_was_found_and_looks_further(
    predictor: GralePredictor, pairs: Path
) -> None:
    rows = first_pairs(pairs / "test", 2).inputs
    few = ElucidateConfig(likeliest=3, rounds=0)
    plain = elucidate(predictor, rows, few)
    more = elucidate(predictor, rows, replace(few, rounds=1, around=2, corrected=1, each=2))
    for first, second in zip(plain, more):
        known = {each.smiles for each in second}
        assert len(second) >= len(first)
        assert max((c.similarity for c in second), default=0) >= max(
            (c.similarity for c in first), default=0
        )
        assert all(first[k].similarity >= first[k + 1].similarity for k in range(len(first) - 1))
        assert len(known) == len(second)
    again = elucidate(predictor, rows, replace(few, rounds=1, around=2, corrected=1, each=2))
    assert [[c.smiles for c in row] for row in again] == [[c.smiles for c in row] for row in more]


def test_the_report_counts_places_edits_and_fingerprints() -> None:
    targets = [Graph.from_smiles(text) for text in ("CCO", "CCN", "CCC")]
    answers = [
        [_candidate("CCO", 1.0), _candidate("CCC", 0.2)],
        [_candidate("CCO", 0.5), _candidate("CCN", 0.4)],
        [],
    ]
    found = elucidation_report(targets, answers)
    assert (found.top1, found.top10) == (1 / 3, 2 / 3)
    assert found.edit_distance == (0 + 1 + 5) / 3  # nothing for propane: 3 atoms, 2 bonds
    assert found.similarity == pytest.approx(0.5)
    assert found.same_fingerprint == 1 / 3
    with pytest.raises(ValueError, match="one list each"):
        elucidation_report(targets, [])


def test_the_ceiling_counts_molecules_that_share_a_fingerprint(pairs: Path) -> None:
    (pack,) = stored_pairs(pairs / "train")
    alone = ceiling(pack.inputs, [pack])
    assert alone == (1.0, 1.0, 0.0)
    twice = ceiling(pack.inputs[:4], [pack, pack.take(np.array([0, 1]))])
    assert twice.top1 == (0.5 + 0.5 + 1 + 1) / 4
    assert (twice.top10, twice.shared) == (1.0, 0.5)


@pytest.mark.slow
def test_the_table_has_a_row_per_step_and_the_ceiling(
    predictor: GralePredictor, pairs: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    quick = {name: replace(step, likeliest=3, rounds=min(step.rounds, 1), around=1, corrected=1)
             for name, step in elucidation.STEPS.items()}  # fmt: skip
    monkeypatch.setattr(elucidation, "STEPS", quick)
    (table,) = elucidation.make(predictor, PictureConfig(data=str(pairs), count=2))
    names = [row[0] for row in table.rows]
    assert names[:3] == list(quick)
    assert "ceiling" in names
    assert all(len(row) == len(table.header) for row in table.rows)
    with pytest.raises(ValueError, match="needs --data"):
        elucidation.make(predictor, PictureConfig(count=2))


def test_a_model_of_something_else_is_refused(tiny_config: ModelConfig, pairs: Path) -> None:
    settings = PredictorSettings(inputs=IMAGE, reader=READER, autoencoder=tiny_config)
    images = GralePredictor(GraphSpace(max_nodes=10, num_node_labels=4), settings)
    with pytest.raises(ValueError, match="from fingerprints to molecules"):
        elucidate(images, np.zeros((1, 3072), dtype=np.uint8))


def test_settings_are_checked() -> None:
    with pytest.raises(ValueError, match="candidates must be at least 1"):
        ElucidateConfig(candidates=0)
    with pytest.raises(ValueError, match="rounds must not be negative"):
        ElucidateConfig(rounds=-1)
