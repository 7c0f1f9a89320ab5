"""How much to try for a better answer; every number is a most, and the default tries nothing."""

from __future__ import annotations

from dataclasses import dataclass, fields

LARGEST_BATCH = 1_000_000
MOST_CANDIDATES = 1_000  # molecules of one row; beyond that they are unlike anything


@dataclass(frozen=True, kw_only=True)
class CodecOptions:
    """Options of encoding, decoding and reconstructing, checked once."""

    batch_size: int = 256
    """Graphs at once; they are grouped by size first."""
    refine_steps: int = 0
    """Gradient steps on a vector that does not decode to its graph (decisions/011)."""
    searched_graphs: int = 1
    """Likeliest graphs of a vector among which the encoded one is looked for (decisions/009)."""
    molecule_tries: int = 1
    """Likeliest graphs of a vector that are looked at for each valid molecule."""
    candidates: int = 1
    """Distinct molecules wanted of each vector."""

    def __post_init__(self) -> None:
        least = {"refine_steps": 0}
        for field in fields(self):
            value, lowest = getattr(self, field.name), least.get(field.name, 1)
            if value < lowest:
                name = USER_NAMES.get(field.name, field.name)
                raise ValueError(f"{name} must be at least {lowest}, got {value}")
        if self.candidates > MOST_CANDIDATES:
            raise ValueError(f"candidates must be at most {MOST_CANDIDATES}, got {self.candidates}")
        if self.refine_steps and self.searched_graphs > 1:
            raise ValueError(
                "a search looks for embeddings, which refined latents are not; choose one"
            )


USER_NAMES = {"refine_steps": "refine", "searched_graphs": "search", "molecule_tries": "tries"}
"""What users of the Python methods and of the command line call them."""
