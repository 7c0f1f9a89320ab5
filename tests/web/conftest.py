"""Clients of a tiny model, with and without the page."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import torch
from fastapi.testclient import TestClient

from grale.graphs.space import GraphSpace
from grale.model.autoencoder import GRALE
from web.clients import client_of


@pytest.fixture(scope="session")
def api(molecule_model) -> Iterator[TestClient]:
    with client_of(molecule_model) as client:
        yield client


@pytest.fixture(scope="session")
def page(molecule_model) -> Iterator[TestClient]:
    with client_of(molecule_model, with_page=True, max_set_rows=50, max_sets=2) as client:
        yield client


@pytest.fixture(scope="module")
def tiny_coloring_client(tiny_config) -> Iterator[TestClient]:
    """An untrained model of the graphs of COLORING 10, which a generator suits."""
    torch.manual_seed(0)
    space = GraphSpace(max_nodes=10, num_node_labels=4)
    with client_of(GRALE(space, tiny_config).eval(), with_page=True) as client:
        yield client
