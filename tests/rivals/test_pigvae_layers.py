"""The layers of PIGVAE against the equations, one message at a time."""

import pytest
import torch

from grale.rivals.pigvae.config import PigvaeConfig
from grale.rivals.pigvae.layers import MessageAttention, MessageStack, incoming, node_states
from strategies import generator_from

ATOL_FLOAT32 = 1e-5
"""Layers of unit scale, summed in another order."""
CONFIG = PigvaeConfig(num_layers=2, num_heads=2, message_dim=8, dropout=0.0)


def attention_reference(layer, messages, is_real):
    """MHA(q[M_ij], {k[M_ci]}, {v[M_ci]}) over real c not in {i, j}; N N d in, N N d out."""
    num_nodes, width = len(messages), messages.shape[-1] // layer.num_heads
    out = torch.zeros_like(messages)
    for i in range(num_nodes):
        for j in range(num_nodes):
            sources = [c for c in range(num_nodes) if is_real[c] and c not in (i, j)]
            if not sources:
                continue
            query = layer.query(messages[i, j])
            keys = [layer.key(messages[c, i]) for c in sources]
            values = torch.stack([layer.value(messages[c, i]) for c in sources])
            heads = []
            for h in range(layer.num_heads):
                own = slice(h * width, (h + 1) * width)
                scores = torch.stack([query[own] @ key[own] for key in keys]) / width**0.5
                weights = scores.exp() / scores.exp().sum()
                heads.append(weights @ values[:, own])
            out[i, j] = layer.combine(torch.cat(heads))
    return out


@pytest.fixture
def messages():
    return torch.randn(4, 5, 5, 8, generator=generator_from(0))


@pytest.fixture
def node_mask():
    sizes = torch.tensor([1, 2, 3, 5])
    return torch.arange(5) < sizes[:, None]


@pytest.fixture
def layer():
    torch.manual_seed(0)
    return MessageAttention(8, 2)


@pytest.mark.parametrize("with_gradients", [True, False], ids=["plain", "fused"])
def test_attention_is_the_equation(layer, messages, node_mask, with_gradients):
    with torch.set_grad_enabled(with_gradients):
        found = layer(messages, incoming(node_mask, messages.dtype))
    for one, expected, is_real in zip(found, messages, node_mask):
        torch.testing.assert_close(
            one, attention_reference(layer, expected, is_real), atol=ATOL_FLOAT32, rtol=0
        )


def test_the_reference_can_tell_incoming_from_outgoing_messages(layer, messages, node_mask):
    """Control: reading (i, c) instead of (c, i) gives something else."""
    found = layer(messages, incoming(node_mask, messages.dtype))[3]
    outgoing = attention_reference(layer, messages[3].transpose(0, 1), node_mask[3])
    assert (found - outgoing.transpose(0, 1)).abs().max() > 1e-2


def test_a_message_with_nothing_to_read_reads_zero(layer, messages, node_mask):
    found = layer(messages, incoming(node_mask, messages.dtype))
    assert torch.equal(found[0, 0, 0], torch.zeros(8))  # one node, alone
    assert torch.equal(found[1, 0, 1], torch.zeros(8))  # two nodes: neither is a third
    assert found[1, 0, 0].abs().max() > 0


def test_a_message_reads_neither_the_state_of_its_source_nor_the_answer(layer, messages):
    real = torch.ones(1, 5, dtype=torch.bool)
    readable = incoming(real, messages.dtype)
    changed = messages[:1].clone()
    changed[:, 1, 1] += 1.0
    changed[:, 3, 1] += 1.0
    moved = (layer(changed, readable) - layer(messages[:1], readable)).abs().amax(dim=-1)[0]
    assert moved[1, 3] == 0
    assert moved[1, 2] > 0  # control: (1, 2) does read (3, 1)


def test_first_messages_are_a_linear_layer_of_the_concatenation():
    torch.manual_seed(0)
    stack = MessageStack(3, 4, CONFIG)
    generator = generator_from(1)
    pairs = torch.randn(2, 5, 5, 3, generator=generator)
    ends = torch.randn(2, 5, 4, generator=generator)
    source = ends[:, :, None].expand(-1, -1, 5, -1)
    target = ends[:, None].expand(-1, 5, -1, -1)
    expected = stack.input_norm(stack.input(torch.cat([pairs, source, target], dim=-1)))
    found = stack.first_messages(pairs, ends)
    torch.testing.assert_close(found, expected, atol=ATOL_FLOAT32, rtol=0)
    assert (found - found.transpose(1, 2)).abs().max() > 0.1  # source and target differ


@pytest.mark.parametrize("norm", ["post", "pre"])
def test_the_stack_is_equivariant_and_never_reads_padding(norm):
    torch.manual_seed(0)
    config = PigvaeConfig(num_layers=2, num_heads=2, message_dim=8, dropout=0.0, norm=norm)
    stack = MessageStack(3, 4, config)
    generator = generator_from(1)
    pairs = torch.randn(1, 6, 6, 3, generator=generator)
    ends = torch.randn(1, 6, 4, generator=generator)
    real = torch.arange(6)[None] < 4
    found = stack(pairs, ends, real)[:, :4, :4]
    order = torch.tensor([2, 0, 3, 1])
    moved = stack(pairs[:, order][:, :, order], ends[:, order], real[:, :4])
    expected = found[:, order][:, :, order]
    torch.testing.assert_close(moved, expected, atol=ATOL_FLOAT32, rtol=0)
    unmasked = stack(pairs, ends, torch.ones(1, 6, dtype=torch.bool))[:, :4, :4]
    assert (unmasked - found).abs().max() > 1e-2  # control


def test_node_states_are_the_diagonal(messages):
    assert torch.equal(node_states(messages)[2, 4], messages[2, 4, 4])


def test_dropout_is_on_in_training_only():
    torch.manual_seed(0)
    stack = MessageStack(3, 4, PigvaeConfig(num_layers=1, num_heads=1, message_dim=8))
    inputs = (torch.ones(1, 1, 1, 3), torch.ones(1, 3, 4), torch.ones(1, 3, dtype=torch.bool))
    assert not torch.equal(stack(*inputs), stack(*inputs))
    stack.eval()
    assert torch.equal(stack(*inputs), stack(*inputs))
