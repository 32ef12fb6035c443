"""The row contract: one row per input, in order, whatever happens to each."""

from __future__ import annotations

import socket
import traceback
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

import webanalytics as wa
from tests.answers import rows_of
from webanalytics.fetching.testing import Reply, SiteServer
from webanalytics.operations import AUDIT, OPERATIONS

PAGE = (
    "<html lang=en><title>{0}</title><h1>{0}</h1><p>" + "The quick brown fox jumps over the lazy dog. " * 12
)
LOCAL = {"allow_private": True, "retries": 0}


@pytest.fixture(scope="module")
def site():
    pages: dict[str, bytes | Reply] = {
        "/": PAGE.format("Home").encode(),
        "/a,b.html": PAGE.format("Comma").encode(),
        "/old": Reply(302, {"Location": "/"}),
        "/secret/x": PAGE.format("Secret").encode(),
        "/robots.txt": Reply(
            headers={"Content-Type": "text/plain"}, body=b"User-agent: *\nDisallow: /secret/\n"
        ),
    }
    with SiteServer(pages) as server:
        yield server


@pytest.fixture
def silent_server():
    """A server that accepts and never answers."""
    with socket.create_server(("127.0.0.1", 0), backlog=16) as listener:
        yield f"http://127.0.0.1:{listener.getsockname()[1]}/"


def test_eight_awkward_inputs_eight_rows(site: SiteServer, silent_server: str) -> None:
    urls = [
        f"{site.url}/",
        f"{site.url}/",
        f"{site.url}/a,b.html",
        f"{site.url}/old",
        f"{site.url}/secret/x",
        silent_server,
        f"{site.url}/nothing-here",
        "http://no-such-host.invalid/",
    ]
    before = len(site.requests)
    frame = wa.audit(pd.Series(urls, index=list("abcdefgh")), timeout=10.0, **LOCAL)
    assert frame.raw.index.tolist() == list("abcdefgh")
    assert frame.raw["url"].tolist() == urls
    assert frame.raw["status"].tolist() == ["ok"] * 4 + ["error"] * 4
    assert frame.raw["error_type"].tolist()[4:] == ["robots", "timeout", "http", "dns"]
    assert frame.raw["title"].tolist()[:4] == ["Home", "Home", "Comma", "Home"]
    assert frame.raw.loc["d", "final_url"] == f"{site.url}/"
    assert frame.raw.loc["d", "redirects"] == [f"{site.url}/old"]
    assert frame.raw["http_status"].tolist()[:4] == [200] * 4
    assert frame.raw.loc["g", "http_status"] == 404
    assert frame.raw["error"].tolist()[4:] == [
        "The site's robots.txt forbids fetching the page; `robots=False` fetches it all the same.",
        "The page did not arrive within 10 seconds; `timeout=` sets how long to wait.",
        "The page answered HTTP 404.",
        "The host does not exist.",
    ]
    assert frame.raw["error_key"].tolist()[4:] == ["robots", "timeout", "status", "unknown_host"]
    asked = [request.target for request in list(site.requests)[before:]]
    assert asked.count("/") == 2, "the duplicate is fetched once, the redirect's target once more"


def test_a_url_with_a_comma_from_a_csv_file(site: SiteServer, tmp_path: Path) -> None:
    file = tmp_path / "urls.csv"
    file.write_text(f'name,url\n"x, y","{site.url}/a,b.html"\n')
    frame = wa.metadata(pd.read_csv(file), **LOCAL)
    assert frame.loc[0, "title"] == "Comma"


@pytest.mark.parametrize("name", ["metadata", "text", "readability", "keywords", "audit"])
def test_columns_and_dtypes_do_not_depend_on_the_rows(site: SiteServer, name: str) -> None:
    function = getattr(wa, name)
    good = rows_of(function([f"{site.url}/"], **LOCAL))
    bad = rows_of(function(["nonsense", None, f"{site.url}/nothing-here"], **LOCAL))
    mixed = rows_of(function([f"{site.url}/", "nonsense"], **LOCAL))
    empty = rows_of(function([], **LOCAL))
    for other in (bad, mixed, empty):
        assert other.dtypes.to_dict() == good.dtypes.to_dict()
        assert other.columns.tolist() == good.columns.tolist()
    assert len(empty) == 0
    assert bad["error_type"].tolist() == ["invalid", "invalid", "http"]


