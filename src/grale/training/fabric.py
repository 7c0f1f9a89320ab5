"""Lightning Fabric, which runs a training on any device; it comes with the extra `train`."""

from __future__ import annotations

from grale.extras import need

need("lightning", "training")

from lightning.fabric import Fabric  # noqa: E402
from lightning.fabric.utilities.exceptions import MisconfigurationException  # noqa: E402

from grale.training.config import RunOptions  # noqa: E402


def launched(options: RunOptions) -> Fabric:
    """The processes and devices that a run asks for, or a sentence that says what is wrong."""
    processes = options.devices * options.num_nodes
    try:
        fabric = Fabric(
            accelerator=options.accelerator,
            devices=options.devices,
            num_nodes=options.num_nodes,
            strategy="ddp" if processes > 1 else "auto",
            precision=options.precision,
        )
    except MisconfigurationException as error:
        raise ValueError(f"cannot run on these devices: {error}") from error
    fabric.launch()
    return fabric
