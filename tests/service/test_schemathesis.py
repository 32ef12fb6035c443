"""The live service against its own OpenAPI document, by requests that another program makes up."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator

import pytest

from tests.service.live import Server
from webanalytics.operations import OPERATIONS

CONFORMANCE = (
    "not_a_server_error",
    "status_code_conformance",
    "content_type_conformance",
    "response_headers_conformance",
    "response_schema_conformance",
    "ignored_auth",
)


# A made-up host whose look-up takes too long is a 503, as the specification says; a 500 is a fault.
CONFIG = """
[checks.not_a_server_error]
expected-statuses = ["2xx", "3xx", "4xx", "503"]
"""


@pytest.fixture(scope="module")
def guarded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A service as it is by default: URLs made up by the tests lead nowhere, and soon."""
    quick = {"WEBANALYTICS_CONNECT_TIMEOUT": "0.5", "WEBANALYTICS_FETCH_TIMEOUT": "1.0"}
    folder = tmp_path_factory.mktemp("guarded")
    with Server(folder, options=("--workers", "1"), environment=quick) as server:
        yield server


def schemathesis(server: Server, plan: str, checks: tuple[str, ...], *options: str) -> str:
    """Run schemathesis and return what it printed; it exits with 1 for any failed check."""
    config = server.folder / "schemathesis.toml"
    config.write_text(CONFIG, "utf-8")
    command = [sys.executable, "-m", "schemathesis.cli", "--config-file", str(config), "run"]
    command += [f"{server.base}/v1/openapi.json"]
    command += [
        "--checks",
        ",".join(checks),
        "--header",
        f"x-api-key: {server.key(plan=plan)}",
        "--seed",
        "7",
    ]
    command += ["--no-color", "--request-timeout", "30", *options]
    done = subprocess.run(command, capture_output=True, text=True, cwd=server.folder, timeout=600)
    assert done.returncode == 0, done.stdout[-5000:]
    return done.stdout


def test_no_failure_of_the_server_and_no_answer_outside_its_schema(guarded: Server) -> None:
    told = schemathesis(guarded, "mega", CONFORMANCE, "--max-examples", "20")
    assert (
        f"Tested: {2 * len(OPERATIONS) + 5}" in told
    )  # each alone and in a batch; GraphQL and what is public


def test_answers_of_the_free_plan_are_in_the_schema(guarded: Server) -> None:
    schemathesis(guarded, "free", CONFORMANCE, "--max-examples", "4")


def test_requests_outside_the_schema_are_refused(guarded: Server) -> None:
    checks = ("negative_data_rejection", "not_a_server_error")
    # in a batch each input is refused by itself
    schemathesis(
        guarded,
        "mega",
        checks,
        "--exclude-path-regex",
        "/batch$",
        "--max-examples",
        "20",
        "--mode",
        "negative",
    )