def test_record_frames_have_one_schema_too() -> None:
    record = "_443._tcp.a.example. 3600 IN TLSA 3 1 1 " + "ab" * 32
    for function, good, bad, more in (
        (wa.dane, record, "no record", {}),
        (wa.hmac, "a", None, {"secret": "k"}),
        (wa.phones, "+12085813945", "x", {}),
        (wa.phones, "+12085813945", "x", {"details": False}),
    ):
        frames = [function(rows, **more) for rows in ([good], [bad], [good, bad], [])]
        assert len({tuple(frame.dtypes.items()) for frame in frames}) == 1
        assert [frame["status"].tolist() for frame in frames] == [["ok"], ["error"], ["ok", "error"], []]


def test_missing_strings_are_nan_and_empty_ones_are_empty(site: SiteServer) -> None:
    frame = wa.metadata([f"{site.url}/", "nonsense"], **LOCAL)
    assert frame["author"].tolist()[0] == ""
    assert pd.isna(frame["author"].tolist()[1])
    assert frame["headings"].tolist()[0] == [{"level": "h1", "text": "Home"}]
    assert pd.isna(frame["headings"].tolist()[1])


def test_attrs_are_tiny(site: SiteServer) -> None:
    frame = wa.metadata([f"{site.url}/"], **LOCAL)
    assert frame.attrs == {"webanalytics": {"operation": "metadata", "version": wa.__version__, "schema": 1}}


def test_body_is_filled_only_when_asked_for(site: SiteServer) -> None:
    url = f"{site.url}/"
    assert wa.metadata(url, **LOCAL).loc[0, "responseBody"] == ""
    assert wa.metadata(url, body=True, **LOCAL).loc[0, "responseBody"] == PAGE.format("Home")
    assert wa.audit(url, body=True, **LOCAL).raw.loc[0, "responseBody"] == PAGE.format("Home")


def test_all_page_frames_join_on_url(site: SiteServer) -> None:
    urls = [f"{site.url}/", f"{site.url}/old"]
    frames = [getattr(wa, name)(urls, **LOCAL) for name in ("metadata", "text", "readability")]
    joined = (
        frames[0]
        .merge(frames[1], on="url", suffixes=("", "_text"))
        .merge(frames[2], on="url", suffixes=("", "_r"))
    )
    assert joined["url"].tolist() == urls
    assert joined["wordCount"].gt(100).all()


def test_an_audit_is_its_four_operations(site: SiteServer) -> None:
    url = f"{site.url}/a,b.html"
    audit = wa.audit(url, **LOCAL).raw.iloc[0]
    for name in ("metadata", "text", "readability"):
        single = getattr(wa, name)(url, **LOCAL).iloc[0]
        for field in (field for field in OPERATIONS[name].columns if field.audited):
            assert repr(audit[field.audit_name]) == repr(single[field.column_name]), field.name
    words = wa.keywords(url, **LOCAL)
    assert audit["keywords"] == dict(zip(words["keyword"], words["frequency"], strict=True))
    assert audit["keywords"]["quick"] == 12
    assert {operation.name for operation in AUDIT} == {"metadata", "text", "readability", "keywords"}


def test_keywords_are_tidy(site: SiteServer) -> None:
    blank = pd.DataFrame({"url": ["http://a.example/"], "html": ["<title></title>"]}, index=["blank"])
    frame = wa.keywords(blank)
    assert frame.index.tolist() == ["blank"]
    assert frame[["keyword", "frequency", "density", "status"]].values.tolist() == [["", 0, 0.0, "ok"]]
    rows = wa.keywords(pd.Series([f"{site.url}/", "nonsense"], index=[5, 9]), top=3, **LOCAL)
    assert rows.index.tolist() == [5, 5, 5, 9]
    assert rows["rank"].tolist()[:3] == [1, 2, 3]
    assert rows["keyword"].tolist()[3] == ""
    assert pd.isna(rows["frequency"].tolist()[3])
    assert rows["error_type"].tolist()[3] == "invalid"


def test_saved_pages_are_not_fetched(tmp_path: Path) -> None:
    file = tmp_path / "page.html"
    file.write_bytes(PAGE.format("Saved").encode())
    frame = wa.metadata([str(file), file])
    assert frame["title"].tolist() == ["Saved", "Saved"]
    assert frame["url"].tolist() == [str(file)] * 2
    pages = pd.DataFrame({"url": ["https://a.example/x"], "html": ["<link rel=canonical href=/y>"]})
    assert wa.metadata(pages).loc[0, "canonical"] == "https://a.example/y"


