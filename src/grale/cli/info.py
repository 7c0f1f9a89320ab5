"""`grale info`: versions and devices, the shape of a model, or which model made a file."""

from __future__ import annotations

from pathlib import Path

import typer


def info(
    model: str | None = typer.Argument(
        None,
        help="A model to describe, or a file to say which model made it; by default, this machine.",
    ),
) -> None:
    """Describe this installation or a model, or say which model made a file."""
    from grale.cli.terminal import show

    if model is None:
        rows = _machine_rows()
    else:
        rows = _file_rows(Path(model)) if Path(model).is_file() else _model_rows(model)
    show(model or "this machine", rows)


def _file_rows(path: Path) -> list[list[str]]:
    from grale.tasks.vector_files import made_with_of

    known = made_with_of(path)
    if known is None:
        raise ValueError(f"{path} does not say which model made it")
    return [["", ""], *([str(name), str(value)] for name, value in known.items())]


def _machine_rows() -> list[list[str]]:
    import platform
    from importlib import metadata

    import torch

    rows = [["", ""], ["python", platform.python_version()]]
    rows += [[name, metadata.version(name)] for name in ("grale", "torch", "numpy", "rustworkx")]
    device = torch.cuda.get_device_name() if torch.cuda.is_available() else "cpu"
    return [*rows, ["device", device], ["threads", str(torch.get_num_threads())]]


def _model_rows(name: str) -> list[list[str]]:
    from grale.catalog import load_any
    from grale.model.autoencoder import GRALE

    model = load_any(name)
    space, config = model.space, model.config
    parameters = sum(weight.numel() for weight in model.parameters())
    rows = [
        ["", ""],
        ["architecture", model.architecture + ("" if model.decodes else ", without a decoder")],
        ["version", model.version or "none: these weights are not published, or were changed"],
        ["fingerprint", model.fingerprint],
        ["parameters", f"{parameters:,}"],
        ["graphs", f"up to {space.max_nodes} nodes, {space.num_node_labels} node labels, "
                   f"{space.num_edge_labels} edge labels"],
    ]  # fmt: skip
    if not isinstance(model, GRALE):
        return [*rows, ["embedding", f"{model.latent_dim} numbers"]]
    shape = f"{config.num_tokens} tokens of {config.token_dim}: {model.latent_dim}"
    return [
        *rows,
        ["embedding", shape],
        ["description", f"{model.description_dim} numbers"],
        ["layers", f"{config.num_layers}, {config.norm}-norm"],
    ]
