"""Muon: orthogonal updates, batched over equal shapes, the same as one by one."""

from __future__ import annotations

import pytest
import torch
from torch import nn

from grale.training.muon import Muon, orthogonalise


@pytest.mark.parametrize("shape", [(3, 16, 16), (2, 8, 32), (2, 32, 8)])
def test_singular_values_come_close_to_one(shape: tuple[int, ...]) -> None:
    matrices = torch.randn(shape, generator=torch.Generator().manual_seed(0))
    values = torch.linalg.svdvals(orthogonalise(matrices))
    assert values.min() > 0.4  # the quintic trades exactness for speed: about 0.7 to 1.2
    assert values.max() < 1.3
    assert torch.linalg.svdvals(matrices).max() > 2


def test_update_directions_agree_with_the_polar_factor() -> None:
    matrix = torch.randn(1, 12, 12, generator=torch.Generator().manual_seed(1))
    u, _, vh = torch.linalg.svd(matrix)
    cosine = nn.functional.cosine_similarity(orthogonalise(matrix).flatten(), (u @ vh).flatten(), 0)
    assert cosine > 0.95


def test_stacking_equal_shapes_changes_nothing() -> None:
    generator = torch.Generator().manual_seed(2)
    start = [torch.randn(8, 8, generator=generator) for _ in range(3)]
    gradients = [torch.randn(8, 8, generator=generator) for _ in range(3)]
    together = [nn.Parameter(w.clone()) for w in start]
    alone = [nn.Parameter(w.clone()) for w in start]
    joint = Muon(together, lr=0.1, weight_decay=0.1)
    single = [Muon([w], lr=0.1, weight_decay=0.1) for w in alone]
    for _ in range(3):
        for weights in (together, alone):
            for weight, gradient in zip(weights, gradients):
                weight.grad = gradient.clone()
        joint.step()
        for optimizer in single:
            optimizer.step()
    for a, b in zip(together, alone):
        torch.testing.assert_close(a, b, atol=1e-5, rtol=1e-5)
        assert not torch.equal(a, start[0])


def test_a_fused_projection_is_updated_block_by_block() -> None:
    generator = torch.Generator().manual_seed(3)
    blocks = [nn.Parameter(torch.zeros(4, 4)) for _ in range(3)]
    fused = nn.Parameter(torch.zeros(12, 4))
    gradient = torch.randn(12, 4, generator=generator)
    fused.grad = gradient.clone()
    for block, part in zip(blocks, gradient.chunk(3)):
        block.grad = part.clone()
    Muon([fused], lr=0.1).step()
    Muon(blocks, lr=0.1).step()
    torch.testing.assert_close(fused, torch.cat(list(blocks)), atol=1e-5, rtol=1e-5)


def test_agrees_with_the_muon_of_torch() -> None:
    generator = torch.Generator().manual_seed(4)
    ours, theirs = nn.Parameter(torch.zeros(6, 10)), nn.Parameter(torch.zeros(6, 10))
    a = Muon([ours], lr=0.1, momentum=0.9)
    b = torch.optim.Muon([theirs], lr=0.1, momentum=0.9, weight_decay=0.0, nesterov=True)
    for _ in range(3):
        gradient = torch.randn(6, 10, generator=generator)
        ours.grad, theirs.grad = gradient.clone(), gradient.clone()
        a.step()
        b.step()
    cosine = nn.functional.cosine_similarity(ours.flatten(), theirs.flatten(), 0)
    assert cosine > 0.99  # torch runs Newton-Schulz in bfloat16


def test_a_closure_is_refused() -> None:
    with pytest.raises(ValueError, match="closure"):
        Muon([nn.Parameter(torch.zeros(2, 2))], lr=0.1).step(lambda: 0)


def test_bfloat16_changes_directions_by_little(monkeypatch: pytest.MonkeyPatch) -> None:
    matrices = torch.randn(3, 24, 16, generator=torch.Generator().manual_seed(5))
    found = []
    for is_rough in (False, True):
        monkeypatch.setattr("grale.training.muon.is_faster", lambda device, rough=is_rough: rough)
        found.append(orthogonalise(matrices))
    assert found[1].dtype == torch.float32
    assert not torch.equal(*found)
    cosines = nn.functional.cosine_similarity(*(each.flatten(1) for each in found))
    assert cosines.min() > 0.999
    in_double = orthogonalise(matrices.double())
    assert in_double.dtype == torch.float64  # is never rounded
    torch.testing.assert_close(in_double.float(), found[0], atol=1e-4, rtol=1e-4)
