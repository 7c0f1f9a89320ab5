"""A client of a server in this process."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from fastapi.testclient import TestClient

from grale.web.app import create_app
from grale.web.limits import Limits
from grale.web.service import Service

ADDRESS = "http://127.0.0.1:8000"


@contextmanager
def client_of(model: Any, with_page: bool = False, **limits: Any) -> Iterator[TestClient]:
    """A client; a server error gives its answer, as over the network, instead of raising."""
    app = create_app(
        Service(model, "tiny", Limits(**{"timeout": 300.0, **limits}), num_examples=40), with_page
    )
    with TestClient(app, base_url=ADDRESS, raise_server_exceptions=False) as client:
        yield client
