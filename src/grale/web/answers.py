"""Answers: one row for each row of the request, in order, with a status and a reason.

Each answer says which model made it, in which version of the package, and what its vectors are.
"""

from __future__ import annotations

from typing import Any, Literal

import orjson
from pydantic import BaseModel
from starlette.responses import Response

Status = Literal["ok", "failed", "invalid"]


class ModelName(BaseModel):
    """Which model it was."""

    name: str
    version: str | None
    fingerprint: str | None
    """Checksum of settings and weights."""
    architecture: str


class Row(BaseModel):
    """What all rows have; `failed`: not taken, `invalid`: the result is not a molecule."""

    row: int
    status: Status
    reason: str | None
    """Why it is not ok, in one sentence."""


class GraphAnswer(BaseModel):
    """A graph with integer labels."""

    node_labels: list[int]
    edges: list[list[int]]
    edge_labels: list[int]
    directed: bool


class VectorRow(Row):
    """A vector, if there is one."""

    vector: list[float] | None


class GraphRow(Row):
    """A graph, if there is one; its SMILES, if it is a valid molecule."""

    smiles: str | None
    graph: GraphAnswer | None


class ReconstructedRow(GraphRow):
    """A reconstruction, compared with its graph."""

    exact: bool | None
    edit_distance: int | None
    """At most this many edits turn one into the other."""


class EditAnswer(BaseModel):
    """One edit between two graphs."""

    kind: str
    where: list[int]
    before: int | None
    after: int | None
    text: str


class MatchedRow(Row):
    """Which node of the second graph plays each node of the first, or -1."""

    mapping: list[int] | None
    edit_distance: int | None
    is_optimal: bool | None
    edits: list[EditAnswer] | None


class PathPoint(BaseModel):
    """A graph on the way between two."""

    position: float
    smiles: str | None
    graph: GraphAnswer


class PathRow(Row):
    """The way between two graphs."""

    points: list[PathPoint] | None


class EditPoint(BaseModel):
    """A graph on the way of an edit."""

    step: int
    smiles: str | None
    graph: GraphAnswer
    predicted: float | None
    value: float | None
    """The property of the graph itself."""
    similarity: float


class EditedRow(Row):
    """Distinct graphs on the way of an edit that are similar enough; the first is the start."""

    points: list[EditPoint] | None
    left_out: int | None
    """Graphs that were not similar enough, or not valid molecules."""
    r2: float | None
    """Of the predictor that was followed, on graphs that it did not see."""


class SampledRow(GraphRow):
    """A new graph."""

    meets: bool
    """Whether it is valid and as it was asked for."""


class Answer(BaseModel):
    """What all answers have."""

    model: ModelName
    package: str
    """Version of grale."""
    reading: Literal["latent", "description"]
    """`latent` vectors decode; `description` vectors are to be compared."""


class VectorAnswer(Answer):
    """Answer of /encode and /describe."""

    rows: list[VectorRow]


class DecodeAnswer(Answer):
    """Answer of /decode."""

    rows: list[GraphRow]


class ReconstructAnswer(Answer):
    """Answer of /reconstruct."""

    rows: list[ReconstructedRow]


class MatchAnswer(Answer):
    """Answer of /match."""

    rows: list[MatchedRow]


class InterpolateAnswer(Answer):
    """Answer of /interpolate."""

    rows: list[PathRow]


class EditedAnswer(Answer):
    """Answer of /edit."""

    rows: list[EditedRow]


class SampleAnswer(Answer):
    """Answer of /sample."""

    rows: list[SampledRow]


class ErrorAnswer(BaseModel):
    """Why a request was refused, in one sentence."""

    error: str


def as_json(values: Any, status: int = 200) -> Response:
    """Numbers, arrays and text as JSON; a number that is not finite is null."""
    content = orjson.dumps(values, option=orjson.OPT_SERIALIZE_NUMPY)
    return Response(content, status, media_type="application/json")
