"""New graphs: molecules by the protocol of MOSES, colourings by what makes them colourings.

    grale reproduce table-generation --model runs/prior-moses

The prior of the model should be trained on the training set of MOSES (docs/generation.md). The
row of the autoencoder is its ceiling: test molecules, encoded and decoded. Nothing is repaired.
"""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from grale.codec.sample import SampleOptions
from grale.data.moses import moses_folder, read_moses
from grale.data.samples import sample_graphs
from grale.experiments.picture import PictureConfig, Progress
from grale.experiments.table import Table
from grale.graphs.graph import Graph
from grale.graphs.molecules.molecule import is_molecular
from grale.metrics.generation import SeenGraphs, is_coloured, why_invalid
from grale.model.autoencoder import GRALE
from grale.tasks.chemnet import check_chemnet
from grale.tasks.generate import GenerateConfig, generate
from grale.tasks.molecule_sets import (
    MoleculeSet,
    canonical,
    cosine,
    frechet_distance,
    internal_diversity,
    nearest_similarity,
    passes_filters,
    summarise,
)

ALL_FROM = 10_000  # samples from which all reference molecules are used
REFERENCES_EACH = 20  # reference molecules per sample below that
PUBLISHED = (
    ("training set", "100", "100", "-", "0.48 to 0.64"),
    ("FragFM (fragments)", "99.8", "100", "87.1", "0.58"),
    ("JT-VAE (fragments)", "100", "100", "99.9", "1.00"),
    ("SGT, 32 layers (atoms)", "92.1", "100", "-", "1.10"),
    ("DiGress (atoms)", "85.7", "100", "95.0", "1.19"),
    ("Cometh-PC (atoms)", "90.5", "99.9", "92.6", "1.27"),
    ("DeFoG (atoms)", "92.8", "99.9", "92.1", "1.95"),
)
"""Valid, unique, novel and FCD on the scaffold test set, in percent, as published."""


def make(model: GRALE, config: PictureConfig, progress: Progress = None) -> list[Table]:
    """Draw graphs and compare them with held-out ones."""
    assert model.prior  # says so if there is none
    if is_molecular(model.space):
        return [molecules_table(model, config, progress)]
    if is_coloured(model.space):
        return [colourings_table(model, config, progress)]
    raise ValueError("table-generation knows molecules and colourings; this model has other graphs")


def molecules_table(model: GRALE, config: PictureConfig, progress: Progress) -> Table:
    """MOSES: samples, the autoencoder's ceiling, and published rows."""
    check_chemnet()
    moses_folder()
    most = None if config.count >= ALL_FROM else REFERENCES_EACH * config.count
    tests = {
        "test": read_moses("test", most),
        "scaffold test": read_moses("test_scaffolds", most),
    }
    again = _reconstructed(model, tests["test"][: config.count])
    begin = time.perf_counter()
    drawn = _drawn(model, config, progress)
    seconds = 1000 * (time.perf_counter() - begin) / config.count
    references = {name: summarise(smiles) for name, smiles in tests.items()}
    known = {canonical(text) for text in read_moses("train", most)}
    rows, values = [], {}
    for name, graphs in (("GRALE and its prior", drawn), ("GRALE, test molecules again", again)):
        found = _scores(graphs, model, known, references)
        cells = [name, *(_cell(label, value) for label, value in found.items())]
        rows.append([*cells, f"{seconds:.1f}" if graphs is drawn else "-"])
        values[name] = found
    for name, valid, unique, novel, fcd in PUBLISHED:
        rows.append([name, valid, unique, novel, "-", fcd, *["-"] * (len(rows[0]) - 6)])
    header = ["", *(label for label in found), "s per 1,000"]
    caption = (
        f"{config.count:,} samples of seed {config.seed}, decoded without repair; percent for "
        f"valid (a molecule in one piece), unique, novel and filters. References: "
        f"{len(tests['test']):,} test and {len(tests['scaffold test']):,} scaffold test molecules; "
        f"novel: not among {len(known):,} training molecules. "
        f"The prior was trained on latents of {model.prior.settings.autoencoder}."
    )
    values["seconds per 1000"] = {"seconds": seconds}
    return Table("table-generation", "New molecules (MOSES)", header, rows, caption, values)


def _drawn(model: GRALE, config: PictureConfig, progress: Progress) -> list[Graph]:
    wanted = GenerateConfig(count=config.count, options=SampleOptions(seed=config.seed))
    return [new.graph for new in generate(model, wanted, progress or (lambda done: None))]


