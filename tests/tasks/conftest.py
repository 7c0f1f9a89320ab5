"""The file that tests of embedding read."""

from __future__ import annotations

import pytest

from grale.data.molecules.files import open_molecules
from tasks.embedded_rows import ROWS


@pytest.fixture
def source(tmp_path):
    (tmp_path / "in.csv").write_text("smiles,n\n" + "".join(f"{s},1\n" for s in ROWS))
    return open_molecules(tmp_path / "in.csv")
