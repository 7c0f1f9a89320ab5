"""The card of a saved model: what can be said of any model, and nothing left open."""

from __future__ import annotations

import json
from importlib import metadata
from pathlib import Path
from typing import TYPE_CHECKING

from grale.codec.identity import differences, identity_of
from grale.graphs.molecules.molecule import is_molecular

if TYPE_CHECKING:
    from grale.codec.graph_autoencoder import GraphAutoencoder
    from grale.codec.graph_predictor import GraphPredictor

CARD = """\
---
library_name: grale
tags:
- graphs
- {tag}
---

# {title}

{sentence} It was saved by grale {package}.

```python
{example}
```

| | |
|---|---|
| architecture | {architecture} |
| version | {version} |
| fingerprint | `{fingerprint}` |
| weights | {weights:,}, float32 |
{inputs}| graphs | {graphs} |
| settings that differ from the defaults | `{settings}` |

{mark} {how}
"""

MARK = "Nobody has measured yet how well this model works."

CODING = """\
import grale.catalog

model = grale.catalog.load_any("FOLDER")  # this folder, or its id on the hub
vectors = model.encode(graphs)  # {latent_dim} numbers each{decoding}
described = model.describe(graphs)  # {description_dim} numbers each, to compare graphs by"""
HOW_IT_CODES = """\
`grale evaluate FOLDER --data DATA` does, and
`grale probe FILE --target COLUMN --contender FOLDER` says what its vectors know."""

PREDICTING = """\
import grale

model = grale.load_predictor("FOLDER")  # this folder, or its id on the hub
graphs = model.predict(inputs)"""
HOW_IT_PREDICTS = "`grale predict FOLDER DATA/test -o OUT.parquet` does, on a dataset of pairs."


def remove_stale_card(folder: Path) -> None:
    """Remove a card that this module has written, since it is about other weights."""
    card = folder / "README.md"
    if card.is_file() and MARK in card.read_text(encoding="utf-8", errors="replace"):
        card.unlink()


def card_of(model: GraphAutoencoder) -> str:
    """Text of the card of a model of graphs."""
    kind = _kind(model)
    verb = "Turns" if model.decodes else "Embeds"
    end = "into vectors and back" if model.decodes else "as vectors; it has no decoder"
    example = CODING.format(
        latent_dim=model.latent_dim,
        description_dim=model.description_dim,
        decoding="; model.decode gives the graphs back" if model.decodes else "",
    )
    return _filled(
        model,
        tag="autoencoder",
        title=f"A {model.architecture} of {kind}",
        sentence=f"{verb} {kind} of {_size(model)} {end}.",
        example=example,
        inputs="",
        limits="",
        how=HOW_IT_CODES,
    )


def card_of_predictor(model: GraphPredictor) -> str:
    """Text of the card of a predictor of graphs."""
    kind, inputs = _kind(model), model.inputs
    adjacency_alone = not model.predicts_edge_labels and model.space.num_edge_labels > 1
    return _filled(
        model,
        tag="graph prediction",
        title=f"A {model.architecture}: from {inputs.kind} to {kind}",
        sentence=f"Predicts {kind} of {_size(model)} from {inputs.called()}.",
        example=PREDICTING,
        inputs=f"| input | {inputs.called()} |\n",
        limits=", of which it predicts the first: adjacency alone" if adjacency_alone else "",
        how=HOW_IT_PREDICTS,
    )


def _filled(
    model: GraphAutoencoder | GraphPredictor, *, title: str, limits: str, **texts: str
) -> str:
    """The card with what is said of every model in the same way; its own name is its title."""
    space, known = model.space, identity_of(model)
    labels = f"{space.num_node_labels} node labels, {space.num_edge_labels} edge labels{limits}"
    return CARD.format(
        **texts,
        title=known.name or title,
        package=metadata.version("grale"),
        architecture=model.architecture,
        version=known.version or "none: these weights are not published",
        fingerprint=known.fingerprint,
        weights=sum(weight.numel() for weight in model.parameters()),
        graphs=f"{_size(model)}, {labels}" + (", directed" if space.directed else ""),
        settings=json.dumps(differences(model.config)).replace("|", "\\|"),
        mark=MARK,
    )


def _kind(model: GraphAutoencoder | GraphPredictor) -> str:
    return "molecules" if is_molecular(model.space) else "graphs"


def _size(model: GraphAutoencoder | GraphPredictor) -> str:
    counted = "heavy atoms" if is_molecular(model.space) else "nodes"
    return f"at most {model.space.max_nodes} {counted}"
