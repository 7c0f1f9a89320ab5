"""Draw the share of exact held-out graphs over a run: `docs/images/*-learning.png`.

python benchmarks/learning_curve.py RUN_FOLDER OUT.png
"""

from __future__ import annotations

import csv
import sys
from pathlib import Path

from grale.plot.curves import curve_figure
from grale.plot.figures import save_figure


def points(folder: Path) -> list[tuple[int, float]]:
    """Steps and shares at which the run was scored; of doubled steps the later."""
    with (folder / "metrics.csv").open(encoding="utf-8") as file:
        scored = {int(row["step"]): row["exact"] for row in csv.DictReader(file)}
    return sorted((step, 100 * float(exact)) for step, exact in scored.items() if exact)


def main(folder: Path, out: Path) -> None:
    """Draw the curve and save the picture."""
    steps, shares = zip(*points(folder))
    save_figure(curve_figure(steps, {"exact": shares}, "step", "exactly reconstructed, %"), out)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
