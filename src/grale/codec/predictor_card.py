"""The card of a saved predictor: what can be said of any of them, and nothing left open."""

from __future__ import annotations

import json
from importlib import metadata
from typing import TYPE_CHECKING

from grale.codec.card import MARK
from grale.codec.identity import differences, identity_of
from grale.graphs.molecules.molecule import is_molecular

if TYPE_CHECKING:
    from grale.codec.graph_predictor import GraphPredictor

CARD = """\
---
library_name: grale
tags:
- graphs
- graph prediction
---

# {title}

{sentence} It was saved by grale {package}.

```python
import grale

model = grale.load_predictor("FOLDER")  # this folder, or its id on the hub
graphs = model.predict(inputs)
```

| | |
|---|---|
| architecture | {architecture} |
| version | {version} |
| fingerprint | `{fingerprint}` |
| weights | {weights:,}, float32 |
| input | {inputs} |
| graphs | {graphs} |
| settings that differ from the defaults | `{settings}` |

{mark} `grale predict FOLDER DATA/test -o OUT.parquet` does, on a dataset of pairs.
"""


def card_of_predictor(model: GraphPredictor) -> str:
    """Text of the card."""
    space, known = model.space, identity_of(model)
    kind = "molecules" if is_molecular(space) else "graphs"
    size = f"at most {space.max_nodes} {'heavy atoms' if is_molecular(space) else 'nodes'}"
    labels = f"{space.num_node_labels} node labels, {space.num_edge_labels} edge labels"
    if not model.predicts_edge_labels and space.num_edge_labels > 1:
        labels += ", of which it predicts the first: adjacency alone"
    return CARD.format(
        title=known.name or f"A {model.architecture}: from {model.inputs.kind} to {kind}",
        sentence=f"Predicts {kind} of {size} from {model.inputs.called()}.",
        package=metadata.version("grale"),
        architecture=model.architecture,
        version=known.version or "none: these weights are not published",
        fingerprint=known.fingerprint,
        weights=sum(weight.numel() for weight in model.parameters()),
        inputs=model.inputs.called(),
        graphs=f"{size}, {labels}" + (", directed" if space.directed else ""),
        settings=json.dumps(differences(model.config)).replace("|", "\\|"),
        mark=MARK,
    )
