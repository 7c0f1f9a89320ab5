"""Servers to test against: `grale serve` in a process of its own, or the page in a thread."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from types import ModuleType
from typing import Any

LOAD_TEST = Path(__file__).resolve().parents[1] / "benchmarks" / "serve_load.py"


def load_test() -> ModuleType:
    """The script of the load test as a module."""
    spec = spec_from_file_location("serve_load", LOAD_TEST)
    assert spec is not None
    assert spec.loader is not None
    found = module_from_spec(spec)
    sys.modules[spec.name] = found
    spec.loader.exec_module(found)
    return found


@contextmanager
def page_of(model: Any) -> Iterator[str]:
    """Address of a page for the model, in a thread of this process."""
    import uvicorn

    from grale.web.app import create_app
    from grale.web.limits import Limits
    from grale.web.service import Service

    app = create_app(Service(model, "tiny", Limits(timeout=300.0), num_examples=40), with_page=True)
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="warning"))
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    try:
        while not server.started:
            time.sleep(0.01)
        port = server.servers[0].sockets[0].getsockname()[1]
        yield f"http://127.0.0.1:{port}"
    finally:
        server.should_exit = True
        thread.join(timeout=30)
