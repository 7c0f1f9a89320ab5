"""The REST API: one route per operation. Rows in, rows out, each with a status and a reason."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter
from starlette.responses import Response

from grale.web import answers, requests
from grale.web.answers import ErrorAnswer, as_json
from grale.web.edits import edit_rows
from grale.web.pairs import interpolate_rows, match_rows
from grale.web.refusals import Refused
from grale.web.samples import sample_rows
from grale.web.service import Service

ERRORS: dict[int | str, dict[str, Any]] = {
    400: {"model": ErrorAnswer, "description": "The body is not JSON."},
    403: {"model": ErrorAnswer, "description": "The request comes from a page of another site."},
    408: {"model": ErrorAnswer, "description": "The body did not arrive in time."},
    413: {"model": ErrorAnswer, "description": "Too many rows, or too many bytes."},
    415: {"model": ErrorAnswer, "description": "The body is not declared as JSON."},
    422: {"model": ErrorAnswer, "description": "The body has another form than described."},
    503: {"model": ErrorAnswer, "description": "Too many requests wait; try again."},
    504: {"model": ErrorAnswer, "description": "No answer within the time limit."},
}


def api(service: Service) -> APIRouter:
    """Routes of the API."""
    router = APIRouter(responses=ERRORS)
    _vectors(router, service)
    _graphs(router, service)
    _slow(router, service)
    _new(router, service)
    _state(router, service)
    return router


def _vectors(router: APIRouter, service: Service) -> None:
    @router.post("/encode", response_model=answers.VectorAnswer)
    async def encode(body: requests.EncodeBody) -> Response:
        """Embed graphs: vectors that decode. To compare graphs, use /describe."""
        rows = await service.batched("encode", body.graphs, body.refine)
        return service.answer("/encode", rows, "latent")

    @router.post("/describe", response_model=answers.VectorAnswer)
    async def describe(body: requests.DescribeBody) -> Response:
        """Describe graphs, or vectors of /encode: similar graphs have near descriptions."""
        if (body.graphs is None) == (body.vectors is None):
            raise Refused(422, "give either graphs or vectors")
        service.check_maker(body.fingerprint)
        items = body.vectors if body.graphs is None else body.graphs
        rows = await service.batched("describe", items or [], body.graphs is None)
        return service.answer("/describe", rows, "description")


def _graphs(router: APIRouter, service: Service) -> None:
    @router.post("/decode", response_model=answers.DecodeAnswer)
    async def decode(body: requests.DecodeBody) -> Response:
        """Decode vectors of /encode to graphs, and to SMILES if the model knows molecules."""
        service.check_maker(body.fingerprint)
        rows = await service.batched("decode", body.vectors, body.tries)
        return service.answer("/decode", rows, "latent")

    @router.post("/reconstruct", response_model=answers.ReconstructAnswer)
    async def reconstruct(body: requests.ReconstructBody) -> Response:
        """Encode and decode graphs, and compare what comes back with what went in."""
        rows = await service.batched("reconstruct", body.graphs, body.refine)
        return service.answer("/reconstruct", rows, "latent")


def _slow(router: APIRouter, service: Service) -> None:
    limits = service.limits

    @router.post("/match", response_model=answers.MatchAnswer)
    async def match(body: requests.MatchBody) -> Response:
        """Match the nodes of two graphs, and list the edits between them."""
        model = service.graphs_model().model
        service.check_rows(body.pairs, limits.max_slow_rows)
        rows = await service.slowly(
            match_rows, model, limits, body.pairs, body.method, body.time_limit
        )
        return service.answer("/match", rows, "latent")

    @router.post("/interpolate", response_model=answers.InterpolateAnswer)
    async def interpolate(body: requests.InterpolateBody) -> Response:
        """Decode points on the straight line between the vectors of two graphs."""
        model = service.graphs_model().model
        service.check_rows(body.pairs, limits.max_slow_rows)
        rows = await service.slowly(
            interpolate_rows, model, limits, body.pairs, body.steps, body.tries
        )
        return service.answer("/interpolate", rows, "latent")

    @router.post("/edit", response_model=answers.EditedAnswer)
    async def edit(body: requests.EditBody) -> Response:
        """Raise or lower a property; graphs that are less similar than allowed are left out."""
        background = service.graphs_model()
        service.check_rows(body.graphs, limits.max_slow_rows)
        options = (body.property, body.direction, body.min_similarity, body.steps, body.epsilon)
        try:
            rows = await service.slowly(edit_rows, background, limits, body.graphs, options)
        except (ValueError, ArithmeticError) as error:  # no such property, or nothing to learn
            raise Refused(422, str(error)) from error
        return service.answer("/edit", rows, "latent")


def _new(router: APIRouter, service: Service) -> None:
    @router.post("/sample", response_model=answers.SampleAnswer)
    async def sample(body: requests.SampleBody) -> Response:
        """Draw new graphs, if the model has a prior; a few of them are not valid."""
        model = service.graphs_model().model
        options = (body.count, body.where, body.seed, body.tries)
        try:
            rows = await service.slowly(sample_rows, model, service.limits, *options)
        except ValueError as error:  # no prior, or a condition that cannot be met
            raise Refused(422, str(error)) from error
        return service.answer("/sample", rows, "latent")


def _state(router: APIRouter, service: Service) -> None:
    @router.get("/model")
    async def model() -> Response:
        """Which model this is, what it can do, and the limits of this server."""
        return as_json(service.described())

    @router.get("/health")
    async def health() -> dict[str, str | int]:
        """Whether the server answers, and how many rows wait for the model."""
        return {"status": "ok", "waiting_rows": service.batcher.waiting_rows}

    @router.get("/metrics", response_class=Response)
    async def metrics() -> Response:
        """Counters in the text format of Prometheus."""
        return Response(service.metrics.text(), media_type="text/plain; version=0.0.4")
