"""Whole graphs to vectors and back: the GRAph Level autoEncoder."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

_HOMES = {
    "Graph": "grale.graphs.graph",
    "GraphBatch": "grale.graphs.batch",
    "GraphSpace": "grale.graphs.space",
    "GRALE": "grale.model.autoencoder",
    "ModelConfig": "grale.model.config",
    "fit": "grale.training.fit",
    "load": "grale.catalog",
    "load_predictor": "grale.catalog",
    "embed_file": "grale.tasks.embed",
    "embed_frame": "grale.tasks.embed_frame",
    "EmbedConfig": "grale.tasks.embed",
    "open_rows": "grale.data.row_files",
    "neighbours": "grale.tasks.neighbours",
    "read_vectors": "grale.tasks.vector_files",
    "prepare": "grale.data.own.prepare",
    "barycenter": "grale.tasks.interpolate",
    "edit": "grale.tasks.edit",
    "interpolate": "grale.tasks.interpolate",
    "learn_property": "grale.tasks.latent_predictor",
    "named_property": "grale.tasks.properties",
    "project": "grale.tasks.project",
    "propose": "grale.tasks.propose",
    "probe": "grale.tasks.probe",
    "ProbeConfig": "grale.tasks.probe",
    "contender_vectors": "grale.tasks.contenders",
    "read_molecules": "grale.tasks.contenders",
    "denoise_curve": "grale.tasks.denoise",
    "worst_reconstructions": "grale.tasks.failures",
    "edit_distance": "grale.metrics.edit_distance",
    "is_isomorphic": "grale.metrics.isomorphism",
}

__all__ = ["__version__", *_HOMES]

if TYPE_CHECKING:
    from grale.catalog import load as load
    from grale.catalog import load_predictor as load_predictor
    from grale.data.own.prepare import prepare as prepare
    from grale.data.row_files import open_rows as open_rows
    from grale.graphs.batch import GraphBatch as GraphBatch
    from grale.graphs.graph import Graph as Graph
    from grale.graphs.space import GraphSpace as GraphSpace
    from grale.metrics.edit_distance import edit_distance as edit_distance
    from grale.metrics.isomorphism import is_isomorphic as is_isomorphic
    from grale.model.autoencoder import GRALE as GRALE
    from grale.model.config import ModelConfig as ModelConfig
    from grale.tasks.contenders import contender_vectors as contender_vectors
    from grale.tasks.contenders import read_molecules as read_molecules
    from grale.tasks.denoise import denoise_curve as denoise_curve
    from grale.tasks.edit import edit as edit
    from grale.tasks.embed import EmbedConfig as EmbedConfig
    from grale.tasks.embed import embed_file as embed_file
    from grale.tasks.embed_frame import embed_frame as embed_frame
    from grale.tasks.failures import worst_reconstructions as worst_reconstructions
    from grale.tasks.interpolate import barycenter as barycenter
    from grale.tasks.interpolate import interpolate as interpolate
    from grale.tasks.latent_predictor import learn_property as learn_property
    from grale.tasks.neighbours import neighbours as neighbours
    from grale.tasks.probe import ProbeConfig as ProbeConfig
    from grale.tasks.probe import probe as probe
    from grale.tasks.project import project as project
    from grale.tasks.properties import named_property as named_property
    from grale.tasks.propose import propose as propose
    from grale.tasks.vector_files import read_vectors as read_vectors
    from grale.training.fit import fit as fit


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used, so that `import grale` stays fast."""
    if name not in _HOMES:
        raise AttributeError(f"module 'grale' has no attribute {name!r}")
    try:
        return getattr(import_module(_HOMES[name]), name)
    except ModuleNotFoundError as error:
        from grale.extras import hint_for

        if hint := hint_for(error):
            raise ModuleNotFoundError(f"{error}{hint}", name=error.name) from error
        raise


def __dir__() -> list[str]:
    return sorted(__all__)
