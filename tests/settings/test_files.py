from dataclasses import dataclass, field

import pytest

from grale.settings.build import SettingsError
from grale.settings.files import load_settings, override, read_settings


@dataclass(frozen=True)
class Model:
    width: int = 4
    rate: float = 0.5


@dataclass(frozen=True)
class Run:
    seed: int = 0
    model: Model = field(default_factory=Model)


@pytest.fixture
def written(tmp_path):
    def write(text):
        path = tmp_path / "run.yaml"
        path.write_text(text, encoding="utf-8")
        return path

    return write


def test_a_file_holds_differences_from_the_defaults(written):
    path = written("# a comment\nmodel: {rate: 1e-3}\n")
    assert load_settings(Run, path) == Run(model=Model(rate=0.001))


@pytest.mark.parametrize("text", ["", "# nothing but a comment\n", "{}"])
def test_an_empty_file_is_all_defaults(written, text):
    assert load_settings(Run, written(text)) == Run()


def test_overrides_win_over_the_file(written):
    path = written("seed: 1\nmodel: {width: 8}\n")
    loaded = load_settings(Run, path, ["model.width=16", "model.rate=2e-2", "seed=5"])
    assert loaded == Run(seed=5, model=Model(width=16, rate=0.02))
    assert load_settings(Run, path) == Run(seed=1, model=Model(width=8))


def test_a_missing_file_is_named(tmp_path):
    path = tmp_path / "absent.yaml"
    with pytest.raises(SettingsError, match=r"no settings file at .*absent\.yaml"):
        load_settings(Run, path)
    with pytest.raises(SettingsError, match="no settings file"):
        load_settings(Run, tmp_path)


@pytest.mark.parametrize("text", ["model: {width: 3", "a: b: c", "seed: \t- 1"])
def test_text_that_is_not_yaml_names_the_file(written, text):
    with pytest.raises(SettingsError, match=r"run\.yaml is not valid YAML"):
        load_settings(Run, written(text))


@pytest.mark.parametrize(
    ("text", "kind"), [("- 1\n- 2\n", "list"), ("[]", "list"), ("seed", "str"), ("0", "int")]
)
def test_a_file_that_is_not_a_mapping_is_refused(written, text, kind):
    with pytest.raises(SettingsError, match=f"must hold a mapping of settings, got {kind}"):
        load_settings(Run, written(text))


@pytest.mark.parametrize("text", ["~: 1", "model: {3: 1}", "a: [{~: 2}]"])
def test_a_key_that_is_not_text_is_refused(written, text):
    with pytest.raises(SettingsError, match="setting names must be text, got (None|3)"):
        read_settings(written(text))


def test_an_unknown_key_in_a_file_or_override_names_the_nearest(written):
    with pytest.raises(SettingsError, match=r"'model\.widht'; did you mean 'width'"):
        load_settings(Run, written("model: {widht: 3}"))
    with pytest.raises(SettingsError, match="'sed'; did you mean 'seed'"):
        load_settings(Run, written(""), ["sed=3"])


def test_override_does_not_change_its_argument():
    values = {"model": {"width": 1}}
    assert override(values, ["model.width=2"]) == {"model": {"width": 2}}
    assert values == {"model": {"width": 1}}


@pytest.mark.parametrize(
    ("item", "expected"),
    [
        ("a=3", {"a": 3}),
        ("a=text", {"a": "text"}),
        ("a=true", {"a": True}),
        ("a=", {"a": None}),
        ("a=null", {"a": None}),
        ("a=[1, 2]", {"a": [1, 2]}),
        ("a=b=c", {"a": "b=c"}),
        ("a.b.c=1", {"a": {"b": {"c": 1}}}),
    ],
)
def test_override_reads_values_as_yaml(item, expected):
    assert override({}, [item]) == expected


def test_the_last_of_two_overrides_wins():
    assert override({}, ["a=1", "a=2"]) == {"a": 2}


@pytest.mark.parametrize("item", ["seed", "=3", ""])
def test_an_override_without_key_or_value_is_refused(item):
    with pytest.raises(SettingsError, match="must look like key=value"):
        override({}, [item])


def test_an_override_below_a_plain_value_is_refused():
    with pytest.raises(SettingsError, match=r"'seed\.x=1': 'seed' is not a group"):
        override({"seed": 3}, ["seed.x=1"])


def test_an_override_that_is_not_yaml_is_named():
    with pytest.raises(SettingsError, match=r"override 'a=\[1' is not valid YAML"):
        override({}, ["a=[1"])


def test_a_file_extends_another_beside_it_or_one_that_ships(tmp_path):
    (tmp_path / "base.yaml").write_text("seed: 3\nmodel: {width: 8, rate: 0.1}\n")
    (tmp_path / "mine.yaml").write_text("extends: base\nmodel: {rate: 0.2}\n")
    assert load_settings(Run, tmp_path / "mine.yaml") == Run(3, Model(8, 0.2))
    (tmp_path / "shipped.yaml").write_text("extends: smoke\n")
    assert read_settings(tmp_path / "shipped.yaml") == read_settings("smoke")


def test_files_that_extend_each_other_are_named(tmp_path):
    (tmp_path / "a.yaml").write_text("extends: b")
    (tmp_path / "b.yaml").write_text("extends: a")
    with pytest.raises(SettingsError, match=r"in a loop or too deep: .*a\.yaml extends .*b\.yaml"):
        load_settings(Run, tmp_path / "a.yaml")


def test_an_unknown_base_lists_what_ships(written):
    with pytest.raises(SettingsError, match=r"none of that name ships: .*coloring10"):
        load_settings(Run, written("extends: nothing"))
    with pytest.raises(SettingsError, match="extends must name one file"):
        load_settings(Run, written("extends: [a, b]"))


@pytest.mark.slow
def test_a_huge_or_deep_file_is_refused(written):
    with pytest.raises(SettingsError, match="it cannot be settings"):
        load_settings(Run, written("# " + "x" * 1_000_001))
    with pytest.raises(SettingsError, match="not valid YAML"):
        load_settings(Run, written("[" * 5_000))


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("[" * 5_000, "nested more than 20 levels deep"),
        ("{a: " * 5_000, "nested more than 20 levels deep"),
        ("[&a [1, 1], *a]", r"\*a: references are not supported"),
    ],
)
def test_yaml_that_is_deep_or_refers_to_itself_is_refused_at_once(tmp_path, text, reason):
    path = tmp_path / "a.yaml"
    path.write_text(f"seed: {text}")
    with pytest.raises(SettingsError, match=rf"a\.yaml is not valid YAML: {reason}"):
        read_settings(path)
    with pytest.raises(SettingsError, match=f"is not valid YAML: {reason}"):
        override({}, [f"seed={text}"])
