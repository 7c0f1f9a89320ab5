"""Rows in, rows out: the API gives what the library gives, row by row."""

from __future__ import annotations

import numpy as np
import pytest

from grale.catalog import shipped_versions
from grale.codec.storage import read_identity
from grale.model.autoencoder import GRALE
from grale.rivals.vgae.config import VgaeConfig
from grale.rivals.vgae.model import VGAE
from prior.still_prior import still_prior
from web.clients import client_of

FAR = 2.5  # a hundred steps of renoising leave a fifth of it

ETHANOL = {"node_labels": [0, 0, 2], "edges": [[0, 1], [1, 2]]}
MIXED = ["CCO", "not a molecule", None, ETHANOL, "C" * 11, {"node_labels": [99]}]
TAKEN = [True, False, False, True, False, False]


def vectors(answer) -> list[list[float] | None]:
    assert answer.status_code == 200, answer.text
    return [row["vector"] for row in answer.json()["rows"]]


def test_encode_gives_the_vectors_of_the_library_row_by_row(api, molecule_model: GRALE) -> None:
    answer = api.post("/encode", json={"graphs": MIXED})
    found = vectors(answer)
    assert [vector is not None for vector in found] == TAKEN
    expected = molecule_model.encode(["CCO"])[0]
    np.testing.assert_allclose(found[0], expected, atol=1e-5)
    np.testing.assert_allclose(found[3], expected, atol=1e-5)


def test_failed_rows_keep_their_place_and_have_the_reason_of_the_library(api, molecule_model):
    rows = api.post("/encode", json={"graphs": MIXED}).json()["rows"]
    assert [row["row"] for row in rows] == list(range(len(MIXED)))
    assert [row["status"] == "ok" for row in rows] == TAKEN
    assert [row["reason"] is None for row in rows] == TAKEN
    texts = [MIXED[1], MIXED[4]]
    assert [rows[1]["reason"], rows[4]["reason"]] == molecule_model.why_not(texts)


def test_every_answer_names_model_package_and_reading(api) -> None:
    latent = api.post("/encode", json={"graphs": ["CCO"]}).json()
    described = api.post("/describe", json={"graphs": ["CCO"]}).json()
    assert latent["model"]["name"] == "tiny"
    assert latent["package"]
    assert (latent["reading"], described["reading"]) == ("latent", "description")


@pytest.mark.slow
def test_vectors_can_be_described_and_decoded(api, molecule_model: GRALE) -> None:
    found = vectors(api.post("/encode", json={"graphs": MIXED}))
    described = vectors(api.post("/describe", json={"vectors": found}))
    expected = molecule_model.describe(["CCO"])[0]
    np.testing.assert_allclose(described[0], expected, atol=1e-4)
    rows = api.post("/decode", json={"vectors": found}).json()["rows"]
    assert [row["graph"] is not None for row in rows] == TAKEN
    likeliest = molecule_model.decode(np.array([found[0]]))[0]
    assert rows[0]["smiles"] or rows[0]["graph"]["node_labels"] == likeliest.node_labels.tolist()


@pytest.mark.parametrize("bad", [[1.0, 2.0], [None] * 16, [1e39] * 16])
def test_a_vector_that_cannot_be_decoded_fails_alone(api, bad) -> None:
    good = vectors(api.post("/encode", json={"graphs": ["CCO"]}))[0]
    rows = api.post("/decode", json={"vectors": [bad, good]}).json()["rows"]
    assert rows[0]["status"] == "failed"
    assert "vector" in rows[0]["reason"]
    assert rows[1]["status"] != "failed"


@pytest.mark.parametrize("path", ["/decode", "/describe"])
def test_vectors_of_another_model_are_refused_with_both_names(api, path: str) -> None:
    ours = api.get("/model").json()["model"]["fingerprint"]
    (first,) = (each for each in shipped_versions() if each.folder.name == "molecules@1")
    theirs = read_identity(first.folder).fingerprint
    for fingerprint, name in ((theirs, "molecules@1"), ("f" * 64, "a model without a name")):
        answer = api.post(path, json={"vectors": [], "fingerprint": fingerprint})
        assert answer.status_code == 422
        assert f"are of {name} ({fingerprint[:12]}), but" in answer.json()["error"]
        assert f"the model is tiny ({ours[:12]})" in answer.json()["error"]
    assert api.post(path, json={"vectors": []}).status_code == 200


@pytest.mark.parametrize("path", ["/decode", "/describe"])
def test_the_digits_of_a_fingerprint_that_are_shown_name_the_model(api, path: str) -> None:
    known = api.get("/model").json()["model"]["fingerprint"]
    for digits, status in ((known, 200), (known[:12], 200), (known[:4], 422), ("", 422)):
        body = {"vectors": [], "fingerprint": digits}
        assert api.post(path, json=body).status_code == status


