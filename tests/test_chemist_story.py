"""A chemist's first hour, as documented in docs/molecules.md, on a file as chemists have them.

Semicolons, "Canonical SMILES", ids with zeros in front, salts, rows that are no molecules, others
that are too large, missing values, each molecule measured twice: embed, QSAR, neighbours,
map, between, edit.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from sklearn.linear_model import Ridge
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import grale
from cli.invoking import invoke
from grale.data.molecules.library import library_graphs
from grale.sklearn import GraleTransformer, without_failed
from grale.tasks.properties import named_property

pytestmark = pytest.mark.slow

ROWS = [
    pytest.param(800, marks=pytest.mark.slow),
    pytest.param(2_000, marks=pytest.mark.soak),
]
MOLECULES = 400
SOME = 150  # rows, where the length of the file does not matter
SALTS = (".Cl", ".[Na+].[Cl-]", "")
SMILES = "Canonical SMILES"
BROKEN = ("not measured", "C1CC", "", "C" * 60)


@pytest.fixture(scope="module", params=ROWS)
def story(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the chemist's file: 800 rows in `make test`, 2,000 in `make soak`."""
    folder = tmp_path_factory.mktemp("story")
    rng, log_p = np.random.default_rng(0), named_property("logP")
    lines = [f"Compound ID;{SMILES};pIC50;Project; Note"]
    known = [(graph.to_smiles(), log_p(graph)) for graph in library_graphs(MOLECULES)]
    for row in range(request.param):
        smiles, true = known[row % MOLECULES]
        smiles, value = smiles + SALTS[row % 3], f"{5 + true + 0.1 * rng.standard_normal():.2f}"
        if row % 11 == 5:
            smiles = BROKEN[row % len(BROKEN)]
        if row % 17 == 3:
            value = ""
        lines.append(f'{row:05d};{smiles};{value};{"AB"[row % 2]};"kept; as it is, {row}"')
    (folder / "assay.csv").write_text("\n".join(lines) + "\n", encoding="utf-8-sig")
    vectors = folder / "vectors.parquet"
    printed = invoke("embed", str(folder / "assay.csv"), "-o", str(vectors), "--what", "both",
                     "--desalt", "--fail-above", "0.2")  # fmt: skip
    assert str(request.param) in printed
    return folder


def test_embed_keeps_every_row_and_column(story: Path) -> None:
    frame, own = pd.read_parquet(story / "vectors.parquet"), pd.read_csv(
        story / "assay.csv", sep=";", dtype={"Compound ID": str}, keep_default_na=False
    )  # fmt: skip
    assert len(frame) == len(own) >= ROWS[0].values[0]
    assert frame["Compound ID"].tolist() == own["Compound ID"].tolist()
    assert frame["Note"].tolist() == own[" Note"].tolist()
    assert frame["smiles"].tolist() == own[SMILES].tolist()
    assert frame["pIC50"].dtype == float
    assert frame["pIC50"].isna().sum() == (own["pIC50"] == "").sum()
    broken = own[SMILES].isin(BROKEN)
    assert ((frame["status"] == "failed") == broken).all()
    assert frame["reason"][broken].notna().all()
    assert frame["embedding"][~broken].map(len).eq(512).all()
    stored = grale.read_vectors(story / "vectors.parquet")
    assert stored.made_with["version"] == grale.load("molecules").version


def test_qsar_works_on_the_column_as_it_is(story: Path) -> None:
    frame = pd.read_csv(story / "assay.csv", sep=";").dropna(subset="pIC50")
    is_new = frame["Compound ID"] % MOLECULES > 0.7 * MOLECULES  # molecules, not only rows
    learned, tested = frame[~is_new], frame[is_new]
    features = make_pipeline(GraleTransformer("molecules", on_error="impute"), StandardScaler())
    known, unseen = features.fit_transform(learned[SMILES]), features.transform(tested[SMILES])
    values = learned["pIC50"].to_numpy()
    shuffled = np.random.default_rng(0).permutation(values)
    found, chance = (
        Ridge(100.0).fit(known, each).score(unseen, tested["pIC50"]) for each in (values, shuffled)
    )
    assert found > 0.6
    assert chance < 0.1


