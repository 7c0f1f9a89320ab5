"""Answers to random bodies are as the description of the API says: schemathesis."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, Phase, given, settings

from grale.web.app import create_app
from grale.web.limits import Limits
from grale.web.service import Service

pytestmark = pytest.mark.slow
EXAMPLES = 15
PATIENCE = 120  # seconds; the tests share their cores
FEW = 4  # of a route that is slow
POSTED = (
    "/encode", "/decode", "/describe", "/reconstruct", "/match", "/interpolate", "/edit", "/sample",
)  # fmt: skip


@pytest.fixture(scope="module")
def schema(molecule_model):
    schemathesis = pytest.importorskip("schemathesis")
    service = Service(
        molecule_model, "tiny", Limits(max_slow_rows=2, timeout=300.0), num_examples=40
    )
    app = create_app(service, hosts=["testserver"])
    return schemathesis.openapi.from_asgi("/openapi.json", app)


@pytest.mark.parametrize("path", [*POSTED, "/model", "/health", "/metrics"])
def test_every_answer_has_the_form_that_is_promised(schema, path: str) -> None:
    from schemathesis.checks import not_a_server_error
    from schemathesis.specs.openapi.checks import (
        content_type_conformance,
        response_schema_conformance,
        status_code_conformance,
    )

    checks = [
        not_a_server_error,
        content_type_conformance,
        response_schema_conformance,
        status_code_conformance,
    ]
    examples = FEW if path == "/edit" else EXAMPLES
    operation = schema[path]["POST" if path in POSTED else "GET"]

    @given(case=operation.as_strategy())
    @settings(
        max_examples=examples, deadline=None, derandomize=True, database=None,
        phases=[Phase.explicit, Phase.generate], suppress_health_check=list(HealthCheck),
    )  # fmt: skip
    def check(case) -> None:
        case.call_and_validate(checks=checks, timeout=PATIENCE)

    check()
