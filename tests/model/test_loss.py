from dataclasses import fields, replace

import pytest
import torch

from grale.codec.logits import GraphLogits
from grale.graphs.batch import GraphBatch
from grale.graphs.graph import Graph
from grale.graphs.permute import gather_edges, gather_nodes, inverse_permutation
from grale.graphs.space import GraphSpace
from grale.model.config import FeaturizerConfig, LossConfig
from grale.model.featurizer import Featurizer, GraphTargets
from grale.model.loss import LossTerms, reconstruction_loss
from grale.transport.sinkhorn import sinkhorn
from reference.loss_reference import pigvae_reference, transport_reference

SIZE = 5
SPACE = GraphSpace(max_nodes=SIZE, num_node_labels=3, num_edge_labels=2)
RTOL_FLOAT32 = 2e-5  # a few hundred terms of order one, some of them subtracted
SHARP = 40.0  # logits of a certain prediction: exp(-40) is below float32's resolution
ATOL_ZERO = 1e-4  # squared errors of order ten cancel to float32's resolution, times N^2 terms
FIVE = ("mask", "node_label", "node_feature", "edge_label", "edge_feature")


@pytest.fixture
def targets():
    graphs = [
        Graph([0, 1, 2, 1], [(0, 1), (1, 2), (2, 3), (0, 3)], [1, 2, 1, 1]),
        Graph([2, 0, 1], [(0, 1)], [2]),
        Graph([1]),
    ]
    featurizer = Featurizer(SPACE, FeaturizerConfig(path_dim=4))
    batch = GraphBatch.from_graphs(graphs)
    assert batch.max_nodes < SIZE
    assert not batch.node_mask.all()
    return featurizer.targets(featurizer(batch))


def padded_targets(targets, size=SIZE):
    """The same targets, zero up to `size` nodes."""
    extra = size - targets.node_mask.shape[1]

    def pad(name):
        tensor = getattr(targets, name)
        sides = [0, 0] if tensor.ndim > 2 else []
        sides += [0, extra] * (2 if name.startswith("edge") else 1)
        return torch.nn.functional.pad(tensor, sides)

    return GraphTargets(*(pad(f.name) for f in fields(GraphTargets)))


def random_logits(targets, seed=0):
    generator = torch.Generator().manual_seed(seed)
    count = len(targets.node_mask)

    def draw(*shape):
        return torch.randn(count, *shape, generator=generator)

    edge = draw(SIZE, SIZE, targets.edge_label.shape[-1])
    path = draw(SIZE, SIZE, targets.edge_feature.shape[-1])
    return GraphLogits(
        draw(SIZE),
        draw(SIZE, targets.node_label.shape[-1]),
        draw(SIZE, targets.node_feature.shape[-1]),
        edge + edge.transpose(1, 2),
        path + path.transpose(1, 2),
    )


def random_log_plan(count, seed=1):
    generator = torch.Generator().manual_seed(seed)
    return sinkhorn(torch.randn(count, SIZE, SIZE, generator=generator), 50).log_plan


def perfect_logits(targets):
    """Certain predictions of the targets themselves, slot i playing node i."""
    full = padded_targets(targets)
    return GraphLogits(
        SHARP * (2 * full.node_mask - 1),
        SHARP * full.node_label,
        full.node_feature,
        SHARP * full.edge_label,
        full.edge_feature,
    )


def log_plan_of(permutation):
    """Logarithm of a permutation matrix, with a large negative number for minus infinity."""
    return -1e4 * (1 - torch.nn.functional.one_hot(permutation, SIZE).float())


def moved_slots(logits, permutation):
    """The same prediction with slot `permutation[i]` playing what slot i played."""
    back = inverse_permutation(permutation)
    return GraphLogits(
        gather_nodes(logits.node_mask, back),
        gather_nodes(logits.node_label, back),
        gather_nodes(logits.node_feature, back),
        gather_edges(logits.edge_label, back),
        gather_edges(logits.edge_feature, back),
    )


def random_permutations(count, seed=3):
    generator = torch.Generator().manual_seed(seed)
    return torch.stack([torch.randperm(SIZE, generator=generator) for _ in range(count)])


