"""`grale VERB`: the entry point. Heavy imports wait inside the verbs, so --help is quick."""

from __future__ import annotations

import sys
from importlib import metadata

import typer

from grale.cli.bench import bench
from grale.cli.decode import decode, reconstruct
from grale.cli.demo import demo
from grale.cli.denoise import denoise
from grale.cli.edit import edit
from grale.cli.embed import embed
from grale.cli.evaluate import evaluate
from grale.cli.export import export
from grale.cli.fit import fit
from grale.cli.generate import generate
from grale.cli.info import info
from grale.cli.interpolate import barycenter, interpolate
from grale.cli.map import draw_map
from grale.cli.match import match
from grale.cli.models import models
from grale.cli.neighbours import neighbours
from grale.cli.predict import predict
from grale.cli.prepare import prepare
from grale.cli.probe import probe
from grale.cli.reproduce import reproduce
from grale.cli.serve import play, serve
from grale.cli.settings import settings
from grale.cli.terminal import complain
from grale.cli.train import train
from grale.extras import hint_for

app = typer.Typer(
    help="Whole graphs to vectors and back: the GRAph Level autoEncoder.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
for verb in (
    demo, fit, train, evaluate, embed, decode, reconstruct, interpolate, barycenter, edit, denoise,
    generate, predict, match, neighbours, probe, export, play, serve, reproduce, models, settings,
    info,
):  # fmt: skip
    app.command()(verb)
app.command("map")(draw_map)
app.add_typer(bench, name="bench")
app.add_typer(prepare, name="prepare")


def _print_version(wanted: bool | None) -> None:
    if wanted:
        typer.echo(f"grale {metadata.version('grale')}")
        raise typer.Exit


@app.callback()
def options(
    version: bool | None = typer.Option(
        None, "--version", callback=_print_version, is_eager=True, help="Print the version."
    ),
) -> None:
    """Whole graphs to vectors and back: the GRAph Level autoEncoder."""


def main() -> None:
    """Run the command line; a user's mistake gives one line, not a traceback."""
    try:
        app()
    except (ValueError, OSError, ArithmeticError, ImportError) as error:
        complain(f"error: {error}{hint_for(error)}")
        sys.exit(2)
