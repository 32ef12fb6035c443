"""Converted images are fetched from where the API offers them, patiently, and with no trust in its answer."""

from __future__ import annotations

import io
from collections.abc import Callable
from typing import Any

import pytest
from PIL import Image

import webanalytics as wa
from tests.runs.hosted.proxy import (
    Fault,
    Proxy,
    Record,
    away,
    cut_before,
    endless,
    half_body,
    html_403,
    json_of,
    not_found,
    redirect,
    server_failure,
    status,
    unavailable,
)
from webanalytics.fetching.testing import Reply, SiteServer
from webanalytics.runs.backends.hosted import answers

Make = Callable[..., wa.Hosted]


def picture(size: tuple[int, int] = (30, 20), kind: str = "png") -> bytes:
    file = io.BytesIO()
    Image.new("RGB", size, "navy").save(file, kind)
    return file.getvalue()


def convert(backend: Any, **options: Any) -> Any:
    return wa.convert([picture()], "webp", lossless=False, backend=backend, progress=False, **options)


def on_download(*faults: Fault) -> Callable[[Record], Fault | None]:
    """Return a rule that lets uploads pass, and does something with one download after the other."""
    left = list(faults)
    return lambda record: left.pop(0) if record.method == "GET" and left else None


@pytest.mark.parametrize(
    "faults",
    [
        [cut_before()],
        [half_body()],
        [server_failure(), unavailable()],
        [status(502, ""), status(504, "")],
        [away(0.5)],
        [status(429, "Slower.")],
    ],
)
def test_a_download_that_breaks_is_tried_again(proxy: Proxy, hosted: Make, faults: list[Fault]) -> None:
    proxy.rule(on_download(*faults))
    frame = convert(hosted())
    assert frame["content"].tolist() == convert(None)["content"].tolist()
    assert [record.method for record in proxy.requests].count("POST") == 1
    assert [record.headers.get("x-api-key") for record in proxy.requests if record.method == "GET"] == [
        None
    ] * (len(faults) + 1)


@pytest.mark.parametrize(
    "fault", [not_found(), html_403(), redirect("http://127.0.0.1:1/"), status(410, "Gone.")]
)
def test_an_image_that_is_gone_keeps_its_row_and_link(proxy: Proxy, hosted: Make, fault: Fault) -> None:
    proxy.rule(on_download(fault))
    frame = convert(hosted())
    assert frame["status"].tolist() == ["ok"]
    assert frame[["content", "path", "width", "height", "frames"]].isna().all(axis=None)
    assert frame["downloadURL"][0].startswith(proxy.base)
    assert frame["outputSize"][0] > 0
    assert frame.attrs["credits"]["used"] == 5
    assert [record.method for record in proxy.requests] == ["POST", "GET"]


def test_a_download_ends_with_the_patience(proxy: Proxy, hosted: Make) -> None:
    proxy.rule(lambda record: server_failure() if record.method == "GET" else None)
    frame = convert(hosted(patience=0.5))
    assert frame["content"].isna().all()
    assert 3 < len(proxy.requests) < 30


def test_an_endless_download_is_left(proxy: Proxy, hosted: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answers, "MOST_BYTES", 500_000)
    proxy.rule(on_download(endless()))
    assert convert(hosted())["content"].isna().all()


def answer(**data: Any) -> Fault:
    """Return a conversion's answer as the proxy makes it up."""
    known = {"id": "1", "inputFormat": "png", "outputFormat": "webp", "inputSize": 9, "outputSize": 8,
             "mimeType": "image/webp", "expires": 1, "downloadURL": "http://127.0.0.1:1/a.webp"}  # fmt: skip
    return json_of({"status": "ok", "error": None, "code": 200, "data": {**known, **data}})


@pytest.mark.parametrize(
    "link", [None, "", "file:///etc/passwd", "//x", "http://[::1", "data:,x", "http://127.0.0.1:99999/"]
)
def test_a_link_that_is_none_is_not_followed(proxy: Proxy, hosted: Make, link: Any) -> None:
    proxy.plan(answer(downloadURL=link))
    frame = convert(hosted())
    assert frame["status"].tolist() == ["ok"]
    assert frame["content"].isna().all()
    assert len(proxy.requests) == 1


@pytest.mark.parametrize("link", [7, ["http://a"]])
def test_a_link_that_is_no_text_is_no_answer(proxy: Proxy, hosted: Make, link: Any) -> None:
    proxy.plan(answer(downloadURL=link))
    assert convert(hosted())["error_type"].tolist() == ["service"]
    assert len(proxy.requests) == 1


@pytest.mark.parametrize(("allowed", "got"), [(False, False), (True, True)])
def test_links_to_other_hosts_go_through_the_guard(
    proxy: Proxy, hosted: Make, allowed: bool, got: bool
) -> None:
    """A service could otherwise have its clients ask machines that only they can reach."""
    content = picture(kind="webp")
    with SiteServer(
        {"/a.png": Reply(200, {"Content-Type": "image/webp"}, content)}, host="127.0.0.2"
    ) as other:
        proxy.plan(answer(downloadURL=other.url + "/a.png"))
        frame = convert(hosted(), allow_private=allowed)
        assert ("/a.png" in [request.target for request in other.requests]) is got
        assert all("x-api-key" not in request.headers for request in other.requests)
    assert frame["content"].tolist()[0] == content if got else frame["content"].isna().all()


def test_columns_of_this_machine_are_not_taken_from_an_answer(proxy: Proxy, hosted: Make) -> None:
    proxy.plan(
        answer(
            downloadURL=None,
            content="text",
            path="/etc/passwd",
            width=7,
            saved_share=3.0,
            outputFormat="../x",
        )
    )
    frame = convert(hosted())
    assert frame[["content", "path", "width", "outputFormat"]].isna().all(axis=None)
    assert frame["saved"].tolist() == [1]


def test_what_is_no_image_is_a_row(proxy: Proxy, hosted: Make) -> None:
    proxy.rule(on_download(json_of("no image")))
    frame = convert(hosted())
    assert frame["error_type"].tolist() == ["service"]
    assert "leads to no image" in frame["error"][0]
    assert frame[["content", "width", "height", "frames"]].isna().all(axis=None)
