"""A process that has encoded with threads may fork, if the child begins with one thread."""

from __future__ import annotations

import subprocess
import sys

import pytest

PROGRAM = """
import os, sys, torch
from grale.catalog import load
torch.set_num_threads(2)
model = load(sys.argv[1])
vectors = model.encode(["CCO", "CCCCC"] * 50)
torch.randn(600, 600) @ torch.randn(600, 600)
child = os.fork()
if child == 0:
    torch.set_num_threads(1)  # without this line the child hangs: see docs/reliability.md
    torch.randn(600, 600) @ torch.randn(600, 600)
    os._exit(0 if (model.encode(["CCO", "CCCCC"] * 50) == vectors).all() else 4)
sys.exit(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(sys, "getdlopenflags"), reason="Windows does not fork")
def test_a_forked_child_encodes_once_it_has_one_thread(molecule_model, tmp_path) -> None:
    molecule_model.save_pretrained(tmp_path)
    command = [sys.executable, "-W", "ignore::DeprecationWarning", "-c", PROGRAM, str(tmp_path)]
    assert subprocess.run(command, timeout=120).returncode == 0
