"""The table of frozen embeddings: every contender on every set that is there, the others named."""

from __future__ import annotations

import json
from contextlib import nullcontext
from functools import partial
from pathlib import Path

import numpy as np
import pytest

from grale.data.molecules import sets
from grale.data.molecules.library import library_graphs
from grale.data.storage import write_shards
from grale.experiments.reproduce import find_experiment
from grale.experiments.request import Request
from grale.experiments.tables import downstream, embedding_tuning
from grale.experiments.tables.downstream import NOT_RUN, PAPER_ROWS, SETS, _scores, contenders
from grale.experiments.tables.embedding_tuning import TRIALS, known_properties
from grale.graphs.graph import Graph
from grale.graphs.molecules.molecule import molecule_space
from grale.tasks.contenders import Vectors, read_molecules
from grale.tasks.probe import ProbeConfig
from grale.tasks.properties import named_property
from tasks.labelled_molecules import SMILES, additive, write_csv

pytestmark = pytest.mark.slow

NAMES = (
    "molecules, description", "molecules, latent", "molecules and rdkit", "untrained",
    "GRALE, the paper's pooling, latent", "PIGVAE, description", "rdkit", "ecfp", "counts+ecfp",
    "SimGRACE", "InfoGraph", "GraphMAE", "VGAE",
    "GRALE, pooling by transport, description",
)  # fmt: skip


