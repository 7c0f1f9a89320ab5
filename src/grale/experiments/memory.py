"""How much memory a process has held; it imports nothing that would count."""

from __future__ import annotations

import resource
import sys
from pathlib import Path


def peak_memory() -> float:
    """Most memory this process has held, in GB: weights, activations, torch itself."""
    status = Path("/proc/self/status")
    if status.exists():  # `ru_maxrss` would include memory of the parent process
        lines = dict(line.split(":", 1) for line in status.read_text().splitlines())
        return int(lines["VmHWM"].split()[0]) / 1e6
    unit = 1e9 if sys.platform == "darwin" else 1e6
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit
