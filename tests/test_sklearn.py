"""GRALE in scikit-learn pipelines."""

from __future__ import annotations

import json
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import Ridge
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from grale.sklearn import GraleTransformer, without_failed

pytestmark = pytest.mark.slow
SMILES = ["CCO", "CC", "c1ccccc1", "CC(=O)O", "CCN", "C"]
NO_NUMBERS = "its input is molecules or graphs, not an array of numbers"
EXPECTED_FAILURES = {
    "check_fit_score_takes_y": NO_NUMBERS,
    "check_transformer_general": NO_NUMBERS,
    "check_transformer_preserve_dtypes": NO_NUMBERS,
    "check_f_contiguous_array_estimator": NO_NUMBERS,
    "check_methods_sample_order_invariance": NO_NUMBERS,
    "check_methods_subset_invariance": NO_NUMBERS,
    "check_dont_overwrite_parameters": NO_NUMBERS,
    "check_estimators_dtypes": NO_NUMBERS,
    "check_pipeline_consistency": NO_NUMBERS,
    "check_estimators_pickle": NO_NUMBERS,
    "check_transformers_unfitted_stateless": NO_NUMBERS,
    "check_fit2d_1sample": NO_NUMBERS,
    "check_fit2d_1feature": NO_NUMBERS,
    "check_dict_unchanged": NO_NUMBERS,
    "check_fit_idempotent": NO_NUMBERS,
    "check_estimator_sparse_array": "the check itself cannot build sparse input of one dimension",
}


@pytest.fixture(scope="module")
def saved(tmp_path_factory, molecule_model) -> str:
    folder = tmp_path_factory.mktemp("model")
    molecule_model.save_pretrained(folder)
    return str(folder)


@parametrize_with_checks(
    [GraleTransformer("coloring-10")], expected_failed_checks=lambda _: EXPECTED_FAILURES
)
@pytest.mark.filterwarnings("ignore")
def test_scikit_learns_own_checks(estimator, check) -> None:
    check(estimator)


def test_it_embeds_as_the_model_does(saved, molecule_model) -> None:
    rows = GraleTransformer(saved).fit_transform(SMILES)
    assert GraleTransformer(saved, refine=2).fit_transform(SMILES).shape == rows.shape
    np.testing.assert_allclose(rows, molecule_model.describe(SMILES), atol=1e-5)
    latents = GraleTransformer(saved, what="latent").fit_transform(SMILES)
    np.testing.assert_allclose(latents, molecule_model.encode(SMILES), atol=1e-6)
    with pytest.raises(ValueError, match="expected 'description' or 'latent'"):
        GraleTransformer(saved, what="meaning").fit(SMILES)
    for form in (
        np.array(SMILES),
        np.array(SMILES)[:, None],
        pd.Series(SMILES),
        pd.DataFrame({"s": SMILES}),
    ):
        np.testing.assert_allclose(GraleTransformer(saved).transform(form), rows, atol=1e-6)


def test_it_works_in_a_pipeline_and_names_its_columns(saved) -> None:
    targets = np.arange(len(SMILES), dtype=float)
    pipeline = make_pipeline(GraleTransformer(saved), Ridge()).fit(SMILES, targets)
    assert pipeline.predict(SMILES).shape == (len(SMILES),)
    assert pipeline[:-1].get_feature_names_out()[3] == "grale3"
    frame = GraleTransformer(saved).set_output(transform="pandas").fit_transform(SMILES)
    assert frame.columns[0] == "grale0"


def test_a_clone_or_a_saved_copy_holds_the_name_only(saved) -> None:
    transformer = GraleTransformer(saved, on_error="null").fit(SMILES)
    assert clone(transformer).get_params() == transformer.get_params()
    stored = pickle.dumps(transformer)
    assert len(stored) < 1_000  # no weights
    np.testing.assert_array_equal(
        pickle.loads(stored).transform(SMILES), transformer.transform(SMILES)
    )


