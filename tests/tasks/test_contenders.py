"""Contenders by name: each row has numbers or a reason, joined ones have both's numbers."""

from __future__ import annotations

import builtins
from pathlib import Path

import numpy as np
import pytest
import torch

import grale
from grale.graphs.molecules.descriptors import all_names
from grale.model.autoencoder import GRALE
from grale.tasks.chemnet import chemnet_vectors
from grale.tasks.contenders import (
    UNKNOWN,
    find_makers,
    join,
    make_vectors,
    parts_of,
    read_molecules,
    untrained,
)
from tasks.labelled_molecules import SMILES

ROWS = ["CCO", "xx", None, "c1ccccc1", "CCO", "C" * 12]


@pytest.fixture(scope="module")
def tiny(molecule_model: GRALE, tmp_path_factory: pytest.TempPathFactory) -> str:
    """Folder of an untrained model of up to 10 atoms, with a plus in its name."""
    folder = tmp_path_factory.mktemp("model") / "tiny+one"
    molecule_model.save_pretrained(folder)
    return str(folder)


@pytest.mark.slow
def test_every_row_has_numbers_or_a_reason(tiny: str) -> None:
    molecules = read_molecules(ROWS)
    done: list[int] = []
    made = make_vectors(find_makers([tiny, "rdkit", "ecfp", "counts"]), molecules, done.append)
    assert sum(done) == 4 * len(ROWS)
    for name, vectors in made.items():
        assert len(vectors.values) == len(vectors.reasons) == len(ROWS)
        assert vectors.reasons[1] == "cannot parse SMILES 'xx'"
        assert vectors.reasons[2] == "the row has no entry"
        good = [0, 3, 4] + ([] if name == tiny else [5])
        assert np.isfinite(vectors.values[good]).all()
        assert (vectors.values[0] == vectors.values[4]).all()
        assert (vectors.values[0] != vectors.values[3]).any()
    too_large = "the molecule has 12 heavy atoms, but the model takes at most 10"
    assert made[tiny].reasons[5] == f"{tiny}: {too_large}"
    assert made["rdkit"].values.shape[1] == len(all_names())


@pytest.mark.slow
def test_a_model_gives_its_description_or_its_latent(tiny: str, molecule_model: GRALE) -> None:
    molecules = read_molecules(SMILES[:5])
    made = make_vectors(find_makers([tiny, f"{tiny}:latent"]), molecules)
    latents = molecule_model.encode(SMILES[:5])
    np.testing.assert_allclose(made[f"{tiny}:latent"].values, latents, atol=1e-6)
    np.testing.assert_allclose(made[tiny].values, molecule_model.describe(latents), atol=1e-5)


def test_joined_contenders_have_the_numbers_of_both_and_fail_where_one_does(tiny: str) -> None:
    molecules = read_molecules(ROWS)
    made = make_vectors(find_makers(["counts+ecfp", "rdkit"]), molecules)
    joined = join("counts+ecfp", made)
    assert joined.values.shape[1] == 36 + 2_048
    assert joined.reasons[5] is None
    made["ecfp"].reasons[5] = "too long"
    assert join("counts+ecfp", made).reasons[5] == "too long"
    assert parts_of(tiny) == [tiny]
    assert parts_of("a + b:latent") == ["a", "b:latent"]


def test_counts_are_those_of_atoms_and_bonds() -> None:
    made = make_vectors(find_makers(["counts"]), read_molecules(["CC(=O)Nc1ccccc1Cl"]))
    (row,) = made["counts"].values
    assert row[[0, 1, 2, 6]].tolist() == [8, 1, 1, 1]
    assert row[-4:].tolist() == [4, 1, 0, 6]


def test_a_descriptor_that_rdkit_does_not_know_is_a_gap_not_a_failure() -> None:
    molecules = read_molecules(["CCO", "[Na]Cl", "C[Hg]C"])
    vectors = make_vectors(find_makers(["rdkit"]), molecules)["rdkit"]
    assert vectors.reasons == [None] * 3
    assert np.isnan(vectors.values).any()
    assert np.isfinite(vectors.values[0]).all()


@pytest.mark.slow
def test_untrained_has_the_shape_of_the_shipped_model_and_always_the_same_weights() -> None:
    state = torch.get_rng_state()
    first, again = untrained(), untrained()
    assert (torch.get_rng_state() == state).all()
    pairs = list(zip(first.state_dict().items(), again.state_dict().values()))
    assert all(bool((a == b).all()) for (_, a), b in pairs)
    shipped = grale.load("molecules").state_dict()
    assert {name: a.shape for (name, a), _ in pairs} == {n: a.shape for n, a in shipped.items()}
    assert any(bool((a != shipped[name]).any()) for (name, a), _ in pairs)


def test_chemnet_is_read_as_tensors_and_depends_on_the_molecule() -> None:
    pytest.importorskip("fcd")
    found = make_vectors(find_makers(["chemnet"]), read_molecules(["OCC", "CCO", "CCN", "C" * 350]))
    vectors = found["chemnet"]
    assert vectors.values.shape == (4, 512)
    np.testing.assert_allclose(vectors.values[0], vectors.values[1], atol=1e-6)
    assert np.abs(vectors.values[0] - vectors.values[2]).max() > 1e-3
    assert "ChemNet reads at most 349" in str(vectors.reasons[3])
    assert chemnet_vectors([]).shape == (0, 512)


def test_without_the_extra_chemnet_names_it(monkeypatch: pytest.MonkeyPatch) -> None:
    usual = builtins.__import__

    def without(name: str, *rest, **named):
        if name.partition(".")[0] == "fcd":
            raise ImportError(name)
        return usual(name, *rest, **named)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(ImportError, match=r"pip install 'grale\[chemnet\]'"):
        find_makers(["chemnet"])


@pytest.mark.slow
def test_a_vector_without_a_finite_number_is_a_reason(
    tiny: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    makers = find_makers([tiny])
    model = makers[tiny].model
    usual = model.encode

    def broken(graphs, **named):
        found = usual(graphs, **named)
        found[1] = np.nan
        return found

    monkeypatch.setattr(model, "encode", broken)
    vectors = make_vectors(makers, read_molecules(["C", "CC", "CCC"]))[tiny]
    assert vectors.reasons == [None, UNKNOWN, None]


@pytest.mark.parametrize(
    ("contenders", "message"),
    [
        (["coloring-10"], "coloring-10 was not trained on molecules"),
        (["rdkit", "rdkit"], "'rdkit' is named more than once"),
        (["+"], "names no contender"),
        (["no-such-model"], "no model of that name"),
    ],
)
def test_a_wrong_contender_is_refused_before_anything_is_computed(
    contenders: list[str], message: str
) -> None:
    with pytest.raises((ValueError, OSError), match=message):
        find_makers(contenders)


def test_a_file_without_one_good_row_says_why() -> None:
    with pytest.raises(ValueError, match="none of 2 rows can be used; the first: cannot parse"):
        make_vectors(find_makers(["ecfp"]), read_molecules(["xx", None]))
    assert Path("xx").exists() is False