@pytest.mark.parametrize("normalise_by", ["max", "size"])
@pytest.mark.parametrize(
    ("objective", "reference"), [("ot", transport_reference), ("pigvae", pigvae_reference)]
)
def test_terms_equal_the_sums_of_the_paper(targets, objective, reference, normalise_by):
    logits, log_plan = random_logits(targets), random_log_plan(3)
    config = LossConfig(objective=objective, normalise_by=normalise_by)
    terms = reconstruction_loss(targets, logits, log_plan, config)
    for row, real_size in enumerate((4, 3, 1)):
        size = real_size if normalise_by == "size" else SIZE
        literal = reference(targets, logits, log_plan[row].exp().double().numpy(), row)
        divisors = dict.fromkeys(literal, size) | {"mask": SIZE}
        divisors |= {"edge_label": size**2, "edge_feature": size**2}
        for name, total in literal.items():
            ours = float(getattr(terms, name)[row])
            assert ours == pytest.approx(total / divisors[name], rel=RTOL_FLOAT32, abs=1e-6), name


def test_the_transport_objective_has_no_entropy_term(targets):
    log_plan = random_log_plan(3)
    terms = reconstruction_loss(targets, random_logits(targets), log_plan, LossConfig())
    assert not terms.entropy.any()


@pytest.mark.parametrize("objective", ["ot", "pigvae"])
@pytest.mark.parametrize("normalise_by", ["max", "size"])
def test_a_perfect_reconstruction_under_its_own_permutation_costs_nothing(
    targets, objective, normalise_by
):
    permutation = random_permutations(3)
    logits = moved_slots(perfect_logits(targets), permutation)
    config = LossConfig(objective=objective, normalise_by=normalise_by)
    terms = reconstruction_loss(targets, logits, log_plan_of(permutation), config)
    for f in fields(terms):
        assert getattr(terms, f.name).abs().max() < ATOL_ZERO, f.name
    wrong = reconstruction_loss(targets, logits, log_plan_of(permutation.roll(1, 1)), config)
    assert all(getattr(wrong, name)[:2].max() > 0.1 for name in FIVE)


def test_targets_and_rows_of_the_plan_may_be_permuted_together(targets):
    full, logits, log_plan = padded_targets(targets), random_logits(targets), random_log_plan(3)
    order = random_permutations(3)
    moved = GraphTargets(
        gather_nodes(full.node_mask, order),
        gather_nodes(full.node_label, order),
        gather_nodes(full.node_feature, order),
        gather_edges(full.edge_label, order),
        gather_edges(full.edge_feature, order),
    )
    for objective in ("ot", "pigvae"):
        config = LossConfig(objective=objective)
        before = reconstruction_loss(full, logits, log_plan, config)
        after = reconstruction_loss(moved, logits, gather_nodes(log_plan, order), config)
        only_targets = reconstruction_loss(moved, logits, log_plan, config)
        for f in fields(before):
            expected = getattr(before, f.name)
            torch.testing.assert_close(
                getattr(after, f.name), expected, rtol=RTOL_FLOAT32, atol=1e-6
            )
        assert (only_targets.edge_label - before.edge_label).abs().max() > 1e-3


def test_slots_and_columns_of_the_plan_may_be_permuted_together(targets):
    logits, log_plan = random_logits(targets), random_log_plan(3)
    order = random_permutations(3)
    before = reconstruction_loss(targets, logits, log_plan, LossConfig())
    columns = gather_nodes(log_plan.transpose(1, 2), inverse_permutation(order)).transpose(1, 2)
    after = reconstruction_loss(targets, moved_slots(logits, order), columns, LossConfig())
    for name in FIVE:
        torch.testing.assert_close(
            getattr(after, name), getattr(before, name), rtol=RTOL_FLOAT32, atol=1e-6
        )


@pytest.mark.parametrize("objective", ["ot", "pigvae"])
@pytest.mark.parametrize("normalise_by", ["max", "size"])
def test_a_batch_narrower_than_the_slots_costs_the_same_as_a_padded_one(
    targets, objective, normalise_by
):
    logits, log_plan = random_logits(targets), random_log_plan(3)
    config = LossConfig(objective=objective, normalise_by=normalise_by)
    narrow = reconstruction_loss(targets, logits, log_plan, config)
    wide = reconstruction_loss(padded_targets(targets), logits, log_plan, config)
    for f in fields(narrow):
        torch.testing.assert_close(
            getattr(narrow, f.name), getattr(wide, f.name), rtol=RTOL_FLOAT32, atol=1e-6
        )


def test_pigvae_is_never_above_transport_and_meets_it_at_permutations(targets):
    logits = random_logits(targets)
    soft, hard = random_log_plan(3), log_plan_of(random_permutations(3))
    for log_plan, is_hard in ((soft, False), (hard, True)):
        transport, pigvae = (
            reconstruction_loss(targets, logits, log_plan, LossConfig(objective=objective))
            for objective in ("ot", "pigvae")
        )
        for name in FIVE:
            gap = getattr(transport, name) - getattr(pigvae, name)
            assert (gap > -1e-5).all()
            assert (gap.abs() < 1e-4).all() if is_hard else gap.max() > 1e-3


