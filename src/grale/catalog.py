"""`grale.load`: a model by name and version, from a local directory, or from a hub id."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import torch
from torch import nn

from grale.codec.graph_autoencoder import GraphAutoencoder
from grale.codec.graph_predictor import GraphPredictor
from grale.codec.hub import is_hub_id, not_found
from grale.codec.identity import is_same
from grale.codec.storage import CONFIG, find, read_architecture, read_identity
from grale.model.autoencoder import GRALE
from grale.model.predictor import GralePredictor
from grale.prior.latent_prior import LatentPrior
from grale.rivals.any2graph.model import Any2Graph
from grale.rivals.fgwbary.model import FGWBary
from grale.rivals.graphmae.model import GraphMAE
from grale.rivals.graphvae.model import GraphVAE
from grale.rivals.infograph.model import InfoGraph
from grale.rivals.pigvae.model import PIGVAE
from grale.rivals.relationformer.model import Relationformer
from grale.rivals.simgrace.model import SimGRACE
from grale.rivals.vgae.model import VGAE

SHIPPED = Path(__file__).resolve().parent / "weights"
DEFAULT_MOLECULES = "molecules"
"""The model that is used where none is named."""

ARCHITECTURES: dict[str, type[GraphAutoencoder]] = {
    kind.architecture: kind
    for kind in (GRALE, PIGVAE, GraphVAE, SimGRACE, InfoGraph, GraphMAE, VGAE)
}

PREDICTORS: dict[str, type[GraphPredictor]] = {
    kind.architecture: kind for kind in (GralePredictor, Any2Graph, Relationformer, FGWBary)
}


class Shipped(NamedTuple):
    """A model that comes with the package."""

    name: str
    version: str
    folder: Path


def shipped_models() -> list[str]:
    """List the names of the models that come with the package."""
    return sorted({model.name for model in shipped_versions()})


def shipped_versions() -> list[Shipped]:
    """All models that come with the package; of each name, the newest version comes first.

    The newest version of NAME is in the folder NAME, an older one in NAME@VERSION.
    """
    if not SHIPPED.is_dir():
        return []
    found = []
    for folder in sorted(SHIPPED.iterdir()):
        if (folder / CONFIG).is_file():
            name, _, version = folder.name.partition("@")
            found.append(Shipped(name, version or read_identity(folder).version or "0", folder))
    return sorted(found, key=lambda model: (model.name, "@" in model.folder.name))


def shipped_as(fingerprint: str) -> Shipped | None:
    """The shipped model whose fingerprint begins with these digits, at least 12 of them."""
    for each in shipped_versions():
        if is_same(fingerprint, read_identity(each.folder).fingerprint):
            return each
    return None


def load(name: str | Path, device: str = "cpu") -> GRALE:
    """Load a model, ready for use.

    Parameters
    ----------
    name
        The name of a shipped model, with or without a version ("molecules", "molecules@1"), the
        path of a directory written by `save_pretrained` or by `grale train`, or a hub id such as
        "someone/some-model".
    device
        Where it runs: "cpu", "cuda", another device of torch, or "auto" for an accelerator if
        there is one.
    """
    folder = _folder_of(str(name))
    kind = read_architecture(folder)
    if kind != GRALE.architecture:
        raise ValueError(f"{name} is a {kind}, not a GRALE; use grale.catalog.load_any")
    place = device_called(device)
    model: GRALE = GRALE.from_pretrained(folder)
    return model.to(place)


def load_predictor(name: str | Path, device: str = "cpu") -> GraphPredictor:
    """Load a predictor of graphs, of any architecture; see `load`."""
    folder = _folder_of(str(name))
    kind = read_architecture(folder)
    if kind not in PREDICTORS:
        raise ValueError(
            f"{name} is a {kind!r}, which predicts no graphs; known are {', '.join(PREDICTORS)}. "
            "`grale train predict` makes one (docs/prediction.md)"
        )
    place = device_called(device)
    model: GraphPredictor = PREDICTORS[kind].from_pretrained(folder)
    return model.to(place)


def load_kind(architecture: str, name: str | Path) -> nn.Module:
    """Load a predictor or the prior of a model if that is wanted, and an autoencoder otherwise."""
    if architecture in PREDICTORS:
        return load_predictor(name)
    model = load_any(name)
    return model.prior if architecture == LatentPrior.architecture else model


def load_any(name: str | Path, device: str = "cpu") -> GraphAutoencoder:
    """Load a model of any architecture; see `load`."""
    folder = _folder_of(str(name))
    kind = read_architecture(folder)
    if kind not in ARCHITECTURES:
        hint = "; it predicts graphs: see `grale predict`" if kind in PREDICTORS else ""
        raise ValueError(f"{name} is a {kind!r}; known are {', '.join(ARCHITECTURES)}{hint}")
    place = device_called(device)
    model: GraphAutoencoder = ARCHITECTURES[kind].from_pretrained(folder)
    return model.to(place)


def device_called(name: str) -> torch.device:
    """Find a device by name, or raise and list the devices; "auto" picks the best one."""
    found = torch.accelerator.current_accelerator(check_available=True)
    if name == "auto":
        return found or torch.device("cpu")
    try:
        device = torch.device(name)
    except RuntimeError:
        raise ValueError(f"device={name!r}; expected 'auto', 'cpu' or 'cuda'") from None
    if device.type not in ("cpu", found.type if found else "cpu"):
        there = f"cpu and {found.type}" if found else "cpu only"
        raise ValueError(f"device={name!r} is not on this machine; there is {there}")
    return device


def _folder_of(text: str) -> Path:
    """Folder of the model on this machine, downloaded if necessary."""
    name, _, version = text.partition("@")
    shipped = [model for model in shipped_versions() if model.name == name]
    if shipped and not version:
        return shipped[0].folder
    if shipped:
        known = {model.version: model.folder for model in shipped}
        if version not in known:
            there = ", ".join(f"{name}@{each}" for each in known)
            raise FileNotFoundError(f"there is no {text}; versions here are {there}")
        return known[version]
    if Path(text).exists() or is_hub_id(text):
        return find(text)
    raise not_found(text, f"; shipped models are {', '.join(shipped_models()) or 'none yet'}")
