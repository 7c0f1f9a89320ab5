"""What every saved model says of itself."""

from __future__ import annotations

from typing import Any

from torch import nn

from grale.codec.identity import identity_of


class Identified(nn.Module):
    """A model with a fingerprint and, if it was published, a version."""

    space: Any
    config: Any

    @property
    def fingerprint(self) -> str:
        """Checksum of settings and weights: the same exactly when both are."""
        return identity_of(self).fingerprint

    @property
    def version(self) -> str | None:
        """Version under which these weights were published; None if they were not, or changed."""
        return identity_of(self).version
