"""What the four rivals without a decoder share: they embed, and say that they cannot decode."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from typer.testing import CliRunner

from grale.catalog import ARCHITECTURES, load_any
from grale.cli.main import app
from grale.codec.graph_embedder import CannotDecodeError, GraphEmbedder
from grale.codec.reconstruct import reconstruct
from grale.graphs.molecules.molecule import molecule_space
from grale.graphs.permute import permute_batch, random_permutations
from grale.rivals.graphmae.config import GraphmaeConfig
from grale.rivals.infograph.config import InfographConfig
from grale.rivals.simgrace.config import SimgraceConfig
from grale.rivals.vgae.config import VgaeConfig
from grale.training.config import TrainConfig
from grale.training.evaluation import evaluate
from grale.training.objective import ReconstructionObjective
from rivals.rival_checks import (
    ATOL_FLOAT32,
    SPACES,
    batch_of,
    check_padding,
    gaps_of_changes,
    losses_of,
    with_statistics,
)
from strategies import random_graph

CONFIGS = {
    "simgrace": SimgraceConfig(hidden_dim=16, num_layers=3),
    "infograph": InfographConfig(hidden_dim=8, num_layers=3),
    "graphmae": GraphmaeConfig(hidden_dim=16, num_layers=3),
    "vgae": VgaeConfig(hidden_dim=16, latent_dim=24),
}
runner = CliRunner()


def build(name, space, seed=0):
    torch.manual_seed(seed)
    return ARCHITECTURES[name](space, CONFIGS[name])


@pytest.fixture(params=[False, True], ids=["undirected", "directed"])
def directed(request):
    return request.param


@pytest.fixture(params=sorted(CONFIGS))
def model(request, directed):
    """A model whose running statistics, if it has any, are not those it was made with."""
    return with_statistics(build(request.param, SPACES[directed]))


@pytest.fixture
def batch(rng, directed):
    return batch_of(rng, (1, 4, 6, 7), directed)


def test_the_embedding_does_not_depend_on_node_order(model, batch):
    generator = torch.Generator().manual_seed(0)
    orders = random_permutations(batch.num_nodes, batch.max_nodes, generator)
    moved = permute_batch(batch, orders)
    assert not torch.equal(moved.edge_labels, batch.edge_labels)
    torch.testing.assert_close(model.embed(moved), model.embed(batch), atol=ATOL_FLOAT32, rtol=0)


def test_the_embedding_depends_on_labels_edges_and_what_the_encoder_sees(model, directed):
    gaps = gaps_of_changes(model)
    sees_edges = model.architecture != "vgae"
    assert gaps[1:3].min() > 1e-3
    assert (gaps[3] > 1e-3) == sees_edges
    assert (gaps[4] > 1e-3) == (sees_edges and directed)


@pytest.mark.parametrize("training", [False, True])
def test_extra_padding_changes_nothing(model, batch, training):
    check_padding(model, batch, training)


def test_batch_mates_change_nothing_at_inference(model, batch):
    alone = torch.cat([model.embed(batch[[row]]) for row in range(len(batch))])
    torch.testing.assert_close(alone, model.embed(batch), atol=ATOL_FLOAT32, rtol=0)


def test_the_loss_reaches_every_weight_and_follows_the_noise(model, batch):
    model.train()
    first, again, other = (losses_of(model, batch, seed)["loss"] for seed in (3, 3, 4))
    assert torch.equal(first, again)
    assert torch.equal(first, other) == (model.architecture == "infograph")
    first.backward()
    assert [name for name, weight in model.named_parameters() if weight.grad is None] == []


def test_the_description_is_the_embedding(model, batch):
    graphs = batch.to_graphs()
    latents = model.encode(graphs)
    assert latents.shape == (4, model.latent_dim)
    assert np.array_equal(model.describe(graphs), latents)
    assert np.array_equal(model.describe(latents), latents)
    assert model.verify(graphs, latents).all()


def test_what_needs_a_decoder_says_so_in_one_sentence(model, batch):
    graphs = batch.to_graphs()
    latents = model.encode(graphs)
    for ask in (
        lambda: model.decode(latents),
        lambda: model.decode(latents, on_error="null"),
        lambda: model.reconstruct(graphs),
        lambda: reconstruct(model, graphs),
        lambda: evaluate(model, graphs),
    ):
        with pytest.raises(CannotDecodeError, match=f"^{model.architecture} .* no decoder") as why:
            ask()
        assert len(str(why.value).splitlines()) == 1
    with pytest.raises(ValueError, match="cannot refine latents"):
        model.encode(graphs, refine=3)
    molecules = ARCHITECTURES[model.architecture](molecule_space(9), model.config)
    with pytest.raises(CannotDecodeError):
        molecules.decode_smiles(latents)


def test_a_saved_model_is_the_same(model, batch, tmp_path):
    model.save_pretrained(tmp_path)
    loaded = load_any(tmp_path)
    assert isinstance(loaded, GraphEmbedder)
    assert (loaded.config, loaded.space) == (model.config, model.space)
    for name, value in model.state_dict().items():
        assert torch.equal(loaded.state_dict()[name], value), name
    assert torch.equal(loaded.embed(batch), model.embed(batch))


@pytest.mark.parametrize("name", ["simgrace", "infograph"])
def test_a_batch_of_one_graph_has_no_negatives(name, batch):
    model = build(name, SPACES[batch.directed])
    with pytest.raises(ValueError, match="no negatives"):
        losses_of(model.eval(), batch[[3]])
    with pytest.raises(ValueError, match=f"{name} compares the graphs of a batch"):
        TrainConfig(architecture=name, batch_size=1)


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("simgrace", {"hidden_dim": 0}),
        ("simgrace", {"temperature": 0.0}),
        ("simgrace", {"perturbation": -1.0}),
        ("infograph", {"num_layers": 0}),
        ("graphmae", {"mask_share": 0.0}),
        ("graphmae", {"error_power": 0.5}),
        ("vgae", {"latent_dim": 0}),
        ("vgae", {"kl_weight": -1.0}),
    ],
)
def test_settings_out_of_range_are_refused_by_name(name, changes):
    with pytest.raises(ValueError, match=next(iter(changes))):
        replace(CONFIGS[name], **changes)


def test_held_out_graphs_are_always_compared_in_the_same_way(model, rng, directed):
    graphs = [random_graph(rng, None, directed, 3, 2) for _ in range(65)]
    graphs = [graph for graph in graphs if graph.num_nodes <= 9][:20]
    first, again = (ReconstructionObjective.validate(model, graphs) for _ in range(2))
    assert first == again
    assert list(first.scores) == ["held_out_loss"]
    assert f"of {len(graphs)} held-out graphs" in first.text


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(CONFIGS))
def test_the_command_line_trains_embeds_and_refuses_to_evaluate(name, tmp_path):
    out = tmp_path / "run"
    small = [f"{name}.hidden_dim=8", f"architecture={name}"]
    command = ["train", "smoke", "--out", str(out), "--accelerator", "cpu"]
    result = runner.invoke(app, [*command, *(part for one in small for part in ("--set", one))])
    assert result.exit_code == 0, result.output
    assert "held-out graphs" in result.output
    assert load_any(out).architecture == name
    assert f"{name}, without a decoder" in runner.invoke(app, ["info", str(out)]).output
    result = runner.invoke(app, ["evaluate", str(out), "--count", "4"])
    assert isinstance(result.exception, CannotDecodeError)


@pytest.mark.slow
def test_the_command_line_embeds_a_file_and_refuses_to_decode_it(tmp_path):
    model = build("simgrace", molecule_space(9))
    model.eval().save_pretrained(tmp_path / "model")
    (tmp_path / "in.csv").write_text("smiles\nCCO\nnonsense\nCC(=O)C\n")
    options = ["--model", str(tmp_path / "model"), "-o", str(tmp_path / "z.parquet")]
    result = runner.invoke(app, ["embed", str(tmp_path / "in.csv"), *options, "--what", "both"])
    assert result.exit_code == 0, result.output
    import pyarrow.parquet as pq

    rows = pq.read_table(tmp_path / "z.parquet").to_pylist()
    np.testing.assert_allclose(rows[0]["embedding"], model.encode(["CCO"])[0], atol=ATOL_FLOAT32)
    assert rows[0]["description"] == rows[0]["embedding"]
    assert rows[1]["embedding"] is None
    decode = [str(tmp_path / "z.parquet"), "--model", str(tmp_path / "model")]
    result = runner.invoke(app, ["decode", *decode, "-o", str(tmp_path / "out.parquet")])
    assert isinstance(result.exception, CannotDecodeError)
    assert not (tmp_path / "out.parquet").exists()
