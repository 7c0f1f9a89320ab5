"""Routes that only the page uses: pictures, examples, neighbours, files and maps."""

from __future__ import annotations

import tempfile
from contextlib import suppress
from functools import lru_cache, partial
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from fastapi import APIRouter, Query
from pydantic import BaseModel, ConfigDict, Field
from starlette.concurrency import run_in_threadpool
from starlette.responses import HTMLResponse, Response

from grale.codec.graph_autoencoder import GraphAutoencoder
from grale.data.molecules.columns import listed
from grale.data.samples import sample_graphs
from grale.experiments.figures.map import DatasetMap, write_map
from grale.graphs.graph import Graph
from grale.graphs.molecules.molecule import ELEMENTS, is_molecular
from grale.graphs.molecules.names import BONDS
from grale.model.autoencoder import GRALE
from grale.plot.colouring import Colouring
from grale.plot.look import palette_of
from grale.tasks.map_rows import colour_values
from grale.tasks.project import project
from grale.web.answers import as_json
from grale.web.depict import MOST_DRAWN, picture
from grale.web.limits import Limits
from grale.web.names import property_in, smiles_in
from grale.web.refusals import Refused
from grale.web.requests import Item
from grale.web.rows import OK, Record, as_body, describe_rows, failed, taken
from grale.web.service import Service
from grale.web.sets import BUILT_IN, LONGEST_NAME, GraphSet, GraphSets
from grale.web.strip import strip

LEAST_ON_MAP = 3
KEPT_PAGES = 4
NUM_EXAMPLES = 12
MAP_POLICY = (
    "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; "
    "img-src data: blob:; sandbox allow-scripts allow-downloads; frame-ancestors 'self'"
)


