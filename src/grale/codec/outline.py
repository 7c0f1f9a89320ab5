"""Whether the settings of a model fit a file of weights, checked before any memory is used.

Anyone may have written the settings. So the model is first built without memory, on torch's "meta"
device, where tensors have shapes but no values. The shapes are compared with the header of the
file of weights.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

import torch
from safetensors import SafetensorError, safe_open
from torch import Tensor, nn
from torch.overrides import TorchFunctionMode

MAX_TABLE_BYTES = 1 << 28
"""Limit for the tables that a model computes from its settings; files of weights omit them."""
CALLS_PER_WEIGHT, OTHER_CALLS = 20, 1_000  # of torch functions in a constructor; about 5 are usual
FLOATS = ("F16", "BF16", "F32", "F64")
INTEGERS = ("I8", "I16", "I32", "I64", "U8", "BOOL")

Weight = TypeVar("Weight")


class Stored(NamedTuple):
    """What the header of a file says about a weight."""

    shape: tuple[int, ...]
    dtype: str
    """As safetensors names it."""


class _TooManyPartsError(Exception):
    """A model with far more parts than there are weights."""


class _Outlining(TorchFunctionMode):
    """Leaves tensors unfilled, and raises after `most` calls: settings may ask for many layers.

    Filling tensors without memory does nothing, but torch would spend seconds on imports first.
    """

    def __init__(self, most: int) -> None:
        super().__init__()
        self.left = most

    def __torch_function__(
        self, func: Callable[..., Any], types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        self.left -= 1
        if self.left < 0:
            raise _TooManyPartsError
        options = dict(kwargs or {})
        if _fills_in_place(func):
            return args[0] if args else options["tensor"]
        if func is torch.randn:
            options.pop("generator", None)
            return torch.empty(*args, **options, device="meta")
        return func(*args, **options)


def _fills_in_place(func: Callable[..., Any]) -> bool:
    """Whether a function fills a tensor, as `normal_` does."""
    name = getattr(func, "__name__", "")
    return name.endswith("_") and not name.endswith("__")


def check_fits(build: Callable[[], nn.Module], weights: Path, former: Mapping[str, str]) -> None:
    """Raise a ValueError unless the model that `build` makes has exactly the weights of a file.

    `former` holds names of parts in older files; see `with_present_names`.
    """
    header = read_header(weights)
    stored = with_present_names(header, former)
    try:
        reason = _why_not(outline(build, len(stored)), stored)
    except _TooManyPartsError:
        reason = f"the model has far more weights than the {len(stored)} of the file"
    except (ValueError, TypeError, RuntimeError, ArithmeticError, MemoryError) as error:
        reason = f"no model has such settings ({str(error).splitlines()[0][:200]})"
    if len(stored) < len(header):
        reason = reason or "it holds a weight under two names"
    if reason is not None:
        raise ValueError(f"{weights} does not fit its config.json: {reason}")


def read_header(path: Path) -> dict[str, Stored]:
    """Shapes and types of the tensors in a file; their values are not read."""
    if not path.is_file():
        raise FileNotFoundError(f"{path} is not there, or not a file")
    try:
        with safe_open(path, framework="pt") as file:
            slices = {name: file.get_slice(name) for name in file.keys()}  # noqa: SIM118
            return {
                name: Stored(tuple(part.get_shape()), part.get_dtype())
                for name, part in slices.items()
            }
    except SafetensorError as error:
        raise ValueError(f"{path} is damaged: {error}") from error


def with_present_names(
    weights: Mapping[str, Weight], former_names: Mapping[str, str]
) -> dict[str, Weight]:
    """Weights of a file, old or new, under the names that the parts have now."""
    return {_present_name(name, former_names): weight for name, weight in weights.items()}


def _present_name(name: str, former_names: Mapping[str, str]) -> str:
    for former, present in former_names.items():
        if name == former or name.startswith(f"{former}."):
            return present + name[len(former) :]
    return name


def outline(build: Callable[[], nn.Module], num_weights: int) -> nn.Module:
    """Build a model without memory, in time that grows with the weights it should have."""
    with torch.device("meta"), _Outlining(CALLS_PER_WEIGHT * num_weights + OTHER_CALLS):
        return build()


def _why_not(model: nn.Module, stored: Mapping[str, Stored]) -> str | None:
    """Say how a model and the weights of a file differ, or None if they do not."""
    expected = model.state_dict()
    for name in expected:
        if name not in stored:
            return f"the weight {name} is missing"
        reason = _why_not_weight(name, expected[name], stored[name])
        if reason is not None:
            return reason
    for name in stored:
        if name not in expected:
            return f"it holds {name[:100]!r}, which is not a weight of this model"
    tables = (table for name, table in model.named_buffers() if name not in expected)
    if (size := _bytes(tables)) > MAX_TABLE_BYTES:
        return f"the model would take {size} bytes for its tables, more than {MAX_TABLE_BYTES}"
    return None


def _why_not_weight(name: str, expected: Tensor, stored: Stored) -> str | None:
    if stored.shape != tuple(expected.shape):
        shapes = f"{stored.shape} in the file and {tuple(expected.shape)} by the settings"
        return f"the weight {name} has the shape {shapes}"
    if stored.dtype not in (FLOATS if expected.is_floating_point() else INTEGERS):
        return f"the weight {name} is stored as {stored.dtype}, not as {expected.dtype}"
    return None


def _bytes(tensors: Iterable[Tensor]) -> int:
    return sum(tensor.numel() * tensor.element_size() for tensor in tensors)
