"""Run a verb as a user would, in this process."""

from __future__ import annotations

from typer.testing import CliRunner

from grale.cli.main import app


def invoke(*words: str) -> str:
    """What the verb prints; raises what the verb raises."""
    result = CliRunner().invoke(app, list(words))
    if result.exception is not None:
        raise result.exception
    return result.output
