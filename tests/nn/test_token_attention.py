import pytest
import torch

from grale.nn import token_attention
from grale.nn.cross_attention import AttendToFew, literal_cross_attention
from grale.nn.row_attention import HEAD_DIMS
from grale.nn.token_attention import attend_to_tokens, attend_to_tokens_plainly

ATOL_FLOAT32 = 2e-6  # values of order one, sums of up to 33 terms
RTOL_GRADIENT = 2e-5  # of the largest entry: sums of products of such sums


def random_parts(num_entries, num_tokens, head_dim, num_heads=2, num_graphs=3):
    torch.manual_seed(num_entries + num_tokens + head_dim)
    dim = num_heads * head_dim
    counts = (num_entries, num_tokens, num_tokens)
    parts = [torch.randn(num_graphs, count, dim, requires_grad=True) for count in counts]
    return parts, torch.randn(num_graphs, num_entries, dim)


@pytest.mark.parametrize("head_dim", HEAD_DIMS)
@pytest.mark.parametrize(
    ("num_entries", "num_tokens"), [(1, 1), (15, 3), (16, 4), (50, 32), (33, 33)]
)
def test_the_compiled_function_agrees_with_plain_attention(num_entries, num_tokens, head_dim):
    parts, upstream = random_parts(num_entries, num_tokens, head_dim)
    assert token_attention._is_compiled_for(*parts, 2)
    out, plain = attend_to_tokens(*parts, 2), attend_to_tokens_plainly(*parts, 2)
    torch.testing.assert_close(out, plain, atol=ATOL_FLOAT32, rtol=0)
    expected = torch.autograd.grad(plain, parts, upstream)
    for ours, theirs in zip(torch.autograd.grad(out, parts, upstream), expected, strict=True):
        size = max(theirs.abs().max().item(), 1e-3)
        torch.testing.assert_close(ours, theirs, atol=RTOL_GRADIENT * size, rtol=0)


def test_graphs_of_a_batch_do_not_read_each_others_tokens():
    (queries, keys, values), _ = random_parts(20, 6, 8)
    alone = attend_to_tokens(queries[1:2], keys[1:2], values[1:2], 2)
    together = attend_to_tokens(queries, keys, values, 2)
    torch.testing.assert_close(together[1:2], alone, atol=0, rtol=0)
    assert (attend_to_tokens(queries, keys.flip(0), values, 2) - together).abs().max() > 0.01


def test_threads_change_no_bit():
    parts, upstream = random_parts(70, 9, 8, num_graphs=5)
    found = []
    before = torch.get_num_threads()
    for threads in (1, 2):
        torch.set_num_threads(threads)
        out = attend_to_tokens(*parts, 2)
        found.append([out, *torch.autograd.grad(out, parts, upstream)])
    torch.set_num_threads(before)
    assert all(torch.equal(one, two) for one, two in zip(*found, strict=True))


@pytest.mark.parametrize(("num_tokens", "folds"), [(3, True), (8, False)])
def test_cross_attention_projects_when_tokens_are_many(num_tokens, folds, monkeypatch):
    calls = []
    folded = AttendToFew.folded
    monkeypatch.setattr(AttendToFew, "folded", lambda *args: calls.append(args) or folded(*args))
    torch.manual_seed(0)
    layer = AttendToFew(16, 6, 2)
    x, tokens = torch.randn(2, 11, 16), torch.randn(2, num_tokens, 6)
    out = layer(x, tokens)
    assert bool(calls) == folds
    torch.testing.assert_close(
        out, literal_cross_attention(layer, x, tokens), atol=ATOL_FLOAT32, rtol=0
    )