def _reconstructed(model: GRALE, smiles: Sequence[str]) -> list[Graph]:
    good = [text for text, why in zip(smiles, model.why_not(smiles)) if why is None]
    if not good:
        raise ValueError(
            f"this model has molecules of at most {model.space.max_nodes} atoms; those of MOSES "
            "are larger: choose another --model"
        )
    return [graph for graph in model.reconstruct(good) if graph is not None]


def _scores(
    graphs: Sequence[Graph], model: GRALE, known: set[str], references: dict[str, MoleculeSet]
) -> dict[str, float]:
    """Columns of a row; those of an empty set are NaN."""
    valid = [graph.to_smiles() for graph in graphs if why_invalid(graph, model.space) is None]
    unique = list(dict.fromkeys(valid))
    novel = [text for text in unique if text not in known]
    found = {
        "valid": len(valid) / len(graphs),
        "unique": len(unique) / len(valid) if valid else float("nan"),
        "novel": len(novel) / len(unique) if unique else float("nan"),
    }
    enough = len(valid) >= 2
    ours = summarise(valid) if enough else None
    test = references["test"]
    for name, reference in references.items():
        found[f"FCD, {name}"] = frechet_distance(ours, reference) if ours else float("nan")
    found["SNN"] = nearest_similarity(ours, test) if ours else float("nan")
    found["Frag"] = cosine(ours.fragments, test.fragments) if ours else float("nan")
    found["Scaf"] = cosine(ours.scaffolds, test.scaffolds) if ours else float("nan")
    found["IntDiv"] = internal_diversity(ours) if ours else float("nan")
    passing = [passes_filters(text) for text in valid]
    found["filters"] = float(np.mean(passing)) if passing else float("nan")
    return found


def _cell(label: str, value: float) -> str:
    if label in ("valid", "unique", "novel", "filters"):
        return f"{100 * value:.1f}"
    return f"{value:.3f}" if not label.startswith("FCD") else f"{value:.2f}"


def colourings_table(model: GRALE, config: PictureConfig, progress: Progress) -> Table:
    """Samples and held-out graphs: valid, distinct, sizes and degrees."""
    drawn = _drawn(model, config, progress)
    real = sample_graphs(model.space, config.count, config.data, "test")
    rows, values = [], {}
    sizes, degrees = [_shares(each(real)) for each in (_sizes, _degrees)]
    for name, graphs in (("samples", drawn), ("held-out graphs", real)):
        good = [graph for graph in graphs if why_invalid(graph, model.space) is None]
        seen = SeenGraphs(model.space)
        found = {
            "valid": len(good) / len(graphs),
            "distinct": sum(map(seen.adds, good)) / len(good) if good else float("nan"),
            "mean size": float(np.mean(_sizes(graphs))),
            "mean degree": float(np.mean(_degrees(graphs))),
            "sizes apart": _apart(_shares(_sizes(graphs)), sizes),
            "degrees apart": _apart(_shares(_degrees(graphs)), degrees),
        }
        rows.append([
            name, f"{found['valid']:.1%}", f"{found['distinct']:.1%}", f"{found['mean size']:.2f}",
            f"{found['mean degree']:.2f}", f"{found['sizes apart']:.3f}",
            f"{found['degrees apart']:.3f}",
        ])  # fmt: skip
        values[name] = found
    caption = (
        f"{config.count:,} samples of seed {config.seed} and as many held-out graphs. Valid: "
        "planar, in one piece, no edge between equal colours. Distinct: not isomorphic to one "
        "before. Apart: total variation distance to the distribution over the held-out graphs."
    )
    return Table("table-generation", "New colourings", ["", *found], rows, caption, values)


def _sizes(graphs: Sequence[Graph]) -> NDArray[np.int64]:
    return np.array([graph.num_nodes for graph in graphs])


def _degrees(graphs: Sequence[Graph]) -> NDArray[np.int64]:
    return np.concatenate(
        [np.bincount(graph.edges.reshape(-1), minlength=graph.num_nodes) for graph in graphs]
    )


def _shares(values: NDArray[np.int64]) -> NDArray[np.float64]:
    return np.bincount(values) / len(values)


def _apart(first: NDArray[np.float64], second: NDArray[np.float64]) -> float:
    """Total variation distance of two distributions over 0, 1, 2, ..."""
    size = max(len(first), len(second))
    wide = [np.pad(shares, (0, size - len(shares))) for shares in (first, second)]
    return float(np.abs(wide[0] - wide[1]).sum() / 2)
