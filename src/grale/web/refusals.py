"""Errors of requests: one sentence, a status, and nothing about this machine."""

from __future__ import annotations

import logging
from typing import Any

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import JSONResponse
from starlette.exceptions import HTTPException

logger = logging.getLogger(__name__)
RETRY_AFTER = "1"  # seconds, of a server that is busy


class Refused(Exception):
    """A request that is not answered as asked, with the status of HTTP and the reason."""

    def __init__(self, status: int, reason: str) -> None:
        super().__init__(reason)
        self.status, self.reason = status, reason


def refusal(status: int, reason: str) -> JSONResponse:
    """The answer to a request that is refused."""
    headers = {"Retry-After": RETRY_AFTER} if status == 503 else None
    return JSONResponse({"error": reason}, status, headers=headers)


def add_handlers(app: FastAPI) -> None:
    """Make every error of the application such an answer."""

    @app.exception_handler(Refused)
    async def _refused(_: Request, error: Refused) -> JSONResponse:
        return refusal(error.status, error.reason)

    @app.exception_handler(RequestValidationError)
    async def _invalid(_: Request, error: RequestValidationError) -> JSONResponse:
        return refusal(422, _first_of(error.errors()))

    @app.exception_handler(HTTPException)
    async def _http(_: Request, error: HTTPException) -> JSONResponse:
        answer = refusal(error.status_code, str(error.detail))
        answer.headers.update(error.headers or {})
        return answer

    @app.exception_handler(Exception)
    async def _unexpected(request: Request, error: Exception) -> JSONResponse:
        logger.error("unexpected error in %s", request.url.path, exc_info=error)
        return refusal(500, "an unexpected error; the log of the server has the details")


def _first_of(errors: Any) -> str:
    """Say where the first mistake of a body is, and what it is."""
    first = errors[0]
    place = ".".join(str(part) for part in first["loc"])
    more = f" (and {len(errors) - 1} more)" if len(errors) > 1 else ""
    return f"{place[:200]}: {first['msg']}{more}"
