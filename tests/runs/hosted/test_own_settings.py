"""Rows with settings of their own, through a hosted API, which knows none of them."""

from __future__ import annotations

from collections.abc import Iterator

import pandas as pd
import pytest
from pandas.testing import assert_frame_equal

import webanalytics as wa
from tests.runs.hosted import cluster
from tests.service.live import Server

SHORT = "3 1 1 0C72AC70B745AC19998811B131D662C9AC69DBDBE7CB23E5B514B566 64C5D3D6"
NAME = "_25._tcp.mail.example.org"


@pytest.fixture(scope="module", autouse=True)
def ending() -> Iterator[None]:
    yield
    cluster.close()


def test_the_service_takes_whole_lines_only(server: Server, pro: str) -> None:
    answer = server.call("POST", "/v1/danevalidator", key=pro, record=SHORT)
    assert answer.status == 400
    assert answer.error.startswith("The `record` parameter must be a TLSA record in the form")
    hosted = wa.Hosted(server.base, pro)
    frame = pd.DataFrame({"data": [SHORT, SHORT], "host": [NAME, None]})
    there = wa.dane(frame, name="host", backend=hosted, progress=False)
    assert there["hostname"].tolist()[0] == "mail.example.org"
    assert there["raw_record"].tolist() == [SHORT, SHORT]
    assert "`name` gives one" in there["error"].tolist()[1]
    same = wa.dane([SHORT], name=NAME, backend=hosted, progress=False)
    assert same["port"].tolist() == [25]


def test_regions_are_applied_before_numbers_are_sent(server: Server, pro: str) -> None:
    numbers = pd.DataFrame(
        {"phone": ["020 7946 0958", "208-581-3945", "08-123 456 78"], "country": ["GB", "us", "Sweden"]}
    )
    there = wa.phones(numbers, region="country", backend=wa.Hosted(server.base, pro), progress=False)
    assert_frame_equal(there, wa.phones(numbers, region="country"), check_flags=False)
    assert there.attrs["credits"]["used"] == 2


def test_a_cluster_answers_the_same() -> None:
    backend = cluster.dask_backend()
    texts = {"a": "The keepers trim the lanterns. The lanterns glow.", "b": None, "c": ""}
    for function in (wa.readability, wa.keywords):
        there = function(texts=texts, language="en", backend=backend, progress=False)
        assert_frame_equal(there, function(texts=texts, language="en"), check_flags=False)
    numbers = pd.DataFrame(
        {"phone": ["020 7946 0958", "208-581-3945", "1"], "country": ["gb", "US", "Sweden"]}
    )
    there = wa.phones(numbers, region="country", backend=backend, progress=False)
    assert_frame_equal(there, wa.phones(numbers, region="country"), check_flags=False)
    short = wa.dane([SHORT], backend=backend, progress=False)
    assert_frame_equal(short, wa.dane([SHORT]), check_flags=False)
