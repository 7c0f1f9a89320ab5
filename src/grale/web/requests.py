"""Bodies of requests. A mistake in the form of a body refuses it; one in a row fails that row."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

MOST_NODES, MOST_EDGES = 1_000, 20_000  # of a graph in JSON, before anything is built
MOST_STEPS = 100


def _with_example(example: dict[str, Any]) -> ConfigDict:
    return ConfigDict(
        extra="forbid",
        strict=True,
        use_attribute_docstrings=True,  # /docs and /openapi.json show them
        json_schema_extra={"examples": [example]},
    )


class GraphBody(BaseModel):
    """A graph with integer labels, as `grale.Graph` takes it."""

    model_config = _with_example({"node_labels": [0, 1, 2], "edges": [[0, 1], [1, 2]]})
    node_labels: Annotated[list[int], Field(max_length=MOST_NODES)]
    edges: Annotated[
        list[Annotated[list[int], Field(min_length=2, max_length=2)]], Field(max_length=MOST_EDGES)
    ] = []
    edge_labels: Annotated[list[int], Field(max_length=MOST_EDGES)] | None = None
    directed: bool = False


Item = str | GraphBody | None
"""A SMILES or a graph; null is a row without an entry, and fails."""
Vector = list[float | None] | None
Maker = Annotated[str, Field(max_length=64)] | None
Tries = Annotated[int, Field(ge=1, le=100)]
Pair = Annotated[list[Item], Field(min_length=2, max_length=2)]


class EncodeBody(BaseModel):
    """Graphs to embed."""

    model_config = _with_example({"graphs": ["CCO", "c1ccccc1"]})
    graphs: list[Item]
    """SMILES, or graphs as JSON."""
    refine: Annotated[int, Field(ge=0, le=128)] = 0
    """At most this many gradient steps on a vector that does not decode to its graph."""


class DescribeBody(BaseModel):
    """Graphs to describe, or vectors from /encode; one of the two."""

    model_config = _with_example({"graphs": ["CCO", "c1ccccc1"]})
    graphs: list[Item] | None = None
    """As for /encode; give these or vectors."""
    vectors: list[Vector] | None = None
    """Answers of /encode; give these or graphs."""
    fingerprint: Maker = None
    """Fingerprint of the model that made the vectors; if it is another one, they are refused."""


class DecodeBody(BaseModel):
    """Vectors from /encode."""

    model_config = _with_example({"vectors": [[0.0, 0.5, -0.5]]})
    vectors: list[Vector]
    tries: Tries = 20
    """Likeliest graphs to look at until one is a valid molecule."""
    fingerprint: Maker = None
    """Fingerprint of the model that made the vectors; if it is another one, they are refused."""


class ReconstructBody(BaseModel):
    """Graphs to encode and decode."""

    model_config = _with_example({"graphs": ["CCO", "CC(=O)Oc1ccccc1C(=O)O"]})
    graphs: list[Item]
    refine: Annotated[int, Field(ge=0, le=128)] = 0


class MatchBody(BaseModel):
    """Pairs of graphs whose nodes are to be matched."""

    model_config = _with_example({"pairs": [["CCO", "CCN"]], "method": "grale+tabu"})
    pairs: list[Pair]
    method: Literal["grale", "grale+tabu", "tabu", "beam", "graduated", "exact"] = "grale+tabu"
    time_limit: Annotated[float, Field(gt=0, le=2)] = 0.1
    """Seconds per pair, for the methods that search."""


class InterpolateBody(BaseModel):
    """Pairs of graphs, and how many graphs to decode on the line between their vectors."""

    model_config = _with_example({"pairs": [["CCO", "CCCN"]], "steps": 5})
    pairs: list[Pair]
    steps: Annotated[int, Field(ge=2, le=25)] = 7
    """Graphs to decode, with both ends."""
    tries: Tries = 20


class SampleBody(BaseModel):
    """How many new graphs to draw, and what they should be like."""

    model_config = _with_example({"count": 8, "where": ["size=12"], "seed": 0})
    count: Annotated[int, Field(ge=1, le=64)] = 8
    where: Annotated[list[Annotated[str, Field(max_length=60)]], Field(max_length=8)] = []
    """Conditions that the prior of the model knows, such as "size=12" or "logP<3"."""
    seed: Annotated[int, Field(ge=0, le=2**31)] = 0
    """Equal seeds give equal graphs."""
    tries: Tries = 20


class EditBody(BaseModel):
    """Graphs, the property to change, and how similar a result must stay."""

    model_config = _with_example(
        {"graphs": ["CC(=O)Nc1ccc(O)cc1"], "property": "logP", "direction": "raise"}
    )
    graphs: list[Item]
    property: Annotated[str, Field(max_length=60)] = "size"
    """size, edges; of molecules logP, QED, TPSA, weight, rings, any descriptor of RDKit."""
    direction: Literal["raise", "lower"] = "raise"
    min_similarity: Annotated[float, Field(ge=0, le=1)] = 0.0
    """Molecules: Tanimoto of ECFP4 counts. Graphs: 1 - edits / (all nodes and edges)."""
    steps: Annotated[int, Field(ge=1, le=MOST_STEPS)] = 60
    """Steps of the vector along the gradient of a predictor."""
    epsilon: Annotated[float, Field(ge=1e-4, le=0.2)] = 0.01
    """Length of a step, relative to the vector's."""
