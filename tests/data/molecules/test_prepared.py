"""Molecules for an experiment: found, prepared, or named as missing."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from grale.data.molecules.prepared import find_molecules
from grale.data.sources import DataConfig, open_source


@pytest.fixture
def pool(tmp_path: Path) -> Path:
    """A few molecules in the format of POOL."""
    smiles = ["C" * size for size in range(1, 13)] + ["C" * 17]
    folder = tmp_path / "pool"
    folder.mkdir()
    columns = {
        "smiles": smiles,
        "n_atoms": [len(text) for text in smiles],
        "common": [True] * 13,
        "bench": [False] * 13,
        "source": ["made up"] * 13,
        "split": ["train"] * 9 + ["valid", "test", "test", "train"],
    }
    pq.write_table(pa.table(columns), folder / "pool-00-n01_17.parquet")
    return folder


@pytest.mark.slow
def test_published_molecules_are_prepared_once(pool: Path, tmp_path: Path) -> None:
    found = find_molecules(str(pool), tmp_path / "results")
    assert found == str(tmp_path / "results" / "data" / "pool16")
    assert open_source(DataConfig(source="shards", path=found)).pool_rows(0) > 9  # and tiny ones
    marker = Path(found) / "train" / "manifest.json"
    before = marker.stat().st_mtime_ns
    assert find_molecules(str(pool), tmp_path / "results") == found
    assert find_molecules(found, tmp_path / "other") == found
    assert marker.stat().st_mtime_ns == before


@pytest.mark.slow
def test_coloring_alone_may_be_asked_for(
    pool: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("data").mkdir()
    Path("data/pool16").symlink_to(find_molecules(str(pool), tmp_path / "results"))
    assert find_molecules(None, tmp_path) == "data/pool16"
    assert find_molecules("coloring", tmp_path) is None
    with pytest.raises(ValueError, match="give 'coloring' for none"):
        find_molecules("coloring10", tmp_path)


@pytest.mark.slow
def test_the_usual_folder_is_taken_if_it_is_there(
    pool: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert find_molecules(None, tmp_path) is None
    find_molecules(str(pool), Path())  # writes data/pool16
    assert find_molecules(None, tmp_path) == "data/pool16"


def test_a_folder_without_molecules_is_named(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"holds neither prepared molecules .* nor pool-"):
        find_molecules(str(tmp_path), tmp_path)
