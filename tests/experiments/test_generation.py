"""Tables and pictures of a prior at the smallest scale, with a MOSES of a few molecules."""

from __future__ import annotations

import gzip
from collections import Counter
from functools import partial
from pathlib import Path

import numpy as np
import pytest

import grale
from grale.data import moses
from grale.data.samples import sample_graphs
from grale.experiments.figures import generation as figures
from grale.experiments.picture import PictureConfig
from grale.experiments.tables import editing, generation
from grale.graphs.graph import Graph
from grale.model.autoencoder import GRALE
from grale.tasks.edit import edit
from grale.tasks.molecule_sets import (
    MoleculeSet,
    cosine,
    fragments,
    frechet_distance,
    passes_filters,
    scaffold,
)
from grale.tasks.properties import named_property
from grale.tasks.propose import ProposeConfig
from prior.still_prior import still_prior

MOLECULES = [
    "CCOc1ccccc1", "CCCc1ccccc1", "COc1ccccc1C", "CC(=O)Nc1ccccc1", "OCC1CCCCC1N", "CCCCCO",
    "c1ccc2ccccc2c1", "CCN1CCNCC1", "CC(C)Cc1ccncc1", "O=C(O)c1ccccc1",
]  # fmt: skip


@pytest.fixture
def little_moses(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package folder as molsets has it."""
    for split in ("train", "test", "test_scaffolds"):
        path = tmp_path / "dataset" / "data" / f"{split}.csv.gz"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(gzip.compress("\n".join(["SMILES", *MOLECULES]).encode()))
    (tmp_path / "metrics").mkdir()
    (tmp_path / "metrics" / "mcf.csv").write_text("names,smarts\nMCF1,[#6]=&!@[#6]-[#6]#[#7]\n")
    (tmp_path / "metrics" / "wehi_pains.csv").write_text('"c:1:c:c:c:c:c:1-[#7]=[#7]",azo\n')
    monkeypatch.setattr(moses, "moses_folder", lambda: tmp_path)
    monkeypatch.setattr(generation, "moses_folder", lambda: tmp_path)
    return tmp_path


@pytest.mark.slow
def test_the_table_of_molecules_has_ours_the_ceiling_and_published_rows(
    generative: GRALE, little_moses: Path
) -> None:
    pytest.importorskip("fcd", reason="ChemNet comes with fcd: pip install 'grale[chemnet]'")
    (table,) = generation.make(generative, PictureConfig(count=6))
    ours, ceiling = table.rows[:2]
    assert {len(row) for row in table.rows} == {len(table.header)}
    assert float(ceiling[table.header.index("valid")]) == 100.0
    assert float(ceiling[table.header.index("novel")]) == 0.0  # they are in this training set
    assert float(ours[table.header.index("FCD, test")]) > float(
        ceiling[table.header.index("FCD, test")]
    )
    assert table.rows[-1][0].startswith("DeFoG")


def test_without_molsets_the_remedy_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(moses, "find_spec", lambda name: None)
    with pytest.raises(ImportError, match="pip install --no-deps molsets"):
        moses.moses_folder()


@pytest.mark.slow
def test_the_table_of_colourings_compares_sizes_and_degrees() -> None:
    model = grale.load("coloring-10")
    (centre,) = sample_graphs(model.space, 1, None, "test")
    model.use_prior(still_prior(model, centre, share=0.02))
    (table,) = generation.make(model, PictureConfig(count=20))
    samples, real = table.values["samples"], table.values["held-out graphs"]
    assert real["valid"] == 1
    assert real["sizes apart"] == real["degrees apart"] == 0
    assert samples["sizes apart"] > 0.3  # all around one graph


def test_fragments_scaffolds_and_filters_are_those_of_moses(little_moses: Path) -> None:
    from rdkit import Chem

    read = Chem.MolFromSmiles
    assert scaffold(read("CCc1ccc2ccccc2c1")) == "c1ccc2ccccc2c1"
    assert scaffold(read("CCc1ccccc1")) is None  # one ring does not count
    assert sorted(fragments(read("CCCC"))) == ["CCCC"]
    assert len(fragments(read("CCOc1ccccc1"))) == 3
    assert passes_filters("CCO")
    for bad in ("CC[O-]", "C1CCCCCCC1", "C[Si]C", "C=CC#N", "c1ccccc1N=NC"):
        assert not passes_filters(bad), bad
    assert cosine(Counter("ab"), Counter("cd")) == 0
    assert cosine(Counter("aab"), Counter("aab")) == pytest.approx(1)
    assert np.isnan(cosine(Counter(), Counter("a")))


def test_the_distance_of_two_gaussians_is_the_known_one() -> None:
    def molecules(mean: float, deviations: list[float]) -> MoleculeSet:
        spread = np.diag(np.square(deviations))
        return MoleculeSet([], Counter(), Counter(), np.full(2, mean), spread)

    first, second = molecules(0.0, [1.0, 3.0]), molecules(2.0, [2.0, 0.5])
    exact = 2 * 2.0**2 + (1 - 2) ** 2 + (3 - 0.5) ** 2
    assert frechet_distance(first, second) == pytest.approx(exact)
    assert frechet_distance(first, first) == pytest.approx(0, abs=1e-9)


def test_molecules_to_edit_are_in_the_range_or_the_lowest() -> None:
    graphs = [Graph.from_smiles(text) for text in MOLECULES]
    true = named_property("logP")
    lowest = editing.chosen_molecules(editing.Task("logP", None, None), graphs, true, 3)
    assert [true(graph) for graph in lowest] == sorted(map(true, graphs))[:3]
    inside = editing.chosen_molecules(editing.Task("logP", (1.5, 2.5), 3.0), graphs, true, 99)
    assert inside
    assert all(1.5 <= true(graph) <= 2.5 for graph in inside)
    with pytest.raises(ValueError, match="no test molecule has logP from 90 to 91"):
        editing.chosen_molecules(editing.Task("logP", (90, 91), None), graphs, true, 3)


@pytest.mark.slow
def test_a_success_needs_the_goal_at_the_similarity() -> None:
    model = grale.load("molecules@1")
    start, near, far = (
        Graph.from_smiles(text) for text in ("CCCCCc1ccccc1", "CCCCCCc1ccccc1", "CCCCCCCCCCCCCCCC")
    )
    task, true = editing.Task("logP", None, None), named_property("logP")
    rows = {name: editing.Row() for name in ("near", "far", "same")}
    for name, graph in (("near", near), ("far", far), ("same", start)):
        editing._score(rows[name], task, start, editing.Draw([graph]), true, model)
    assert rows["near"].successes == [True]
    assert rows["near"].gains[0] == pytest.approx(true(near) - true(start))
    assert rows["far"].successes == rows["same"].successes == [False]
    assert rows["far"].gains == [0.0]


@pytest.mark.slow
def test_the_tables_of_edits_have_a_row_per_method(
    generative: GRALE, monkeypatch: pytest.MonkeyPatch
) -> None:
    small = {"PROPOSALS": 4, "STEPS": 8, "LEAST_LEARNED": 40, "ENOUGH_STEPS": 2}
    small["ProposeConfig"] = partial(ProposeConfig, steps=4)
    for name, value in small.items():
        monkeypatch.setattr(editing, name, value)
    for table in editing.make(generative, PictureConfig(count=1)):
        assert [row[0] for row in table.rows][0] == "prior"
        assert len(table.rows) == 4


@pytest.mark.slow
def test_the_pictures_show_samples_lines_and_edits(
    generative: GRALE, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    small = {"COLUMNS": 4, "ROWS": 2, "FRAMES": 3, "EDIT_STEPS": 2}
    small["ProposeConfig"] = partial(ProposeConfig, count=12)
    small["edit"] = partial(edit, num_steps=8)
    for name, value in small.items():
        monkeypatch.setattr(figures, name, value)
    pictures = figures.make(generative, PictureConfig(count=60))
    assert [picture.name for picture in pictures] == ["samples", "lines", "edits"]
    for picture in pictures:
        assert picture.write(tmp_path)[0].stat().st_size > 1_000
