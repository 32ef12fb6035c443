"""Words are no protocol: a service whose every sentence is another one is a service like any other."""

from __future__ import annotations

import re
import string
from collections.abc import Callable, Iterator, Mapping

import pandas as pd
import pytest

import webanalytics as wa
from tests.runs.hosted.calls import KEY, credits_left, sign
from tests.runs.hosted.conftest import OPTIONS as SERVICE_OPTIONS
from tests.runs.hosted.contract import ODD_PAGES, Case, Material
from tests.runs.hosted.proxy import Proxy
from tests.runs.hosted.test_contract import assert_same, called, named
from tests.runs.hosted.test_errors import KEYS
from tests.service.live import Server
from webanalytics.audits.graph.site_links import fetch_outcome
from webanalytics.core import messages
from webanalytics.errors import HostedError
from webanalytics.fetching.testing import SampleSite, SiteServer

REWORD = '''"""Started with the interpreter of the service and of its workers: no sentence keeps a word."""
import string

from webanalytics.core import messages
from webanalytics.audits.graph.site_links import fetch_outcome


def reworded(key, template):
    shown = [name for _, name, _, _ in string.Formatter().parse(template) if name and name != "names"]
    return f"<{key}> " + " ".join("{%s}" % name for name in dict.fromkeys(shown))


messages.MESSAGES = {
    key: (kind, reworded(key, template)) for key, (kind, template) in messages.MESSAGES.items()
}
'''
SAID = re.compile(r"<(\w+)> ")

CASES = [
    *(("metadata", name) for name in ("sample site", "bad URLs", "odd pages")),
    ("text", "odd pages"),
    ("keywords", "bad URLs"),
    ("audit", "bad URLs"),
    *((function, "good and bad") for function in ("dane", "hmac", "phones", "convert")),
]