@pytest.mark.slow
def test_reconstruct_says_what_is_exact(api, molecule_model: GRALE) -> None:
    rows = api.post("/reconstruct", json={"graphs": ["CCO", "x"]}).json()["rows"]
    again = molecule_model.reconstruct(["CCO"])[0]
    assert rows[0]["graph"]["node_labels"] == again.node_labels.tolist()
    assert rows[0]["exact"] is (rows[0]["edit_distance"] == 0)
    assert rows[1]["status"] == "failed"


def test_match_lists_the_edits(api) -> None:
    pairs = [["CCO", "CCN"], ["CCO", "OCC"], ["CCO", "["]]
    rows = api.post("/match", json={"pairs": pairs, "method": "exact"}).json()["rows"]
    assert rows[0]["edit_distance"] == len(rows[0]["edits"]) == 1
    assert rows[0]["edits"][0]["kind"] == "relabel node"
    assert rows[1]["edits"] == []
    assert rows[2]["status"] == "failed"
    assert "second graph" in rows[2]["reason"]


@pytest.mark.slow
def test_interpolate_gives_a_path_for_each_pair(api) -> None:
    body = {"pairs": [["CCO", "CCN"], ["CCO", None]], "steps": 3, "tries": 1}
    rows = api.post("/interpolate", json=body).json()["rows"]
    assert [point["position"] for point in rows[0]["points"]] == [0, 0.5, 1]
    assert rows[1] | {"reason": ""} == {"row": 1, "status": "failed", "reason": "", "points": None}


@pytest.mark.slow
def test_edit_leaves_out_what_is_not_similar_enough(tiny_coloring_client) -> None:
    asked = {"graphs": [{"node_labels": [0, 1, 2], "edges": [[0, 1], [1, 2]]}], "steps": 8}
    asked |= {"epsilon": 0.2}
    free, strict = (
        tiny_coloring_client.post("/edit", json=asked | {"min_similarity": least}).json()["rows"][0]
        for least in (0.0, 1.0)
    )
    assert free["status"] == "ok"
    assert free["left_out"] == 0
    assert strict["left_out"] == len(free["points"]) - 1 > 0
    assert [point["step"] for point in strict["points"]] == [0]
    refused = tiny_coloring_client.post("/edit", json=asked | {"property": "logP"})
    assert refused.status_code == 422
    assert "size or edges" in refused.json()["error"]


@pytest.mark.slow
def test_new_graphs_are_drawn_from_a_prior_and_only_from_one(api, generative: GRALE) -> None:
    refused = api.post("/sample", json={"count": 2})
    assert refused.status_code == 422
    assert "no prior" in refused.json()["error"]
    assert not api.get("/model").json()["can"]["sample"]
    generative.use_prior(still_prior(generative, share=FAR))
    with client_of(generative) as client:
        assert client.get("/model").json()["can"]["sample"]
        assert client.get("/model").json()["conditions"] == ["size", "logP"]
        first, again, other = (
            client.post("/sample", json={"count": 3, "seed": seed, "tries": 1}).json()["rows"]
            for seed in (0, 0, 1)
        )
        assert len(first) == 3
        assert first == again != other
        unknown = client.post("/sample", json={"where": ["QED>0.5"]})
        assert unknown.status_code == 422
        assert "QED" in unknown.json()["error"]


@pytest.mark.slow
def test_a_model_without_a_decoder_says_so(molecule_model: GRALE) -> None:
    with client_of(
        VGAE(molecule_model.space, VgaeConfig(hidden_dim=8, latent_dim=8)).eval()
    ) as client:
        assert client.post("/encode", json={"graphs": ["CCO"]}).json()["rows"][0]["status"] == "ok"
        for path, body in (("/reconstruct", {"graphs": ["CCO"]}), ("/match", {"pairs": []})):
            answer = client.post(path, json=body)
            assert answer.status_code == 422
            assert "error" in answer.json()


def test_an_empty_request_has_an_empty_answer(api) -> None:
    for path, key in (("/encode", "graphs"), ("/decode", "vectors"), ("/match", "pairs")):
        assert api.post(path, json={key: []}).json()["rows"] == []


@pytest.mark.slow
def test_the_description_of_the_api_has_an_example_for_each_body(api) -> None:
    root = api.get("/openapi.json").json()
    bodies = [
        name for name, schema in root["components"]["schemas"].items() if name.endswith("Body")
    ]
    assert len(bodies) >= 8
    assert all(root["components"]["schemas"][name]["examples"] for name in bodies)
    for path in ("/encode", "/decode", "/describe", "/reconstruct", "/match", "/edit"):
        assert "post" in root["paths"][path]


def test_metrics_count_rows_and_batches(api) -> None:
    api.post("/encode", json={"graphs": ["CCO", "["]})
    text = api.get("/metrics").text
    assert 'grale_rows_total{path="/encode",status="failed"}' in text
    assert "grale_batch_rows_count" in text
    assert 'grale_requests_total{path="/encode",status="200"}' in text
    api.get("/no-such-route-1234")
    assert "no-such-route" not in api.get("/metrics").text


def test_the_api_alone_has_no_page(api, page) -> None:
    assert api.post("/play/pictures", json={"graphs": []}).status_code == 404
    assert page.post("/play/pictures", json={"graphs": []}).status_code == 200
