"""The application: guard, counters, API, and the page if it is wanted."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager
from pathlib import Path

from fastapi import FastAPI
from starlette.responses import FileResponse, Response
from starlette.staticfiles import StaticFiles

from grale.web.api import api
from grale.web.guard import Guard
from grale.web.metrics import Counted
from grale.web.play import play
from grale.web.refusals import add_handlers
from grale.web.service import Service

STATIC = Path(__file__).resolve().parent / "static"
ABOUT = (
    "Graphs to vectors and back. Each row of a request gives one row of the answer, in order, with "
    "a status (ok, failed, invalid) and a reason."
)


def create_app(service: Service, with_page: bool = False, hosts: Iterable[str] = ()) -> FastAPI:
    """Build the application of a service; `hosts` are names it may be called by."""

    @asynccontextmanager
    async def lifespan(_: FastAPI) -> AsyncIterator[None]:
        yield
        await service.close()

    app = FastAPI(
        title="grale", version=service.package, description=ABOUT,
        docs_url=None, redoc_url=None, lifespan=lifespan,
    )  # fmt: skip
    add_handlers(app)
    app.include_router(api(service))
    if with_page:
        app.include_router(play(service), include_in_schema=False)
    start = "index.html" if with_page else "docs.html"

    @app.get("/", include_in_schema=False)
    async def home() -> Response:
        return FileResponse(STATIC / start)

    @app.get("/docs", include_in_schema=False)
    async def docs() -> Response:
        return FileResponse(STATIC / "docs.html")

    app.mount("/static", StaticFiles(directory=STATIC))
    app.add_middleware(Guard, limits=service.limits, hosts=tuple(hosts))
    app.add_middleware(Counted, metrics=service.metrics)
    return app
