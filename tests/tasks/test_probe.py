"""The probe: what can be learned is, what cannot is not, and every bad input says what is wrong."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from sklearn.svm import SVR

from grale.tasks.contenders import Vectors, find_makers, join, make_vectors, read_molecules
from grale.tasks.heads import HEADS, WithinReach, build_head, fit_head, scores_of
from grale.tasks.missing import num_ticks, what_is_missing
from grale.tasks.probe import NO_TARGET, ProbeConfig, Probed, check_targets, probe, told_apart
from grale.tasks.probe_files import check_picture, write_probed
from tasks.labelled_molecules import SMILES, additive

MOLECULES = read_molecules(SMILES)
TARGETS = np.array([additive(smiles) for smiles in SMILES])
CLASSES = (np.median(TARGETS) < TARGETS).astype(np.float64)
NO_REASONS: list[str | None] = [None] * len(SMILES)


@pytest.fixture(scope="module")
def vectors() -> dict[str, Vectors]:
    """Counts, which tell the target, and noise, which does not.

    Counts are moved a little, so that no two rows are equally far from a third: which of them is a
    neighbour would depend on the processor.
    """
    made = join("counts", make_vectors(find_makers(["counts"]), MOLECULES))
    rng = np.random.default_rng(0)
    noise = rng.standard_normal((len(SMILES), 8))
    is_used = made.values.std(axis=0) > 0
    moved = made.values + 0.01 * is_used * rng.standard_normal(made.values.shape)
    return {"counts": Vectors(moved, made.reasons), "noise": Vectors(noise, list(NO_REASONS))}


@pytest.mark.slow
@pytest.mark.parametrize("head", HEADS["regression"])
def test_a_property_that_vectors_tell_is_read_and_noise_tells_nothing(head, vectors) -> None:
    fits: list[int] = []
    found = probe(MOLECULES, TARGETS, vectors, ProbeConfig(head=head, num_splits=2), fits.append)
    assert found.task == "regression"
    assert sum(fits) == 4
    metric = "MAE, deviations"
    assert np.mean(found.scores["counts"][metric]) < 0.4
    assert np.mean(found.scores["noise"][metric]) > 0.5
    assert np.mean(found.scores["noise"]["R2"]) < 0.3 < np.mean(found.scores["counts"]["R2"])


@pytest.mark.slow
@pytest.mark.parametrize("head", HEADS["classification"])
def test_classes_that_vectors_tell_are_ranked_and_noise_is_not(head, vectors) -> None:
    found = probe(MOLECULES, CLASSES, vectors, ProbeConfig(head=head, num_splits=2))
    assert found.task == "classification"
    assert np.mean(found.scores["counts"]["ROC-AUC"]) > 0.8
    assert np.mean(found.scores["noise"]["ROC-AUC"]) < 0.8


@pytest.mark.slow
@pytest.mark.parametrize("head", HEADS["regression"])
def test_a_number_that_never_changed_while_learning_says_nothing_later(head: str) -> None:
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((80, 3))
    values = rows[:, 0] - rows[:, 1]
    rows[:, 2] = 0
    fitted = fit_head(build_head(head), rows[:60], values[:60])
    others = rows[60:].copy()
    others[:, 2] = 0.5  # as a rare substructure of a tested molecule
    assert np.abs(scores_of(fitted, others) - scores_of(fitted, rows[60:])).max() < 1.5


def test_errors_are_in_deviations_of_the_rows_learned_from(vectors) -> None:
    config = ProbeConfig(head="ridge", num_splits=2)
    found = probe(MOLECULES, TARGETS, vectors, config)
    for number, split in enumerate(found.splits):
        ratio = found.scores["noise"]["MAE"][number] / TARGETS[split.train].std()
        assert found.scores["noise"]["MAE, deviations"][number] == pytest.approx(ratio)
    moved = probe(MOLECULES, 100 + 7 * TARGETS, vectors, config)
    first, second = (each.scores["noise"]["MAE, deviations"] for each in (found, moved))
    assert first == pytest.approx(second)


@pytest.mark.slow
def test_all_contenders_are_compared_on_the_rows_that_all_can_take(vectors, tmp_path) -> None:
    short = Vectors(vectors["noise"].values, ["too long", *NO_REASONS[1:]])
    targets = TARGETS.copy()
    targets[2:4] = np.nan, np.inf
    found = probe(MOLECULES, targets, {**vectors, "short": short}, ProbeConfig(head="ridge"))
    assert found.reasons[:5] == ["too long", None, NO_TARGET, NO_TARGET, None]
    assert len(found.rows) == len(SMILES) - 3
    assert found.scores["short"].keys() == found.scores["counts"].keys()
    assert np.isnan(found.predictions["counts"][[0, 2, 3]]).all()
    files = write_probed(found, MOLECULES, targets, ProbeConfig(head="ridge"), tmp_path / "a.png")
    table = pq.read_table(files[2]).to_pydict()
    assert table["entry"] == SMILES
    assert table["reason"][:3] == ["too long", None, NO_TARGET]
    assert table["target"][2] is None
    tested = [value is not None for value in table["predicted by counts"]]
    assert tested == [times > 0 for times in table["times_tested"]]
    data = json.loads(files[1].read_text())
    assert data["left_out"] == {NO_TARGET: 2, "too long": 1}
    assert data["compared"] == len(SMILES) - 3
    assert data["protocol"]["task"] == "regression"
    assert len(data["scores"]["counts"]["R2"]) == 5
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a.json", "a.parquet", "a.png"]


@pytest.mark.slow
def test_molecules_on_both_sides_of_a_split_are_counted(vectors) -> None:
    config = ProbeConfig(head="ridge", num_splits=2)
    assert sum(probe(MOLECULES, TARGETS, vectors, config).shared) == 0
    other_spelling = read_molecules([*SMILES, *SMILES])
    twice = {name: Vectors(np.tile(v.values, (2, 1)), v.reasons * 2) for name, v in vectors.items()}
    found = probe(other_spelling, np.tile(TARGETS, 2), twice, config)
    assert all(shared > len(split.test) / 2 for shared, split in zip(found.shared, found.splits))


def test_the_machine_with_its_kernel_computed_once_is_that_of_scikit_learn(rng) -> None:
    x = rng.standard_normal((90, 5)) * [1, 2, 3, 4, 5]
    y = np.sin(x[:, 0]) + x[:, 1]
    head = build_head("svm").fit(x[:70], y[:70])
    inner = head[-1]
    plain = SVR(C=inner.search_.best_params_["C"], epsilon=0.05, gamma="scale")
    scaled = [head[:-1].transform(part) for part in (x[:70], x[70:])]
    expected = plain.fit(scaled[0], y[:70]).predict(scaled[1])
    np.testing.assert_allclose(head.predict(x[70:]), expected, atol=1e-6)


def test_numbers_far_out_are_cut_and_unknown_ones_become_the_mean() -> None:
    found = WithinReach().fit(None).transform(np.array([[1e9, -50.0, np.nan, 0.5]]))
    assert found.tolist() == [[10.0, -10.0, 0.0, 0.5]]


@pytest.mark.slow
@pytest.mark.parametrize("task", ["regression", "classification"])
def test_a_picture_is_drawn_for_each_task(task, vectors, tmp_path) -> None:
    targets = TARGETS if task == "regression" else CLASSES
    config = ProbeConfig(head="knn", num_splits=2)
    found = probe(MOLECULES, targets, vectors, config)
    files = write_probed(found, MOLECULES, targets, config, tmp_path / "deep" / "p.svg")
    assert "svg" in files[0].read_text()[:300]
    assert all(path.stat().st_size > 500 for path in files)
    assert found.lines()[0][1] == {"regression": "MAE, deviations"}.get(task, "ROC-AUC")


def test_two_values_are_classes_unless_told_otherwise() -> None:
    values = np.array([3.0, 7.0, 7.0])
    task, classes = told_apart(values, "auto")
    assert (task, classes.tolist()) == ("classification", [0, 1, 1])
    assert told_apart(values, "regression")[0] == "regression"
    assert told_apart(np.array([1.0, 2.0, 3.0]), "auto")[0] == "regression"


@pytest.mark.parametrize(
    ("targets", "config", "message"),
    [
        (np.ones(72), ProbeConfig(), "all 72 rows have the target 1; there is nothing to tell"),
        (np.ones(72), ProbeConfig(task="classification"), "all 72 rows have the target 1"),
        (np.full(72, np.nan), ProbeConfig(), "only 0 of 72 rows can be used.*row has no target"),
        (TARGETS[:7], ProbeConfig(), "only 7 of 7 rows can be used; at least 20 are needed"),
        (
            TARGETS,
            ProbeConfig(task="classification"),
            "the target has .* classification is between",
        ),
        (TARGETS, ProbeConfig(head="logistic"), "for regression expected one of svm"),
        (CLASSES, ProbeConfig(head="ridge"), "for classification expected one of svm"),
    ],
)
def test_targets_that_tell_nothing_are_refused_before_any_work(targets, config, message) -> None:
    with pytest.raises(ValueError, match=message):
        check_targets(targets, config)


def test_a_class_that_a_split_lacks_is_named(vectors) -> None:
    rare = np.zeros(len(SMILES))
    rare[:2] = 1
    with pytest.raises(ValueError, match="split 0: a class has .* rows to learn from or none"):
        probe(MOLECULES, rare, vectors, ProbeConfig())


def test_a_target_that_varies_in_the_tested_row_alone_is_refused(vectors) -> None:
    first = probe(MOLECULES, TARGETS, vectors, ProbeConfig(head="ridge", num_splits=1)).splits[0]
    same = np.ones(len(SMILES))
    same[first.test[:2]] = 2, 3
    with pytest.raises(ValueError, match="split 0: all rows to learn from have the same target"):
        probe(MOLECULES, same, vectors, ProbeConfig(head="ridge", num_splits=1))


def test_an_unknown_task_and_too_many_rows_for_a_kernel_are_refused() -> None:
    with pytest.raises(ValueError, match="task='ranking'; expected one of auto, regression"):
        ProbeConfig(task="ranking")
    with pytest.raises(ValueError, match="at most 12,000 rows, got 12,001; choose another head"):
        build_head("svm").fit(np.zeros((12_001, 1)), np.arange(12_001.0))


@pytest.mark.parametrize("name", ["set.parquet", "set.json"])
def test_no_file_is_written_over_the_input(name: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=f"{name} would be written over its own input"):
        check_picture(tmp_path / name, tmp_path / "set.png")
    with pytest.raises(ValueError, match="end in one of .png, .svg"):
        check_picture(tmp_path / name, tmp_path / "set.pdf")
    (tmp_path / "folder.json").mkdir()
    with pytest.raises(ValueError, match="is a folder; choose another"):
        check_picture(tmp_path / name, tmp_path / "folder.png")


@pytest.mark.slow
def test_what_is_left_out_of_a_vector_is_found_missing() -> None:
    entries = [*SMILES, *(f"O{smiles}" for smiles in SMILES), *(f"F{smiles}" for smiles in SMILES)]
    molecules = read_molecules(entries)
    made = make_vectors(find_makers(["counts", "rdkit"]), molecules)
    ticks: list[int] = []
    whole = what_is_missing(molecules, made["rdkit"], 3, ticks.append)
    assert sum(ticks) == num_ticks(made["rdkit"], 3)
    assert whole.worst[0].ridge > 0.8
    carbons = Vectors(made["counts"].values[:, :1], made["counts"].reasons)
    found = what_is_missing(molecules, carbons, count=3)
    assert found.num_rows == len(entries)
    assert found.worst[0].ridge < 0.3 < whole.median()
    assert found.median() < whole.median()
    assert [each.ridge for each in found.worst] == sorted(each.ridge for each in found.worst)
    assert "NumAromaticRings" in found.constant
    assert isinstance(found.worst[0].svm, float)
    few = molecules.taken(range(30)), Vectors(np.zeros((30, 2)), [None] * 30)
    with pytest.raises(ValueError, match="no descriptor varies enough among 30 molecules"):
        what_is_missing(*few)
    with pytest.raises(ValueError, match="only 5 of 5 rows can be used"):
        what_is_missing(molecules.taken(range(5)), Vectors(np.zeros((5, 2)), [None] * 5))


@pytest.mark.slow
def test_results_do_not_depend_on_the_other_contenders(vectors) -> None:
    config = ProbeConfig(num_splits=2)
    alone: Probed = probe(MOLECULES, TARGETS, {"counts": vectors["counts"]}, config)
    assert alone.scores["counts"] == probe(MOLECULES, TARGETS, vectors, config).scores["counts"]
