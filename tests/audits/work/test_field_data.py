"""Field data: the CrUX API, asked at a double of it, and answers of CrUX and PageSpeed in files.

The double answers as https://developer.chrome.com/docs/crux/api describes: `record` with `key`, `metrics` and
`percentiles`, layout shifts as text; 404 with `NOT_FOUND` for pages of too few visitors; 400 for a wrong key.
"""

from __future__ import annotations

import json
import logging
import threading
import traceback
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import webanalytics as wa
from webanalytics.audits.work import field_data
from webanalytics.errors import IncompleteRunWarning

KEY = "AIza-very-secret-0123456789"
KNOWN = {"https://a.example/": 1800, "https://a.example/tea": 4100}


def crux(url: str, lcp: int) -> dict[str, Any]:
    spread = [{"start": 0, "end": 2500, "density": 0.9}, {"start": 2500, "density": 0.1}]
    metrics = {
        "largest_contentful_paint": {"histogram": spread, "percentiles": {"p75": lcp}},
        "interaction_to_next_paint": {"percentiles": {"p75": 210}},
        "cumulative_layout_shift": {"percentiles": {"p75": "0.05"}},
        "experimental_time_to_first_byte": {"percentiles": {"p75": 640}},
    }
    return {"record": {"key": {"url": url}, "metrics": metrics}}


class Crux(BaseHTTPRequestHandler):
    asked: list[dict[str, Any]]
    refusal: int = 0
    patience: int = 0  # questions that are answered before it refuses

    def do_POST(self) -> None:
        question = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        type(self).asked.append(question)
        status, answer = 200, crux(question["url"], KNOWN.get(question["url"], 0))
        if self.headers["X-Goog-Api-Key"] != KEY:
            status, answer = 400, {"error": {"code": 400, "message": "API key not valid."}}
        elif self.refusal and len(self.asked) > self.patience:
            status, answer = self.refusal, {"error": {"code": self.refusal}}
        elif question["url"] not in KNOWN:
            status, answer = 404, {"error": {"code": 404, "status": "NOT_FOUND"}}
        content = json.dumps(answer).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, *_: Any) -> None:
        pass


@pytest.fixture
def double(monkeypatch: pytest.MonkeyPatch) -> Iterator[type[Crux]]:
    kind = type("Double", (Crux,), {"asked": [], "refusal": 0})
    with ThreadingHTTPServer(("127.0.0.1", 0), kind) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{server.server_port}/v1/records:queryRecord"
        for name, value in (("API", address), ("PRIVATE", True), ("PAUSE", 0)):
            monkeypatch.setattr(field_data, name, value)
        yield kind
        server.shutdown()


def audit() -> wa.Audit:
    urls = [*KNOWN, "https://a.example/seldom", "https://a.example/closed"]
    html = ["<title>A</title>"] * 3 + ["<title>A</title><meta name=robots content=noindex>"]
    return wa.audit(pd.DataFrame({"url": urls, "html": html}))


def test_the_api_is_asked_of_pages_that_may_be_indexed(
    double: type[Crux], caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    found = audit().with_field_data(key=KEY, form_factor="PHONE")
    assert found.pages["lcp"].fillna(0).tolist() == [1800, 4100, 0, 0]
    assert found.pages.loc[0, ["inp", "cls", "ttfb"]].tolist() == [210, 0.05, 640]
    assert found.pages["fcp"].isna().all()
    assert [question["url"][17:] for question in double.asked] == ["/", "/tea", "/seldom"]
    assert {question["formFactor"] for question in double.asked} == {"PHONE"}
    for said in (repr(found), caplog.text, str(found.pages.to_dict()), str(vars(found))):
        assert KEY not in said


def test_no_error_shows_the_key(double: type[Crux]) -> None:
    wrong = f"{KEY}-wrong"
    with pytest.raises(wa.ParameterError, match=r"`key` parameter must be one .* HTTP 400") as refused:
        audit().with_field_data(key=wrong)
    double.refusal = 429
    with pytest.raises(wa.WebAnalyticsError, match="HTTP 429") as slowed:
        audit().with_field_data(key=KEY)
    for error in (refused.value, slowed.value):
        assert KEY not in "".join(traceback.format_exception(error))


def test_what_was_told_before_a_refusal_is_kept(double: type[Crux]) -> None:
    double.refusal, double.patience = 429, 1
    with pytest.warns(IncompleteRunWarning, match=r"HTTP 429\. It told of 1 pages? until then"):
        found = audit().with_field_data(key=KEY)
    assert found.pages["lcp"].fillna(0).tolist() == [1800, 0, 0, 0]
    assert len(double.asked) == 2


def test_the_guard_keeps_it_from_addresses_of_this_network(
    double: type[Crux], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(field_data, "PRIVATE", False)
    with pytest.raises(wa.WebAnalyticsError, match="was not asked"):
        audit().with_field_data(key=KEY)
    assert not double.asked


def test_answers_in_files(tmp_path: Path) -> None:
    (tmp_path / "crux.jsonl").write_text("\n".join(json.dumps(crux(*item)) for item in KNOWN.items()))
    pagespeed = {
        "id": "https://A.example/seldom",
        "loadingExperience": {
            "id": "https://a.example/seldom",
            "metrics": {
                "LARGEST_CONTENTFUL_PAINT_MS": {"percentile": 2441, "category": "FAST"},
                "CUMULATIVE_LAYOUT_SHIFT_SCORE": {"percentile": 5, "category": "FAST"},
            },
        },
        "lighthouseResult": {"categories": {"performance": {"score": 0.92}}},
    }
    (tmp_path / "psi.json").write_text(json.dumps(pagespeed))
    found = audit().with_field_data([tmp_path / "crux.jsonl", tmp_path / "psi.json"])
    assert found.pages["lcp"].fillna(0).tolist() == [1800, 4100, 2441, 0]
    assert found.pages["cls"].fillna(9).tolist() == [0.05, 0.05, 0.05, 9]
    assert found.pages["performance"].fillna(0).tolist() == [0, 0, 92, 0]
    of_site = pagespeed | {"loadingExperience": pagespeed["loadingExperience"] | {"origin_fallback": True}}  # type: ignore[operator]
    found = audit().with_field_data(of_site)  # numbers of the whole site are not those of the page
    assert found.pages[["lcp", "performance"]].fillna(0).values.tolist()[2] == [0, 92]


def test_wrong_calls(tmp_path: Path) -> None:
    broken = tmp_path / "broken.json"
    broken.write_text("{")
    for wrong, named in (
        ({}, "source"),
        ({"source": {}, "key": "a"}, "source"),
        ({"key": "a", "form_factor": "WATCH"}, "form_factor"),
        ({"key": ""}, "key"),
        ({"source": broken}, "source"),
        ({"source": tmp_path / "none.json"}, "source"),
        ({"source": 5}, "source"),
        ({"source": {"record": {"key": {"origin": "https://a.example"}, "metrics": {}}}}, "source"),
        ({"source": [crux("https://a.example/", 1)] * 2}, "frame"),
    ):
        with pytest.raises(wa.ParameterError, match=f"`{named}`"):
            audit().with_field_data(**wrong)
    odd = [None, {"record": 7}, {"id": 3}, {"record": {"key": {"url": "https://a.example/"}, "metrics": []}}]
    assert audit().with_field_data(odd).pages["lcp"].isna().all()
