"""`grale.load`: a model by name, from a local directory, or from a hub id.

Departures: not in the paper.
"""

from __future__ import annotations

from pathlib import Path

from grale.model.autoencoder import GRALE
from grale.model.storage import CONFIG

SHIPPED = Path(__file__).resolve().parent.parent / "weights"


def shipped_models() -> list[str]:
    """List the models that come with the package."""
    if not SHIPPED.is_dir():
        return []
    return sorted(folder.name for folder in SHIPPED.iterdir() if (folder / CONFIG).is_file())


def load(name: str | Path) -> GRALE:
    """Load a model, ready for use on the CPU.

    Parameters
    ----------
    name
        The name of a shipped model, the path of a directory written by `save_pretrained` or by
        `grale train`, or a hub id such as "someone/some-model".
    """
    text = str(name)
    if text in shipped_models():
        return GRALE.from_pretrained(SHIPPED / text)
    is_hub_id = text.count("/") == 1 and not Path(text).exists() and not text.startswith((".", "/"))
    if Path(text).exists() or is_hub_id:
        return GRALE.from_pretrained(text)
    shipped = ", ".join(shipped_models()) or "none yet"
    raise FileNotFoundError(
        f"no model named {text!r}: not a shipped model ({shipped}), not a directory, not a hub id"
    )
