"""`grale.load`: a model by name, from a local directory, or from a hub id."""

from __future__ import annotations

from pathlib import Path

from grale.codec.graph_autoencoder import GraphAutoencoder
from grale.codec.hub import is_hub_id, not_found
from grale.codec.storage import CONFIG, find, read_architecture
from grale.model.autoencoder import GRALE
from grale.rivals.graphmae.model import GraphMAE
from grale.rivals.graphvae.model import GraphVAE
from grale.rivals.infograph.model import InfoGraph
from grale.rivals.pigvae.model import PIGVAE
from grale.rivals.simgrace.model import SimGRACE
from grale.rivals.vgae.model import VGAE

SHIPPED = Path(__file__).resolve().parent / "weights"
DEFAULT_MOLECULES = "molecules-32"
"""The model of molecules of up to 32 atoms that is used where none is named."""

ARCHITECTURES: dict[str, type[GraphAutoencoder]] = {
    kind.architecture: kind
    for kind in (GRALE, PIGVAE, GraphVAE, SimGRACE, InfoGraph, GraphMAE, VGAE)
}


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
    folder = _folder_of(str(name))
    kind = read_architecture(folder)
    if kind != GRALE.architecture:
        raise ValueError(f"{name} is a {kind}, not a GRALE; use grale.catalog.load_any")
    return GRALE.from_pretrained(folder)


def load_any(name: str | Path) -> GraphAutoencoder:
    """Load a model of any architecture; see `load`."""
    folder = _folder_of(str(name))
    kind = read_architecture(folder)
    if kind not in ARCHITECTURES:
        raise ValueError(f"{name} is a {kind!r}; known are {', '.join(ARCHITECTURES)}")
    return ARCHITECTURES[kind].from_pretrained(folder)


def _folder_of(text: str) -> Path:
    """Folder of the model on this machine, downloaded if necessary."""
    if text in shipped_models():
        return SHIPPED / text
    if Path(text).exists() or is_hub_id(text):
        return find(text)
    raise not_found(text, f"; shipped models are {', '.join(shipped_models()) or 'none yet'}")
