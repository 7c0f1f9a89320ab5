from dataclasses import FrozenInstanceError, dataclass, field
from typing import Literal, Optional

import pytest

from grale.settings.build import SettingsError, build


@dataclass(frozen=True, kw_only=True)
class Inner:
    width: int = 4
    rate: float = 0.5
    norm: Literal["pre", "post"] = "pre"

    def __post_init__(self):
        if self.width < 1:
            raise ValueError(f"width must be at least 1, got {self.width}")


@dataclass(frozen=True, kw_only=True)
class Outer:
    seed: int
    name: str = "run"
    use_noise: bool = False
    limit: int | None = None
    decay: Optional[float] = None  # noqa: UP045 (both spellings must work)
    inner: Inner = field(default_factory=Inner)
    sizes: tuple[int, ...] = ()
    rates: list[float] = field(default_factory=list)


def test_what_is_not_given_keeps_its_default():
    assert build(Outer, {"seed": 3}) == Outer(seed=3)


def test_every_kind_of_value_arrives():
    values = {
        "seed": 1,
        "name": "x",
        "use_noise": True,
        "limit": 5,
        "decay": 0.9,
        "inner": {"width": 8, "rate": 1, "norm": "post"},
        "sizes": [1, 2],
        "rates": [1, "2e-1"],
    }
    built = build(Outer, values)
    assert built == Outer(
        seed=1,
        name="x",
        use_noise=True,
        limit=5,
        decay=0.9,
        inner=Inner(width=8, rate=1.0, norm="post"),
        sizes=(1, 2),
        rates=[1.0, 0.2],
    )
    assert isinstance(built.inner.rate, float)
    assert isinstance(built.sizes, tuple)


def test_the_result_is_frozen_and_the_values_are_not_changed():
    values = {"seed": 1, "inner": {"rate": "1e-3"}}
    built = build(Outer, values)
    assert values == {"seed": 1, "inner": {"rate": "1e-3"}}
    with pytest.raises(FrozenInstanceError):
        built.seed = 2


@pytest.mark.parametrize("text", ["1e-3", "0.001", "1.0e-3"])
def test_text_that_is_a_number_is_a_float(text):
    assert build(Inner, {"rate": text}).rate == 0.001


def test_none_is_a_value_only_where_it_is_allowed():
    assert build(Outer, {"seed": 1, "limit": None, "decay": None}).limit is None
    with pytest.raises(SettingsError, match="seed=None; expected int"):
        build(Outer, {"seed": None})


@pytest.mark.parametrize(
    ("values", "message"),
    [
        ({"sead": 3}, "unknown setting 'sead'; did you mean 'seed'?"),
        (
            {"seed": 1, "inner": {"widht": 3}},
            "unknown setting 'inner.widht'; did you mean 'width'?",
        ),
        (
            {"seed": 1, "inner": {"zzz": 3}},
            "unknown setting 'inner.zzz'; known keys: norm, rate, width",
        ),
        ({"seed": 1, 7: 2}, "unknown setting '7'; known keys: "),
        ({}, "seed is missing and has no default"),
        ({"seed": "3"}, "seed='3'; expected int"),
        ({"seed": 3.0}, "seed=3.0; expected int"),
        ({"seed": True}, "seed=True; expected int"),
        ({"seed": 1, "name": 3}, "name=3; expected str"),
        ({"seed": 1, "use_noise": 1}, "use_noise=1; expected bool"),
        ({"seed": 1, "use_noise": "yes"}, "use_noise='yes'; expected bool"),
        ({"seed": 1, "limit": "many"}, "limit='many'; expected int"),
        ({"seed": 1, "limit": False}, "limit=False; expected int"),
        ({"seed": 1, "decay": "fast"}, "decay='fast'; expected float"),
        ({"seed": 1, "inner": {"rate": True}}, "inner.rate=True; expected float"),
        ({"seed": 1, "inner": {"rate": None}}, "inner.rate=None; expected float"),
        ({"seed": 1, "inner": {"rate": [1]}}, "inner.rate=[1]; expected float"),
        (
            {"seed": 1, "inner": {"norm": "both"}},
            "inner.norm='both'; expected one of ['pre', 'post']",
        ),
        ({"seed": 1, "inner": {"norm": ["pre"]}}, "inner.norm=['pre']; expected one of"),
        ({"seed": 1, "inner": 3}, "inner must be a mapping, got 3"),
        ({"seed": 1, "inner": None}, "inner must be a mapping, got None"),
        ({"seed": 1, "sizes": 3}, "sizes=3; expected a list"),
        ({"seed": 1, "sizes": "12"}, "sizes='12'; expected a list"),
        ({"seed": 1, "sizes": [1, "b"]}, "sizes[1]='b'; expected int"),
    ],
)
def test_a_wrong_setting_is_named_with_its_path(values, message):
    with pytest.raises(SettingsError) as raised:
        build(Outer, values)
    assert str(raised.value).startswith(message)


def test_an_error_of_the_dataclass_gets_the_path_in_front():
    with pytest.raises(SettingsError) as raised:
        build(Outer, {"seed": 1, "inner": {"width": 0}})
    assert str(raised.value) == "inner.width must be at least 1, got 0"
    assert type(raised.value.__cause__) is ValueError


def test_other_errors_of_the_dataclass_are_not_hidden():
    """Control: only ValueError speaks about a setting."""

    @dataclass(frozen=True)
    class Broken:
        value: int = 0

        def __post_init__(self):
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        build(Broken, {})


def test_settings_at_the_top_must_be_a_mapping():
    with pytest.raises(SettingsError, match="Outer must be a mapping"):
        build(Outer, [("seed", 1)])