@pytest.fixture(scope="module")
def reworded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A service that says everything in other words, and keeps only small answers for a key."""
    folder = tmp_path_factory.mktemp("reworded")
    (folder / "sitecustomize.py").write_text(REWORD)
    options = (*SERVICE_OPTIONS, "--saved-bytes", "60000")
    with Server(folder, options, environment={"PYTHONPATH": str(folder)}) as running:
        yield running


@pytest.fixture(scope="module")
def material(site: SampleSite, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Material]:
    with SiteServer(ODD_PAGES) as odd:
        yield Material(site, odd, tmp_path_factory.mktemp("pictures"))


def test_every_sentence_is_another_one(reworded: Server) -> None:
    got = reworded.post("/v1/hmac", reworded.key(), message="m")
    assert got.error == "<required> secret"
    assert (got.headers["x-error-type"], got.headers["x-error-key"]) == ("invalid", "required")
    got = reworded.post("/v1/websitetotext", reworded.key(), url="http://no-such-host.invalid/")
    assert got.error == "<unknown_host> url"
    assert (got.headers["x-error-type"], got.headers["x-error-key"]) == ("dns", "unknown_host")
    got = reworded.post("/v1/hmac", KEY, message="m")
    assert (got.status, got.error, got.headers["x-error-type"]) == (401, "<unauthorized> ", None)


@pytest.mark.parametrize(("function", "name"), CASES)
def test_the_rows_are_the_same_but_for_the_words(
    reworded: Server, material: Material, function: str, name: str
) -> None:
    case: Case = named(function, name)
    wanted = called(case, material)
    got = called(case, material, wa.Hosted(reworded.base, reworded.key(), concurrency=3))
    assert_same(_without_words(got), _without_words(wanted), function, "hosted")
    said = got["error"].dropna()
    if function not in ("hmac", "phones"):  # whose wrong inputs are not sent at all
        assert said.str.match(SAID).any()


def _without_words(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.assign(error=frame["error"].notna())


def test_retries_and_smaller_requests_are_the_same(reworded: Server, site: SampleSite, quick: None) -> None:
    """An answer without room for an item goes on in further requests, one too large in one without a key."""
    key = reworded.key()
    before = credits_left(reworded, key)
    big = b"<title>Big</title><p>" + b"many words " * 8000
    options = {"body": True, "allow_private": True, "progress": False, "retries": 0}
    with Proxy(reworded.base) as proxy, SiteServer({"/big": big, "/small": b"<title>Small</title>"}) as odd:
        urls = [*site.pages, odd.url + "/big", odd.url + "/small"]
        frame = wa.metadata(urls, backend=wa.Hosted(proxy.base, key, concurrency=2), **options)
        wanted = wa.metadata(urls, **options)
    assert frame["responseBody"].equals(wanted["responseBody"])
    assert frame["error_type"].equals(wanted["error_type"])
    good = int(frame["status"].eq("ok").sum())
    assert before - credits_left(reworded, key) == 2 * good
    without = [record.json for record in proxy.requests if "Idempotency-Key" not in record.headers]
    assert without == [{"url": odd.url + "/big"}]


@pytest.mark.parametrize(("make_key", "kind", "code"), KEYS.values(), ids=KEYS)
def test_refused_keys_are_the_same(
    reworded: Server, make_key: Callable[[Server], str], kind: type[HostedError], code: int
) -> None:
    with pytest.raises(HostedError) as caught:
        sign(3, wa.Hosted(reworded.base, make_key(reworded), patience=5))
    assert (type(caught.value), caught.value.status) == (kind, code)


def test_batches_and_queries_name_what_failed(reworded: Server, material: Material) -> None:
    key = reworded.key()
    inputs = [{"url": material.odd.url + path} for path in ("/plain", "/gone", "/away")] + [{}, 7]
    results = reworded.post("/v1/websitetotext/batch", key, inputs=inputs).data["results"]
    assert [(item["statusCode"], item.get("errorType"), item.get("errorKey")) for item in results] == [
        (200, None, None),
        (400, "http", "status"),
        (503, "http", "status"),
        (400, "invalid", "required"),
        (400, "invalid", "batch_objects"),
    ]
    query = '{ disposablephone(input: {phone: "x"}) { isDisposable } }'
    (error,) = reworded.post("/v1/graphql", key, query=query).json["errors"]
    assert error["extensions"] == {"statusCode": 400, "errorType": "invalid", "errorKey": "must_be"}


# ------------------------------------------------------------------ on this machine


@pytest.fixture
def other_words(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Reword this process: its workers send keys, and what is shown is worded here."""
    monkeypatch.setattr(messages, "MESSAGES", _reworded())
    messages._patterns.cache_clear()
    yield
    monkeypatch.undo()
    messages._patterns.cache_clear()


def _reworded() -> Mapping[str, tuple[messages.ErrorType | None, str]]:
    def words(key: str, template: str) -> str:
        shown = [name for _, name, _, _ in string.Formatter().parse(template) if name and name != "names"]
        return f"<{key}> " + " ".join(f"{{{name}}}" for name in dict.fromkeys(shown))

    return {key: (kind, words(key, template)) for key, (kind, template) in messages.MESSAGES.items()}


@pytest.fixture(scope="module")
def before(material: Material) -> Mapping[str, pd.DataFrame]:
    cases = [named(*case) for case in CASES if case[1] != "sample site"]
    return {str(case): called(case, material) for case in cases}


@pytest.mark.parametrize(("function", "name"), [case for case in CASES if case[1] != "sample site"])
def test_local_rows_are_the_same_but_for_the_words(
    material: Material, before: Mapping[str, pd.DataFrame], other_words: None, function: str, name: str
) -> None:
    case = named(function, name)
    got = called(case, material)
    assert_same(_without_words(got), _without_words(before[str(case)]), function, "local")
    assert got["error"].dropna().str.match(SAID).all()


def test_an_audit_draws_the_same_conclusions(material: Material, other_words: None) -> None:
    """Of a redirect without an end nothing but its failure speaks."""
    rows = wa.metadata(
        [material.odd.url + path for path in ("/circle", "/gone", "/failing", "/no-target")],
        allow_private=True,
        retries=0,
        progress=False,
    )
    found = [
        fetch_outcome(row).problem for row in rows.astype(object).where(rows.notna(), None).to_dict("records")
    ]
    assert found == ["redirect loop", "client error", "server error", "no response"]
