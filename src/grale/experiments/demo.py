"""The guided tour behind `grale demo`: what the shipped models do, as one page of pictures.

Departures: small models on COLORING 10 and on molecules of up to 32 atoms; the page says so.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from grale.codec.identity import provenance
from grale.codec.options import CodecOptions
from grale.codec.reconstruct import reconstruct
from grale.data.samples import LIBRARY, named_graph, sample_graphs, usual_data
from grale.experiments.figures import denoising as figure_denoising
from grale.experiments.figures import generation as figure_generation
from grale.experiments.figures import interpolation as figure_interpolation
from grale.experiments.figures import map as figure_map
from grale.experiments.figures import size_edit as figure_size_edit
from grale.experiments.picture import Picture, PictureConfig
from grale.matching.local_search import edit_distance_bound
from grale.matching.solve import solve
from grale.metrics.isomorphism import is_isomorphic
from grale.model.autoencoder import GRALE
from grale.plot.figures import interpolation_figure, reconstruction_figure
from grale.plot.look import look_of
from grale.plot.matching import matching_figure
from grale.plot.page import Section, write_page
from grale.tasks.interpolate import interpolate
from grale.training.evaluation import evaluate

SHOWN = 6  # graphs in the picture of reconstructions
STEPS = 32  # at most, to move a vector until it decodes
FRAMES = 7
MATCH_SECONDS = 0.05
MAP_COLOURS = ("logP", "size", "TPSA")
INTRO = (
    "What the shipped models do, molecules first. Each picture is next to this page as PNG and "
    "SVG, and the line above it is the command for your own."
)
ESTER, AMIDE = "CCOC(=O)c1ccccc1", "CC(=O)Nc1ccc(O)cc1"

Say = Callable[[str], object]


def write_tour(
    coloring: GRALE,
    molecules: GRALE,
    folder: Path,
    count: int = 1_000,
    say: Say = lambda _: None,
) -> Path:
    """Draw everything, on one page and as separate pictures; return the page's path.

    Parameters
    ----------
    coloring, molecules
        Trained models.
    folder
        Where `index.html`, the pictures and their captions go.
    count
        Graphs to measure on.
    say
        Called with what is being made.
    """
    made_with = [
        provenance(model, name, "both")
        for model, name in ((molecules, "molecules"), (coloring, "coloring"))
    ]
    found = [
        molecule_sections(molecules, count, folder, say),
        coloring_sections(coloring, count, say),
    ]
    sections = [
        picture._replace(made_with=model)
        for pictures, model in zip(found, made_with)
        for picture in pictures
    ]
    for picture in sections:
        picture.write(folder)
    parts = [
        Section(p.title, p.caption, figure=p.figure, alt=p.caption, command=p.command, link=p.link)
        for p in sections
    ]
    return write_page(
        folder / "index.html", "grale: a graph in, a vector, a graph out", parts, INTRO, made_with
    )


def coloring_sections(model: GRALE, count: int, say: Say) -> list[Picture]:
    """COLORING: reconstruct, interpolate, edit, denoise."""
    config = PictureConfig(count=count)
    say("COLORING graphs and their reconstructions")
    title = "Colourings and their reconstructions"
    pictures = [reconstruction_picture(model, title, count, "coloring-10")]
    say("COLORING graphs between two graphs")
    pictures += figure_interpolation.make(model, config)
    say("a COLORING graph made larger")
    pictures += figure_size_edit.make(model, config)
    say("wrong colours repaired")
    command = "grale denoise --model coloring-10"
    noisy = figure_denoising.make(model, PictureConfig(count=max(20, count // 4)))
    return pictures + [picture._replace(command=command) for picture in noisy]


def molecule_sections(model: GRALE, count: int, folder: Path, say: Say) -> list[Picture]:
    """Molecules: reconstruct, map, interpolate, match, edit, denoise."""
    config = PictureConfig(count=count)
    say("molecules and their reconstructions")
    pictures = [reconstruction_picture(model, "Molecules and their reconstructions", count)]
    say("a map of molecules")
    pictures.append(molecule_map(model, count, folder))
    pictures += generated_sections(model, config, say) if model.has_prior else []
    say("molecules between two molecules")
    pictures.append(molecule_strip(model))
    say("two molecules matched")
    pictures.append(molecule_match(model))
    say("a molecule made more soluble in fat")
    pictures.append(figure_size_edit.property_picture("logP", model, config))
    say("molecules with wrong atoms")
    for noisy in figure_denoising.make(model, PictureConfig(count=max(20, count // 4))):
        name, command = f"molecules-{noisy.name}", "grale denoise --model molecules"
        pictures.append(noisy._replace(name=name, command=command))
    return pictures


def generated_sections(model: GRALE, config: PictureConfig, say: Say) -> list[Picture]:
    """New molecules, and lines and edits that stay on the data, beside the paper's."""
    say("new molecules")
    drawn = figure_generation.samples_picture(model, config.seed)
    say("lines and edits by the prior")
    ends = [named_graph(text, model.space) for text in (ESTER, AMIDE)]
    lines = figure_generation.lines_picture(model, ends, f"{ESTER} and {AMIDE}")
    graphs = sample_graphs(model.space, config.count, None, "test")
    edits = figure_generation.edits_picture(model, graphs)
    line, edit = f"grale interpolate '{ESTER}' '{AMIDE}'", "grale edit SMILES -p QED"
    return [
        drawn._replace(title="New molecules", command="grale generate -n 24 -o new.smi"),
        lines._replace(title="Two ways between two molecules", command=f"{line} --path prior"),
        edits._replace(title="Two ways to raise QED", command=f"{edit} --method prior"),
    ]


