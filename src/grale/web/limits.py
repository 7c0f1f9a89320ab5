"""What one request may ask for, and how long it may take."""

from __future__ import annotations

from dataclasses import dataclass, fields


@dataclass(frozen=True, kw_only=True)
class Limits:
    """Limits of a server; `grale serve --help` has an option for those that users change."""

    max_rows: int = 256
    """Rows of one request to encode, decode, describe or reconstruct."""
    max_slow_rows: int = 8
    """Rows of one request to match, edit or interpolate, each of which takes many passes."""
    max_atoms: int = 1_000
    """Nodes of a graph; a larger one is a failed row, as is one too large for the model."""
    max_body: int = 8 << 20
    """Bytes of a request."""
    max_waiting: int = 2_048
    """Rows that wait for the model; a request beyond them is told to come back later."""
    batch_rows: int = 16
    """Rows that go through the model together: on a CPU, more are not faster (docs/serving.md)."""
    timeout: float = 30.0
    """Seconds until an answer, or an error that says so."""
    slow_timeout: float = 300.0
    """The same for match, edit, interpolate, and for files and maps of the page."""
    max_set_rows: int = 2_000
    """Molecules of a file that the page takes."""
    max_sets: int = 4
    """Such files that it keeps; the oldest is forgotten first."""

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if not value > 0:
                raise ValueError(f"{field.name} must be above 0, got {value}")