@pytest.fixture
def labelled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Folder with small sets in the formats of FreeSolv and BBBP, and no network."""

    def no_network(url: str, path: Path) -> Path:
        raise OSError(f"cannot download {url}")

    monkeypatch.setattr(sets, "download", no_network)
    folder = tmp_path / "labelled"
    folder.mkdir()
    values = [(smiles, str(additive(smiles))) for smiles in SMILES]
    write_csv(folder / "SAMPL.csv", values, "smiles,expt")
    classes = [(smiles, str(int("O" in smiles or "N" in smiles))) for smiles in SMILES]
    write_csv(folder / "BBBP.csv", classes, "smiles,p_np")
    return folder


def test_the_table_has_every_contender_and_says_what_was_not_run(
    labelled: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(downstream, "ProbeConfig", partial(ProbeConfig, num_splits=2))
    graphs = library_graphs(60, 16)
    for split in ("train", "valid", "test"):
        write_shards(tmp_path / "pool" / split, graphs, molecule_space(16))
    told: list[str] = []
    request = Request(
        scale="smoke", folder=tmp_path / "out", data=str(tmp_path / "pool"), labelled=labelled,
        count=40, seeds=1, also=("counts+ecfp",), on_model=told.append,
    )  # fmt: skip
    (table,) = find_experiment("table-downstream").run(request, nullcontext)
    rows = {row[0]: row[1:] for row in table.rows}
    titles = list(table.header[1:])
    assert titles == ["QM9", "QM40", "ESOL", "Lipo", "FreeSolv", "BBBP", "BACE"]
    for name in NAMES:
        assert [cell == NOT_RUN for cell in rows[name]] == [
            title not in ("FreeSolv", "BBBP") for title in titles
        ]
    assert "QM40: " in table.caption
    assert "get the file from its authors" in table.caption
    assert "Rows that all can take: FreeSolv 40, BBBP 40" in table.caption
    assert rows["GRALE, quoted from the paper"][0] == "0.015"
    assert "PIGVAE, seed 0" in told
    values = json.loads(table.write(tmp_path)[1].read_text())["values"]
    assert len(values["freesolv"]["scores"]) == len(rows) - len(PAPER_ROWS)
    assert all(0 <= x <= 1 for x in values["bbbp"]["scores"]["rdkit"]["ROC-AUC"])


def test_scores_are_found_again_for_the_same_vectors_alone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def anew(*args: object) -> None:
        raise AssertionError("probed anew")

    molecules = read_molecules(SMILES)
    targets = np.array([additive(smiles) for smiles in SMILES])
    values = np.random.default_rng(0).standard_normal((len(SMILES), 3))
    vectors = {"mine": Vectors(values, [None] * len(SMILES))}
    request = Request(folder=tmp_path)
    first = _scores(request, "esol", molecules, targets, vectors)
    monkeypatch.setattr(downstream, "probe", anew)
    renamed = _scores(request, "esol", molecules, targets, {"yours": vectors["mine"]})
    assert renamed.scores == {"yours": first.scores["mine"]}
    others = {"mine": Vectors(values + 1e-9, [None] * len(SMILES))}
    for changed in ((targets + 1, vectors), (targets, others)):
        with pytest.raises(AssertionError, match="probed anew"):
            _scores(request, "esol", molecules, *changed)
    with pytest.raises(AssertionError, match="probed anew"):
        _scores(request, "qm9", molecules, targets, vectors)  # another head


def test_rivals_without_a_decoder_are_tuned_on_properties_of_validation_molecules(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    few = {rival: dict(list(trials.items())[1:2]) for rival, trials in TRIALS.items()}
    monkeypatch.setattr(embedding_tuning, "TRIALS", few)
    graphs = library_graphs(60, 16)
    for split in ("train", "valid"):
        write_shards(tmp_path / "pool" / split, graphs, molecule_space(16))
    experiment = find_experiment("table-embedding-tuning")
    with pytest.raises(ValueError, match="needs --data"):
        experiment.run(Request(scale="smoke"), nullcontext)
    request = Request(scale="smoke", folder=tmp_path / "out", data=str(tmp_path / "pool"), count=60)
    (table,) = experiment.run(request, nullcontext)
    assert [row[0].split(",")[0] for row in table.rows] == list(TRIALS)
    assert all(-10 < float(number) <= 1 for row in table.rows for number in row[1:5])


def test_properties_that_a_vector_holds_are_found_in_it() -> None:
    class Knows:
        def __init__(self, names: tuple[str, ...]) -> None:
            self.names = names

        def describe(self, graphs: list[Graph]) -> np.ndarray:
            return np.array([[named_property(name)(g) for name in self.names] for g in graphs])

    graphs = library_graphs(200, 16)
    assert known_properties(Knows(("TPSA", "logP")), graphs)["TPSA"] > 0.95
    assert known_properties(Knows(("size",)), graphs)["TPSA"] < 0.5


def test_the_quoted_numbers_have_a_row_each_and_classes_are_areas() -> None:
    assert all(len(each.paper) == len(PAPER_ROWS) for each in SETS.values())
    grale = dict(zip(SETS, (each.paper[PAPER_ROWS.index("GRALE")] for each in SETS.values())))
    assert grale == {
        "qm9": 0.015, "qm40": 0.018, "esol": 0.274, "lipophilicity": 0.511, "freesolv": 0.272,
        "bbbp": 0.731, "bace": 0.821,
    }  # fmt: skip


def test_without_labelled_sets_the_table_says_what_it_needs(labelled: Path, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="table-downstream needs --labelled FOLDER"):
        find_experiment("table-downstream").run(Request(), nullcontext)
    empty = tmp_path / "empty"
    empty.mkdir()
    with pytest.raises(ValueError, match="holds none of the sets; cannot download"):
        find_experiment("table-downstream").run(Request(labelled=empty), nullcontext)


def test_without_its_extra_chemnet_is_a_row_that_was_not_run(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def absent() -> None:
        raise ImportError("pip install 'grale[chemnet]'")

    names, left_out = contenders(Request())
    assert ("chemnet" in names) != ("chemnet" in left_out)
    monkeypatch.setattr(downstream, "check_chemnet", absent)
    names, left_out = contenders(Request())
    assert "chemnet" not in names
    assert "grale[chemnet]" in left_out["chemnet"]
    assert not any("GRALE" in name for name in names)  # without --data nothing is trained
