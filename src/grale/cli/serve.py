"""`grale serve` and `grale play`: the model over HTTP, and a page to try it on."""

from __future__ import annotations

from typing import Annotated

import typer

from grale.cli.options import Device

ModelOption = Annotated[
    str | None,
    typer.Option(help="A shipped model, a directory, or a hub id; by default molecules."),
]
Host = Annotated[str, typer.Option(help="Address to listen on; 0.0.0.0 for all networks.")]
Port = Annotated[int, typer.Option(min=0, max=65_535, help="0 for any that is free.")]
AllowHost = Annotated[
    list[str] | None,
    typer.Option(help="A further name of this server; repeat it for several."),
]
PORT = 8_000


def serve(
    model: ModelOption = None,
    host: Host = "127.0.0.1",
    port: Port = PORT,
    allow_host: AllowHost = None,
    max_rows: Annotated[int, typer.Option(min=1, help="Rows of one request.")] = 256,
    max_atoms: Annotated[int, typer.Option(min=1, help="Nodes of one graph.")] = 1_000,
    max_body: Annotated[int, typer.Option(min=1_024, help="Bytes of one request.")] = 8 << 20,
    timeout: Annotated[float, typer.Option(min=0.1, help="Seconds for one request.")] = 30.0,
    device: Device = "cpu",
) -> None:
    """Answer requests over HTTP: encode, decode, describe, reconstruct, match, edit, between."""
    _check_extra()
    from grale.cli.terminal import keep_freed_memory
    from grale.web.limits import Limits
    from grale.web.run import ServerConfig, run_server

    keep_freed_memory()
    limits = Limits(max_rows=max_rows, max_atoms=max_atoms, max_body=max_body, timeout=timeout)
    names = allow_host or ()
    config = ServerConfig(model=model, host=host, port=port, allow_hosts=names, device=device)
    run_server(config, limits, _say_where)


def play(
    model: ModelOption = None,
    host: Host = "127.0.0.1",
    port: Port = PORT,
    allow_host: AllowHost = None,
    browser: Annotated[bool, typer.Option(help="Open the page in a browser.")] = True,
    device: Device = "cpu",
) -> None:
    """Open a page to play on: draw a molecule, see its vector, change it, draw a map."""
    _check_extra()
    from grale.cli.terminal import keep_freed_memory
    from grale.web.limits import Limits
    from grale.web.run import ServerConfig, run_server

    keep_freed_memory()
    config = ServerConfig(
        model=model, host=host, port=port, allow_hosts=allow_host or (), with_page=True,
        device=device,
    )  # fmt: skip
    run_server(config, Limits(), _open_page if browser else _say_where)


def _check_extra() -> None:
    from importlib.util import find_spec

    if find_spec("fastapi") is None or find_spec("uvicorn") is None:
        raise ImportError("this needs the extra web: pip install 'grale[web]'")


def _say_where(address: str) -> None:
    from grale.cli.terminal import say

    say(f"listening on {address} (Ctrl-C stops it)")


def _open_page(address: str) -> None:
    import webbrowser

    _say_where(address)
    webbrowser.open(address)