def test_a_hanging_parser_costs_its_own_row() -> None:
    good = "<title>fine</title>"
    html = [good] * 10 + ["<ul><li>" * 400_000] + [good] * 10
    frame = wa.audit(
        pd.DataFrame({"url": [f"http://a.example/{n}" for n in range(21)], "html": html}), parse_timeout=4
    )
    assert frame.raw["title"].drop(10).eq("fine").all()


@pytest.mark.parametrize("name", ["metadata", "text", "readability", "keywords", "audit"])
def test_private_addresses_are_refused_by_default(site: SiteServer, name: str) -> None:
    frame = rows_of(getattr(wa, name)(f"{site.url}/"))
    assert frame.loc[0, "error_type"] == "blocked"


def test_a_wrong_call_does_no_work(site: SiteServer) -> None:
    before = len(site.requests)
    for call in (
        lambda: wa.keywords(f"{site.url}/", ngrams=4, **LOCAL),
        lambda: wa.metadata(pd.DataFrame({"a": [f"{site.url}/"]}), column="b", **LOCAL),
        lambda: wa.convert([f"{site.url}/x.png"], "webp", quality=0, **LOCAL),
        lambda: wa.convert([f"{site.url}/x.png"], "bmp", **LOCAL),
    ):
        with pytest.raises(wa.ParameterError):
            call()
    assert len(site.requests) == before


@pytest.mark.parametrize(
    "call",
    [
        lambda: wa.dane(5),
        lambda: wa.dane({"a": 1}),
        lambda: wa.hmac(None, secret="k"),
        lambda: wa.keywords([], stop_words="xx"),
        lambda: wa.keywords([], stop_words=5),
        lambda: wa.convert([b"x"], "webp", save_to=5),
        lambda: wa.phones(5),
        lambda: wa.phones([], region="Sweden"),
    ],
)
def test_a_wrong_call_is_a_parameter_error(call: Callable[[], object]) -> None:
    with pytest.raises(wa.ParameterError, match=r"^The `"):
        call()


def test_missing_and_wrong_inputs_are_told_apart() -> None:
    for function, parameter, inputs in (
        (lambda rows: wa.convert(rows, "webp"), "image", "images"),
        (wa.metadata, "url", "urls"),
        (wa.dane, "record", "records"),
        (lambda rows: wa.hmac(rows, secret="k"), "message", "messages"),
    ):
        with pytest.raises(wa.ParameterError, match=f"`{inputs}` parameter must hold .* not float"):
            function([None, 5.5])
        frame = function([None, 5.5, "x"])
        assert frame["error_type"].tolist()[:2] == ["invalid", "invalid"]
        assert frame["error"].tolist()[0] == f"The `{parameter}` parameter is required."
        assert frame["error"].tolist()[1].startswith(f"The `{parameter}` parameter must be ")


def test_sizes_of_saved_pages_are_bytes() -> None:
    page = pd.DataFrame({"url": ["http://a.example/"], "html": ["é" * 1000]})
    assert wa.metadata(page).loc[0, "bytes"] == 2000
    assert wa.metadata(page, max_download=1500).loc[0, "error_type"] == "too_large"


def test_a_traceback_with_variables_shows_no_secret() -> None:
    secret = "hunter" + "2"
    try:
        wa.hmac(["a"], secret=secret, algorithm="sha3")
    except wa.ParameterError as error:
        shown = traceback.TracebackException.from_exception(error, capture_locals=True)
        frames = [frame for frame in shown.stack if frame.filename != __file__]
        assert frames
        assert not any("hunter2" in str(frame.locals) for frame in frames)


def test_no_exception_shows_a_secret() -> None:
    with pytest.raises(wa.ParameterError) as caught:
        wa.hmac(["a"], secret="hunter2", algorithm="sha3")
    assert "hunter2" not in f"{caught.value!r}"
    frame = wa.hmac(["a", "\ud800"], secret="hunter2")
    assert "hunter2" not in frame.to_json()
    assert frame["error_type"].tolist()[1] == "invalid"
    with pytest.raises(wa.ParameterError, match="`secret` parameter is required"):
        wa.hmac(["a"], secret="")
