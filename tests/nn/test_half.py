"""Products in bfloat16: only where the device multiplies them."""

from __future__ import annotations

import pytest
import torch

from grale.nn import half

CPU = torch.device("cpu")


@pytest.mark.parametrize(("multiplies", "dtype"), [(True, torch.bfloat16), (False, torch.float32)])
def test_products_are_rough_on_processors_that_multiply_bfloat16_and_on_no_others(
    monkeypatch: pytest.MonkeyPatch, multiplies: bool, dtype: torch.dtype
) -> None:
    monkeypatch.setattr(half, "processor_multiplies_bfloat16", lambda: multiplies)
    layer, x = torch.nn.Linear(4, 4), torch.ones(2, 4)
    with half.fast_products(CPU):
        assert layer(x).dtype == dtype
    assert layer(x).dtype == torch.float32


def test_other_devices_are_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(half, "processor_multiplies_bfloat16", lambda: True)
    with half.fast_products(torch.device("meta")):
        assert not torch.is_autocast_enabled("cpu")


def test_a_torch_that_does_not_know_its_processor_multiplies_in_float32(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    half.processor_multiplies_bfloat16.cache_clear()
    monkeypatch.delattr(torch.cpu, "get_capabilities", raising=False)
    assert not half.processor_multiplies_bfloat16()
    half.processor_multiplies_bfloat16.cache_clear()