def test_it_is_stored_without_pickle_as_its_parameters(saved) -> None:
    transformer = GraleTransformer(saved, on_error="null", batch_size=7)
    again = GraleTransformer(**json.loads(json.dumps(transformer.get_params())))
    assert again.get_params() == transformer.get_params()
    np.testing.assert_array_equal(again.transform(SMILES), transformer.transform(SMILES))


def test_bad_rows_are_handled_as_asked(saved) -> None:
    items = ["CCO", "", "CC"]
    assert np.isnan(GraleTransformer(saved, on_error="null").transform(items)[1]).all()
    assert len(GraleTransformer(saved, on_error="skip").transform(items)) == 2
    with pytest.raises(ValueError, match="item 1"):
        GraleTransformer(saved).transform(items)
    with pytest.raises(TypeError, match="expected a list"):
        GraleTransformer(saved).transform("CCO")
    with pytest.raises(ValueError, match="one column"):
        GraleTransformer(saved).transform(np.zeros((2, 3)))


def test_failed_rows_get_the_mean_of_the_training_rows_and_a_flag(saved) -> None:
    seen, new = ["CCO", "", "CC", None], ["CCN", "xyz"]
    transformer = GraleTransformer(saved, on_error="impute")
    fitted = transformer.fit_transform(seen)
    good = GraleTransformer(saved).transform(["CCO", "CC"])
    assert fitted[:, -1].tolist() == [0, 1, 0, 1]
    np.testing.assert_allclose(fitted[[0, 2], :-1], good, atol=1e-6)
    np.testing.assert_allclose(fitted[1, :-1], good.mean(axis=0), atol=1e-6)
    later = transformer.transform(new)
    np.testing.assert_allclose(later[1, :-1], good.mean(axis=0), atol=1e-6)
    assert later[:, -1].tolist() == [0, 1]
    names = transformer.get_feature_names_out()
    assert len(names) == fitted.shape[1]
    assert names[-1] == "grale_failed"
    np.testing.assert_array_equal(transformer.fit(seen).transform(seen), fitted)
    with pytest.raises(ValueError, match="none of the 2 rows"):
        transformer.fit(["", "xyz"])
    with pytest.raises(ValueError, match="expected 'impute', 'raise', 'null' or 'skip'"):
        GraleTransformer(saved, on_error="mean").fit(seen)


def test_nothing_is_imputed_before_the_mean_is_known(saved) -> None:
    with pytest.raises(NotFittedError):
        GraleTransformer(saved, on_error="impute").transform(["CCO"])


def test_a_pipeline_takes_a_column_with_rows_that_fail(saved) -> None:
    frame = pd.DataFrame({"smiles": [*SMILES, "xyz", None], "y": np.arange(8.0)})
    pipeline = make_pipeline(GraleTransformer(saved, on_error="impute"), Ridge())
    assert np.isfinite(pipeline.fit(frame["smiles"], frame["y"]).predict(frame["smiles"])).all()
    scores = cross_val_score(pipeline, frame["smiles"], frame["y"], cv=2, scoring="r2")
    assert np.isfinite(scores).all()


@pytest.mark.parametrize("make", [list, np.array, pd.Series, pl.Series, lambda v: pd.DataFrame(v)])
def test_rows_that_fail_are_dropped_together_with_their_targets(saved, make) -> None:
    items, targets = make(["CCO", "xyz", "CC"]), make([1.0, 2.0, 3.0])
    kept, beside = without_failed(items, targets, model=saved)
    assert type(kept) is type(items)
    assert np.asarray(kept).ravel().tolist() == ["CCO", "CC"]
    assert np.asarray(beside).ravel().tolist() == [1.0, 3.0]
    assert len(without_failed(items, model=saved)) == 1
    with pytest.raises(ValueError, match="3 molecules, but 2 values in argument 3"):
        without_failed(items, targets, [1, 2], model=saved)
