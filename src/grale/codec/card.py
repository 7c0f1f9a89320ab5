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

CARD = """\
---
library_name: grale
tags:
- graphs
- autoencoder
---

# {title}

{sentence} It was saved by grale {package}.

```python
import grale.catalog

model = grale.catalog.load_any("FOLDER")  # this folder, or its id on the hub
vectors = model.encode(graphs)  # {latent_dim} numbers each{decoding}
described = model.describe(graphs)  # {description_dim} numbers each, to compare graphs by
```

| | |
|---|---|
| architecture | {architecture} |
| version | {version} |
| fingerprint | `{fingerprint}` |
| weights | {weights:,}, float32 |
| graphs | {graphs} |
| settings that differ from the defaults | `{settings}` |

Nobody has measured yet how well this model works. `grale evaluate FOLDER --data DATA` does, and
`grale probe FILE --target COLUMN --contender FOLDER` says what its vectors know.
"""


MARK = "Nobody has measured yet how well this model works."


def remove_stale_card(folder: Path) -> None:
    """Remove a card that this module has written, since it is about other weights."""
    card = folder / "README.md"
    if card.is_file() and MARK in card.read_text(encoding="utf-8", errors="replace"):
        card.unlink()


def card_of(model: GraphAutoencoder) -> str:
    """Text of the card."""
    space, known = model.space, identity_of(model)
    kind = "molecules" if is_molecular(space) else "graphs"
    size = f"at most {space.max_nodes} {'heavy atoms' if is_molecular(space) else 'nodes'}"
    verb = "Turns" if model.decodes else "Embeds"
    end = "into vectors and back" if model.decodes else "as vectors; it has no decoder"
    return CARD.format(
        title=known.name or f"A {model.architecture} of {kind}",
        sentence=f"{verb} {kind} of {size} {end}.",
        package=metadata.version("grale"),
        latent_dim=model.latent_dim,
        description_dim=model.description_dim,
        decoding="; model.decode gives the graphs back" if model.decodes else "",
        architecture=model.architecture,
        version=known.version or "none: these weights are not published",
        fingerprint=known.fingerprint,
        weights=sum(weight.numel() for weight in model.parameters()),
        graphs=f"{size}, {space.num_node_labels} node labels, {space.num_edge_labels} edge labels"
        + (", directed" if space.directed else ""),
        settings=json.dumps(differences(model.config)).replace("|", "\\|"),
    )