def molecule_map(model: GRALE, count: int, folder: Path) -> Picture:
    """The map as a picture, and its page in `folder`."""
    graphs = sample_graphs(model.space, count, None, "test")
    found = figure_map.dataset_map(model, graphs, MAP_COLOURS)
    page = figure_map.write_map(model, found, folder / "map.html", "A map of molecules")
    picture = figure_map.map_picture(found)
    colours = " ".join(f"--colour {name}" for name in MAP_COLOURS)
    return picture._replace(
        name="molecule-map",
        title="A map of molecules",
        caption=f"{picture.caption} The page draws the molecule under the pointer, zooms, finds "
        "molecules, takes other colours, and saves a selection as csv.",
        command=f"grale map library {colours} -o map.png",
        link=(page.name, "Open the map"),
    )


def reconstruction_picture(
    model: GRALE, title: str, count: int, model_name: str = "molecules"
) -> Picture:
    """Graphs above, their reconstructions below, and the scores over all of them."""
    graphs = sample_graphs(model.space, count, None, "test")
    options = CodecOptions(refine_steps=STEPS)
    guessed, refined = (evaluate(model, graphs), evaluate(model, graphs, options))
    shown = graphs[:SHOWN]
    result = reconstruct(model, shown, options)
    exact = [is_isomorphic(a, b) for a, b in zip(shown, result.graphs)]
    triples = zip(shown, result.graphs, result.mappings)
    bounds = [edit_distance_bound(*triple) for triple in triples]
    figure = reconstruction_figure(
        shown,
        result.graphs,
        [bound.mapping for bound in bounds],
        ["exact" if same else f"{b.edit_distance} edits" for same, b in zip(exact, bounds)],
        exact,
        look_of(model.space),
    )
    caption = (
        f"Each graph above became {model.latent_dim} numbers and then the graph below it; matched "
        f"nodes are drawn at the same place. Of {guessed.num_targets:,} graphs "
        f"({_origin(model)}), {guessed.accuracy:.1%} are reconstructed exactly from the encoder's "
        f"numbers, and {refined.accuracy:.1%} if the others are moved by up to {STEPS} gradient "
        f"steps, as here; the mean edit distance is at most {guessed.edit_distance:.2f} and "
        f"{refined.edit_distance:.2f}."
    )
    name = title.split()[0].lower() + "-reconstructed"
    command = f"grale evaluate {model_name} --count {count} --refine {STEPS}"
    return Picture(name, title, figure, caption, command=command)


def molecule_strip(model: GRALE, ends: Sequence[str] = (ESTER, AMIDE)) -> Picture:
    """Molecules on the line between two, valid if possible."""
    start, end = (named_graph(text, model.space) for text in ends)
    path = interpolate(model, start, end, FRAMES, tries=20)
    captions = [f"t = {t:.2f}" for t in path.positions]
    figure = interpolation_figure(path.graphs, path.mappings, captions, look_of(model.space))
    caption = (
        f"Points on the straight line between the vectors of {ends[0]} and {ends[1]}, decoded. "
        "Atoms and bonds that are new are green, those that became another kind amber."
    )
    command = f"grale interpolate '{ends[0]}' '{ends[1]}' -o between.svg"
    title = "Molecules between two molecules"
    return Picture("molecules-between", title, figure, caption, command=command)


def molecule_match(model: GRALE, ends: Sequence[str] = (ESTER, AMIDE)) -> Picture:
    """Which atom of one molecule plays which of the other."""
    first, second = (named_graph(text, model.space) for text in ends)
    found = solve(first, second, "grale+tabu", MATCH_SECONDS, model)
    figure = matching_figure(first, second, found.mapping, look_of(model.space))
    caption = (
        f"Atoms with the same number play each other: {found.edit_distance} edits, an upper bound "
        "of the edit distance. Red is missing on the right, green on the left, amber has another "
        "label."
    )
    command = f"grale match '{ends[0]}' '{ends[1]}' -o match.svg"
    return Picture("molecules-matched", "Two molecules matched", figure, caption, command=command)


def _origin(model: GRALE) -> str:
    name = usual_data(model.space)
    if name == LIBRARY:
        return "built from scaffolds and substituents; some may be in the training set"
    return f"{name}, none of them in the training set"
