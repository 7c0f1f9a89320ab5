"""One command per figure or table of the paper: `grale reproduce NAME`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from grale.experiments.experiment import Experiment, OfModel, OfTrainings
from grale.files import write_whole

if TYPE_CHECKING:
    from grale.experiments.picture import Picture
    from grale.experiments.table import Table

FIGURES, TABLES = "grale.experiments.figures", "grale.experiments.tables"
EXPERIMENTS: tuple[Experiment, ...] = (
    OfModel(
        "figure-interpolation",
        "graphs between two graphs, and the mean of a dataset",
        f"{FIGURES}.interpolation",
        {"smoke": 20, "cpu": 10_000, "paper": 300_000},
    ),
    OfModel(
        "figure-size-edit",
        "a graph made larger by steps in the latent",
        f"{FIGURES}.size_edit",
        {"smoke": 100, "cpu": 4_000, "paper": 100_000},
    ),
    OfModel(
        "figure-denoising",
        "wrong labels repaired by reconstruction",
        f"{FIGURES}.denoising",
        {"smoke": 20, "cpu": 2_000, "paper": 10_000},
    ),
    OfModel(
        "figure-failures",
        "the worst reconstructions and their symmetries",
        f"{FIGURES}.failures",
        {"smoke": 100, "cpu": 10_000, "paper": 10_000},
    ),
    OfModel(
        "figure-map",
        "a map of a dataset",
        f"{FIGURES}.map",
        {"smoke": 30, "cpu": 4_000, "paper": 10_000},
    ),
    OfModel(
        "table-matching",
        "edits and time of every way to match two graphs",
        f"{TABLES}.matching",
        {"smoke": 2, "cpu": 200, "paper": 1_000},
        options=("model", "data", "also"),
    ),
    OfModel(
        "figure-generation",
        "new graphs, lines and edits of a model with a prior",
        f"{FIGURES}.generation",
        {"smoke": 100, "cpu": 4_000, "paper": 10_000},
    ),
    OfModel(
        "table-generation",
        "new graphs of a model with a prior: MOSES, or colourings",
        f"{TABLES}.generation",
        {"smoke": 32, "cpu": 25_000, "paper": 30_000},
    ),
    OfModel(
        "table-editing",
        "molecules improved by a prior, by gradients and by chance",
        f"{TABLES}.editing",
        {"smoke": 2, "cpu": 800, "paper": 800},
    ),
    OfModel(
        "figure-prediction",
        "inputs, graphs and predictions; --model is a predictor, --data its dataset of pairs",
        f"{FIGURES}.prediction",
        {"smoke": 8, "cpu": 500, "paper": 2_000},
        loader="load_predictor",
    ),
    OfModel(
        "table-elucidation",
        "molecules from their fingerprints; --model is a predictor, --data its dataset of pairs",
        f"{TABLES}.elucidation",
        {"smoke": 4, "cpu": 1_000, "paper": 10_000},
        loader="load_predictor",
    ),
    OfTrainings(
        "table-prediction",
        "graphs from images and fingerprints (Table 4); --data may be a folder of pairs",
        f"{TABLES}.prediction",
        trains_on_molecules=False,
    ),
    OfTrainings(
        "table-reconstruction",
        "GRALE and its rivals, equal minutes (Table 1)",
        f"{TABLES}.reconstruction",
    ),
    OfTrainings(
        "table-downstream",
        "what frozen embeddings know (Table 3); --labelled is the folder of esol.csv and so on",
        f"{TABLES}.downstream",
        options=("data", "max_minutes", "seeds", "labelled", "also"),
        trains_on_molecules=False,
    ),
    OfTrainings(
        "table-description",
        "each term that trains the two readings; --data is a folder prepared with --descriptors",
        f"{TABLES}.description",
    ),
    OfTrainings(
        "figure-vector-length",
        "accuracy of the shipped recipe over the length of the vector; --data is a folder of POOL "
        "32 prepared with --descriptors",
        f"{FIGURES}.vector_length",
    ),
    OfTrainings("table-ablation", "each part replaced by another (Table 2)", f"{TABLES}.ablation"),
    OfTrainings(
        "table-tuning",
        "settings of the rivals, one changed at a time",
        f"{TABLES}.tuning",
        trains_on_molecules=False,
    ),
    OfTrainings(
        "table-embedding-tuning",
        "settings of the rivals without a decoder; --data is a folder of prepared molecules",
        f"{TABLES}.embedding_tuning",
    ),
    OfTrainings("table-complexity", "time of the matcher and the loss", f"{TABLES}.complexity"),
    OfTrainings(
        "table-ged",
        "the edit distance on AIDS700nef; --data is the folder of ged_graphs.parquet",
        f"{TABLES}.ged",
        trains_on_molecules=False,
    ),
    OfTrainings(
        "table-bn",
        "scores of Bayesian networks; --data is the folder of bnlearn_asia_5000.parquet",
        f"{TABLES}.bn",
        trains_on_molecules=False,
    ),
    OfTrainings(
        "figure-embedding-size",
        "accuracy over the shape of the latent",
        f"{FIGURES}.embedding_size",
    ),
    OfTrainings(
        "figure-training-size",
        "accuracy over the number of training graphs",
        f"{FIGURES}.scaling",
        "make_training_size",
        options=("data", "max_minutes", "seeds", "labelled"),
    ),
    OfTrainings(
        "figure-total-dimension",
        "accuracy over the length of the latent",
        f"{FIGURES}.scaling",
        "make_total_dimension",
        options=("data", "max_minutes", "seeds", "labelled"),
    ),
)


def listing() -> str:
    """Names and sentences of all experiments, for `--help`."""
    lines = (f"{experiment.name}: {experiment.summary}." for experiment in EXPERIMENTS)
    return " ".join(lines)


def find_experiment(name: str) -> Experiment:
    """Look up a figure or table; an unknown name is an error that lists the known ones."""
    for experiment in EXPERIMENTS:
        if experiment.name == name:
            return experiment
    known = ", ".join(experiment.name for experiment in EXPERIMENTS)
    raise ValueError(f"there is no experiment called {name!r}; known: {known}")


def check_options(experiment: Experiment, given: Sequence[str]) -> None:
    """Raise for an option that the experiment does not use."""
    for option in given:
        if option not in experiment.options:
            users = ", ".join(each.name for each in EXPERIMENTS if option in each.options)
            flag = f"--{option.replace('_', '-')}"
            raise ValueError(f"{experiment.name} does not use {flag}; it is for {users}")


def write_results(name: str, results: Sequence[Picture | Table], folder: Path) -> list[Path]:
    """Write all files; tables with other names also go together into NAME.md and NAME.json.

    Return the first file of each result.
    """
    from grale.experiments.table import Table, write_json

    firsts = [result.write(folder)[0] for result in results]
    tables = [result for result in results if isinstance(result, Table)]
    if tables and [table.name for table in tables] != [name]:
        text = "\n".join(table.markdown() for table in tables)
        write_whole(folder / f"{name}.md", text)
        write_json(folder / f"{name}.json", {table.name: table.as_data() for table in tables})
    return firsts
