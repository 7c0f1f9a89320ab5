"""Clients of a tiny model, with and without the page."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from typing import Any

import pytest
import torch
from fastapi.testclient import TestClient

from grale.graphs.space import GraphSpace
from grale.model.autoencoder import GRALE
from web.clients import client_of

BROWSERS = ("chromium", "chromium-browser", "google-chrome")
PATIENCE = 300_000  # milliseconds; a busy machine starts it late


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """A browser without a window, or the test is skipped."""
    found = next((path for path in map(shutil.which, BROWSERS) if path), None)
    if found is None:
        pytest.skip(f"no browser is installed: none of {', '.join(BROWSERS)} is in the PATH")
    playwright = pytest.importorskip("playwright.sync_api")
    with playwright.sync_playwright() as driver:
        options = {"executable_path": found, "args": ["--no-sandbox"], "timeout": PATIENCE}
        launched = driver.chromium.launch(**options)
        yield launched
        launched.close()


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