def test_the_marginal_term_is_the_mean_squared_error_of_the_columns(targets):
    log_plan = torch.log_softmax(torch.randn(3, SIZE, SIZE), dim=2)  # rows sum to one only
    terms = reconstruction_loss(targets, random_logits(targets), log_plan, LossConfig())
    errors = (log_plan.exp().sum(1) - 1).square().mean(1)
    torch.testing.assert_close(terms.marginal, errors)
    assert errors.max() > 1e-3
    balanced = reconstruction_loss(
        targets, random_logits(targets), random_log_plan(3), LossConfig()
    )
    assert balanced.marginal.max() < 1e-6


def test_the_total_is_the_weighted_mean(targets):
    log_plan, logits = random_log_plan(3), random_logits(targets)
    config = LossConfig(
        mask=2.0, node_label=3.0, node_feature=5.0, edge_label=7.0, edge_feature=11.0,
        marginal=13.0, entropy=17.0, objective="pigvae",
    )  # fmt: skip
    terms = reconstruction_loss(targets, logits, log_plan, config)
    by_hand = sum(
        float(getattr(config, f.name)) * float(getattr(terms, f.name).mean())
        for f in fields(LossTerms)
    )
    assert float(terms.total(config)) == pytest.approx(by_hand, rel=1e-5)
    for f in fields(LossTerms):
        heavier = replace(config, **{f.name: getattr(config, f.name) + 1.0})
        gain = float(terms.total(heavier) - terms.total(config))
        assert gain == pytest.approx(float(getattr(terms, f.name).mean()), rel=1e-3, abs=1e-4)


def test_means_are_the_means_of_the_terms(targets):
    terms = reconstruction_loss(targets, random_logits(targets), random_log_plan(3), LossConfig())
    means = terms.means()
    assert list(means) == [f.name for f in fields(LossTerms)]
    assert float(means["mask"]) == pytest.approx(float(terms.mask.sum() / 3))


def test_predictions_for_absent_nodes_cost_only_their_existence(targets):
    """Under a permutation, a slot that plays padding may say anything but "I exist"."""
    permutation = random_permutations(3)
    logits = moved_slots(perfect_logits(targets), permutation)
    absent = permutation.gather(1, torch.tensor([[SIZE - 1]] * 3))
    changed = logits.node_label.clone()
    changed[torch.arange(3), absent[:, 0]] += torch.randn(3, 3)
    terms = reconstruction_loss(
        targets, replace(logits, node_label=changed), log_plan_of(permutation), LossConfig()
    )
    assert terms.node_label.abs().max() < ATOL_ZERO
    score = logits.node_mask.clone()
    score[torch.arange(3), absent[:, 0]] = 1.0
    awake = reconstruction_loss(
        targets, replace(logits, node_mask=score), log_plan_of(permutation), LossConfig()
    )
    assert awake.mask.min() > 0.1


@pytest.mark.parametrize("objective", ["ot", "pigvae"])
def test_autocast_does_not_change_the_loss(targets, objective):
    logits, log_plan = random_logits(targets), random_log_plan(3)
    config = LossConfig(objective=objective)
    plain = reconstruction_loss(targets, logits, log_plan, config)
    with torch.autocast("cpu", dtype=torch.bfloat16):
        assert (torch.ones(2, 2) @ torch.ones(2, 2)).dtype == torch.bfloat16  # it is on
        mixed = reconstruction_loss(targets, logits, log_plan, config)
    for f in fields(plain):
        assert getattr(mixed, f.name).dtype == torch.float32
        assert torch.equal(getattr(plain, f.name), getattr(mixed, f.name))


@pytest.mark.parametrize("objective", ["ot", "pigvae"])
def test_gradients_of_the_loss_are_finite_and_reach_every_prediction(targets, objective):
    logits = random_logits(targets)
    leaves = {f.name: getattr(logits, f.name).requires_grad_() for f in fields(logits)}
    log_plan = random_log_plan(3).requires_grad_()
    config = LossConfig(objective=objective)
    reconstruction_loss(targets, GraphLogits(**leaves), log_plan, config).total(config).backward()
    for name, leaf in (*leaves.items(), ("log_plan", log_plan)):
        assert leaf.grad.isfinite().all(), name
        assert leaf.grad.abs().max() > 0, name