class _Body(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class PicturesBody(_Body):
    """Graphs to draw, and their nodes to mark."""

    graphs: Annotated[list[Item], Field(max_length=64)]
    changed: Annotated[list[list[Annotated[int, Field(ge=0)]]], Field(max_length=64)] = []
    numbered: bool = False
    strip: bool = False
    """Whether the graphs are a row: what neighbours share keeps its place, and what is new beside
    the one before is marked."""


class NeighboursBody(_Body):
    """A graph and the set to look in."""

    graph: Item
    set: str = BUILT_IN
    count: Annotated[int, Field(ge=1, le=24)] = 8


class FileBody(_Body):
    """A file of molecules."""

    name: Annotated[str, Field(max_length=200)]
    text: str


def play(service: Service) -> APIRouter:
    """Routes of the page."""
    router = APIRouter(prefix="/play")
    background = service.graphs_model()
    sets = GraphSets(service.model, background, service.limits)
    pages = lru_cache(KEPT_PAGES)(partial(_map, service, sets))

    @router.get("/look")
    async def look() -> Response:
        """Names and colours of the labels, and graphs to start from."""
        return as_json(await run_in_threadpool(_look, service))

    @router.post("/pictures")
    async def pictures(body: PicturesBody) -> Response:
        """A picture of each graph that the model can take; the others have reasons."""
        if body.strip:
            return as_json(await service.slowly(_strip, background.model, service.limits, body))
        return as_json(await run_in_threadpool(_pictures, service, body))

    @router.post("/neighbours")
    async def neighbours(body: NeighboursBody) -> Response:
        """Graphs of a set whose descriptions are nearest."""
        return as_json(await service.slowly(_neighbours, service, sets, body))

    @router.post("/files")
    async def files(body: FileBody) -> Response:
        """Read a file; its rows can be asked for neighbours and drawn as a map."""
        return as_json(await service.slowly(_add, sets, body))

    @router.get("/map")
    async def drawn_map(
        set: Annotated[str, Query(max_length=40)] = BUILT_IN,
        colour: Annotated[str, Query(max_length=60)] = "size",
        column: Annotated[str | None, Query(max_length=LONGEST_NAME)] = None,
    ) -> Response:
        """A page with the map of a set, coloured by a property or by a column of the file.

        It runs its own script, and nothing else.
        """
        page = await service.slowly(pages, set, colour, column)
        return HTMLResponse(page, headers={"Content-Security-Policy": MAP_POLICY})

    return router


def _look(service: Service) -> Record:
    space = service.model.space
    palette = [[round(255 * part) for part in colour] for colour in palette_of(space)]
    if is_molecular(space):
        names = {"nodes": [*ELEMENTS, "other"], "edges": ["none", *BONDS]}
        return names | {"palette": palette, "examples": []}
    names = {
        "nodes": [f"label {label}" for label in range(space.num_node_labels)],
        "edges": ["none", *(f"label {label + 1}" for label in range(space.num_edge_labels))],
    }
    examples: list[Any] = []
    with suppress(ValueError):  # no generator makes graphs for this model
        examples = [as_body(graph) for graph in sample_graphs(space, NUM_EXAMPLES, None, "test")]
    return names | {"palette": palette, "examples": examples}


def _pictures(service: Service, body: PicturesBody) -> Record:
    model = service.model
    changed = [*body.changed, *[[]] * len(body.graphs)]
    items = zip(taken(body.graphs, model, service.limits), changed)
    return {
        "rows": [
            _not_drawn(item)
            if isinstance(item, str)
            else _drawn(item, picture(item, model.space, nodes, body.numbered), model)
            for item, nodes in items
        ]
    }


def _strip(model: GRALE, limits: Limits, body: PicturesBody) -> Record:
    """Pictures of a row; graphs that the model cannot take are left out of it."""
    items = taken(body.graphs, model, limits)
    row = [item for item in items if isinstance(item, Graph) and item.num_nodes <= MOST_DRAWN]
    drawn = iter(strip(row, model))
    records = []
    for item in items:
        if isinstance(item, str):
            records.append(_not_drawn(item))
            continue
        is_small = item.num_nodes <= MOST_DRAWN
        records.append(_drawn(item, next(drawn) if is_small else picture(item, model.space), model))
    return {"rows": records}


def _drawn(graph: Graph, svg: str, model: GraphAutoencoder) -> Record:
    smiles = smiles_in(graph, model.space)
    return OK | {"svg": svg, "smiles": smiles, "num_nodes": graph.num_nodes}


def _not_drawn(reason: str) -> Record:
    return failed(reason) | {"svg": None, "smiles": None, "num_nodes": None}


def _neighbours(service: Service, sets: GraphSets, body: NeighboursBody) -> Record:
    (record,) = describe_rows(service.model, service.limits, [body.graph], False)
    if record["vector"] is None:
        return record | {"rows": []}
    among = sets.find(body.set)
    rows = [
        {
            "smiles": smiles_in(among.graphs[place], service.model.space),
            "graph": as_body(among.graphs[place]),
            "svg": picture(among.graphs[place], service.model.space),
            "distance": distance,
        }
        for place, distance in among.nearest(record["vector"], body.count)
    ]
    return OK | {"set": among.title, "rows": rows}


def _add(sets: GraphSets, body: FileBody) -> dict[str, Any]:
    key = sets.add(body.name, body.text)
    found = sets.find(key)
    return {
        "set": key,
        "title": found.title,
        "num_rows": found.num_rows,
        "num_taken": len(found.graphs),
        "failures": found.failures[:20],
        "columns": list(found.columns),
    }


def _map(service: Service, sets: GraphSets, name: str, colour: str, column: str | None) -> str:
    """The page of `grale map`."""
    model = service.graphs_model().model
    found = sets.find(name)
    if len(found.graphs) < LEAST_ON_MAP:
        raise Refused(422, f"a map needs at least {LEAST_ON_MAP} molecules that the model can take")
    by = _property(model, found, colour) if column is None else _column(found, column)
    drawn = DatasetMap(found.graphs, project(found.descriptions), [by], found.ids)
    title = f"{found.title}, coloured by {by.name}"
    with tempfile.TemporaryDirectory() as folder:
        page = Path(folder) / "map.html"
        called = str(service.identity["name"])
        return write_map(model, drawn, page, title, name=called).read_text("utf-8")


def _property(model: GRALE, found: GraphSet, name: str) -> Colouring:
    try:
        value = property_in(name, model.space)
    except ValueError as error:
        raise Refused(422, str(error)) from None
    values = np.array([value(graph) for graph in found.graphs])
    if not np.isfinite(values).any():
        raise Refused(422, f"none of these molecules has a {name}")
    return Colouring(name, values)


def _column(found: GraphSet, name: str) -> Colouring:
    if name not in found.columns:
        has = listed(list(found.columns)) or "none"
        raise Refused(422, f"{found.title} has no column {name!r} to colour by; it has {has}")
    return Colouring(name, colour_values(found.columns[name]))
