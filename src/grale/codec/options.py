"""How much work to spend on a better answer: upper limits; by default, none is spent."""

from __future__ import annotations

from dataclasses import dataclass, fields

LARGEST_BATCH = 1_000_000
MOST_CANDIDATES = 1_000  # molecules per row; those further down no longer resemble the encoded one


@dataclass(frozen=True, kw_only=True)
class CodecOptions:
    """Options of encoding, decoding and reconstructing, checked once."""

    batch_size: int = 256
    """Graphs at once, fewer where a processor's cache is full; they are grouped by size first."""
    refine_steps: int = 0
    """Gradient steps on a vector that does not decode to its graph (decisions/011)."""
    searched_graphs: int = 1
    """Likeliest graphs of a vector, searched for the encoded one (decisions/009)."""
    molecule_tries: int = 1
    """Likeliest graphs of a vector that are looked at for each molecule that is wanted."""
    candidates: int = 1
    """Distinct molecules wanted for each vector; of a predictor, distinct graphs for each input."""

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
                "search and refine exclude each other: a search finds graphs by their embedding, "
                "and a refined latent is no longer the embedding of its graph; choose one"
            )


USER_NAMES = {"refine_steps": "refine", "searched_graphs": "search", "molecule_tries": "tries"}
"""Their names in the Python methods and on the command line."""
