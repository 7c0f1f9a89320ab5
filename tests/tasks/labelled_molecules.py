"""Small molecules whose properties are known by construction."""

from __future__ import annotations

from pathlib import Path

SMILES = [
    f"{'C' * left}{middle}{'C' * right}{end}"
    for left in range(1, 4)
    for middle in ("O", "N", "S", "P")
    for right in range(left, left + 3)
    for end in ("", "Cl")
]
"""72 chains of at most 10 atoms, no two the same."""
WEIGHTS = {"C": 1.0, "O": -2.0, "N": -1.0, "S": 0.5, "P": 1.5, "l": 0.75}


def additive(smiles: str) -> float:
    """A property that counts of atoms tell exactly."""
    return sum(WEIGHTS.get(letter, 0.0) for letter in smiles.replace("Cl", "l"))


def write_csv(path: Path, rows: list[tuple[str, str]], header: str = "smiles,value") -> Path:
    path.write_text("\n".join([header, *(",".join(row) for row in rows)]) + "\n")
    return path
