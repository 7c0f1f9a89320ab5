"""Lightning Fabric, which runs a training on any device; it comes with the extra `train`."""

from __future__ import annotations

from grale.extras import need

need("lightning", "training")

from lightning.fabric import Fabric  # noqa: E402
from lightning.fabric.utilities.exceptions import MisconfigurationException  # noqa: E402

__all__ = ["Fabric", "MisconfigurationException"]
