"""Start a server: load the model, then listen, on this machine alone unless told otherwise."""

from __future__ import annotations

import socket
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import uvicorn

from grale.catalog import DEFAULT_MOLECULES, load_any
from grale.web.app import create_app
from grale.web.limits import Limits
from grale.web.service import Service

MOST_CONNECTIONS = 512


@dataclass(frozen=True, kw_only=True)
class ServerConfig:
    """Where to listen, with which model."""

    model: str | None = None
    """By default the model of molecules."""
    host: str = "127.0.0.1"
    port: int = 8000
    """0 for any that is free."""
    allow_hosts: Sequence[str] = ()
    """Further names under which the server may be called."""
    with_page: bool = False
    device: str = "cpu"
    """Where the model runs, as in `grale.load`."""


def run_server(config: ServerConfig, limits: Limits, ready: Callable[[str], object]) -> None:
    """Serve until the process is told to stop; `ready` is called with the address."""
    with _listen(config) as listening:  # closed, too, if the model cannot be loaded
        server = _server(config, limits)
        shown = f"[{config.host}]" if ":" in config.host else config.host
        ready(f"http://{shown}:{listening.getsockname()[1]}/")
        with suppress(KeyboardInterrupt):  # Ctrl-C; requests were answered first
            server.run(sockets=[listening])


def _server(config: ServerConfig, limits: Limits) -> uvicorn.Server:
    name = config.model or DEFAULT_MOLECULES
    service = Service(load_any(name, config.device), _shown_name(name), limits)
    if config.with_page and service.background is None:
        raise ValueError(f"{name} is not a GRALE; the page needs one. Use grale serve")
    service.warm_up()
    app = create_app(service, config.with_page, [config.host, *config.allow_hosts])
    return uvicorn.Server(
        uvicorn.Config(
            app, http="h11",  # the other parser of uvicorn has no limit on the headers' length
            log_level="warning", access_log=False, server_header=False,
            limit_concurrency=MOST_CONNECTIONS, timeout_keep_alive=15, timeout_graceful_shutdown=5,
        )
    )  # fmt: skip


def _shown_name(name: str) -> str:
    """Name of the model for clients: of a folder its last part, not where it is."""
    return Path(name).resolve().name if Path(name).is_dir() else name


def _listen(config: ServerConfig) -> socket.socket:
    """A socket at the address, before the model is loaded; errors name the address."""
    family = socket.AF_INET6 if ":" in config.host else socket.AF_INET
    listening = socket.socket(family)
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listening.bind((config.host, config.port))
        listening.listen(MOST_CONNECTIONS)
    except OSError as error:
        listening.close()
        address = f"{config.host}:{config.port}"
        raise OSError(f"cannot listen on {address}: {error.strerror}; try another --port") from None
    return listening