def test_rows_that_fail_are_dropped_with_their_targets(story: Path) -> None:
    frame = pd.read_csv(story / "assay.csv", sep=";")[:SOME].dropna(subset="pIC50")
    columns = frame[SMILES], frame["pIC50"].to_numpy(), frame["Compound ID"]
    kept, targets, ids = without_failed(*columns, model="molecules")
    assert len(kept) == len(targets) == len(ids) < len(frame)
    strict = make_pipeline(GraleTransformer("molecules"), StandardScaler(), Ridge(100.0))
    assert cross_val_score(strict, kept, targets, cv=3, scoring="r2").mean() > 0.3
    with pytest.raises(ValueError, match="item 4: cannot parse"):
        strict.fit(frame[SMILES], frame["pIC50"])


def test_neighbours_come_with_their_ids(story: Path) -> None:
    shown = invoke("neighbours", str(story / "vectors.parquet"), "--of",
                   f"{story}/assay.csv:2", "-k", "3", "-o", str(story / "near.csv"))  # fmt: skip
    assert "molecules@2" in shown
    near = pd.read_csv(story / "near.csv", dtype={"Compound ID": str})
    assert int(near["Compound ID"][0]) % MOLECULES == 2
    assert near["distance"].is_monotonic_increasing


def test_the_map_draws_every_row_that_was_embedded(story: Path) -> None:
    shown = invoke("map", str(story / "vectors.parquet"), "--colour", "pIC50",
                   "-o", str(story / "map.png"))  # fmt: skip
    status = pd.read_parquet(story / "vectors.parquet")["status"]
    assert f"{(status == 'failed').sum()} of {len(status)} rows are left out" in shown
    page = (story / "map.html").read_text()
    assert f"molecules@2 ({grale.load('molecules').fingerprint[:12]})" in page
    assert "pIC50" in page


def test_between_two_rows_there_are_molecules_without_the_salts_that_were_removed(
    story: Path,
) -> None:
    out = ("--steps", "3", "-o", str(story / "between.png"))
    shown = invoke("interpolate", f"{story}/vectors.parquet:0", f"{story}/vectors.parquet:1", *out)
    assert shown.count("t = ") == 3
    assert not set(ends_of(shown)) & set("."), shown
    assert (story / "between.png").is_file()
    raw = invoke("interpolate", f"{story}/assay.csv:0", f"{story}/vectors.parquet:1", *out)
    assert "." in ends_of(raw)  # the control: the chemist's own file has the salt


def ends_of(shown: str) -> str:
    """First and last molecule that `grale interpolate` prints."""
    found = [line.split()[-1] for line in shown.splitlines() if line.startswith("t = ")]
    return found[0] + found[-1]


def test_a_measured_column_is_raised(story: Path) -> None:
    shown = invoke("edit", f"{story}/vectors.parquet:1", "-p", "pIC50", "--data",
                   str(story / "vectors.parquet"), "--steps", "20",
                   "-o", str(story / "edit.png"))  # fmt: skip
    assert "pIC50: the column of" in shown
    assert "predictor of pIC50: R2" in shown
    assert ".[Na+]" not in shown
    assert (story / "edit.png").is_file()


def test_a_molecule_matches_itself_without_edits_once_its_salt_is_removed(story: Path) -> None:
    alone, again = f"{story}/assay.csv:2", MOLECULES + 2  # measured again, as its hydrochloride
    out = ("-o", str(story / "match.png"))
    found = invoke("match", alone, f"{story}/vectors.parquet:{again}", *out)
    assert found.startswith("0 edits")
    assert invoke("match", alone, f"{story}/assay.csv:{again}", *out).startswith("1 edits")


def test_the_vectors_come_back_as_molecules_from_their_model_only(story: Path) -> None:
    some, out = story / "some.parquet", story / "again.parquet"
    pq.write_table(pq.read_table(story / "vectors.parquet").slice(0, SOME), some)
    invoke("decode", str(some), "-o", str(out))
    with pytest.raises(ValueError, match=r"vectors of molecules@2 \(.*the model is molecules@1"):
        invoke("decode", str(some), "-o", str(out), "--model", "molecules@1")
    made_with = json.loads(pq.read_schema(out).metadata[b"grale"])
    assert made_with["fingerprint"] == grale.load("molecules").fingerprint
    again = pd.read_parquet(out)["smiles"]
    assert again.notna().sum() > 0.8 * SOME
