"""Answers that are not what the specification says cost their own rows, and nothing else."""

from __future__ import annotations

import io
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from PIL import Image

import webanalytics as wa
from tests.answers import rows_of
from tests.runs.hosted.calls import KEY, asked, batch_of, item, sign
from tests.runs.hosted.proxy import Fault, Proxy, Record, json_of, out_of_credits, rate_limited, status
from webanalytics.errors import IncompleteRunWarning, ServiceUnavailableError
from webanalytics.fetching.testing import Reply, SiteServer
from webanalytics.runs.backends.hosted import answers, wire

Make = Callable[..., wa.Hosted]


def nested(levels: int) -> Any:
    value: Any = "x"
    for _ in range(levels):
        value = [value]
    return value


def first_is(data: Mapping[str, Any]) -> Callable[[Record], Fault]:
    """Return a rule by which the first input of a batch of messages gets other data than the rest."""
    return lambda record: batch_of(
        [{**item(200), "data": data}, *(item(200) for _ in record.json["inputs"][1:])]
    )


# ------------------------------------------------------------------ 1 and 2: values


GOOD = {"hmac": "0a", "algorithm": "sha256", "encoding": "hex"}


@pytest.mark.parametrize(
    "data",
    [
        *({**GOOD, "hmac": wrong} for wrong in (7, [["0a"]], {"a": 1}, True, None)),
        {**GOOD, "more": nested(900)},
        {"hmac": "0a"},
        {},
        {"other": 1},
    ],
)
def test_a_value_of_another_type_costs_its_row(
    proxy: Proxy, hosted: Make, tmp_path: Path, data: dict[str, Any]
) -> None:
    proxy.rule(first_is(data))
    frame = sign(3, hosted(), store=tmp_path)
    assert frame["status"].tolist() == ["error", "ok", "ok"]
    assert frame["error_type"].tolist()[0] == "service"
    assert frame["error"][0].startswith("The hosted API answered with")
    proxy.clear()
    again = sign(3, hosted(), store=tmp_path)
    assert again["status"].eq("ok").all()
    assert asked(proxy)[-1] == ["m0"]


PAGE = {
    "readability": ("wordCount", [12.5, "12", 2**70, True, [12]]),
    "text": ("date", [{"published": 3}, "today", [{}]]),
    "keywords": ("keywords", [{"a": "b"}, ["a"], {"a": 2**64}]),
    "metadata": ("jsonld", [nested(900), {"a": 1}, ["a"]]),
}


@pytest.mark.parametrize(
    ("name", "field", "value"),
    [(name, field, value) for name, (field, values) in PAGE.items() for value in values],
)
def test_a_page_with_a_wrong_value_is_a_row(
    proxy: Proxy, hosted: Make, tmp_path: Path, name: str, field: str, value: Any
) -> None:
    url = {"url": "https://a.example/"}
    results = [{**item(200), "data": url | {field: value}}, {**item(200), "data": url | {field: None}}]
    proxy.plan(batch_of(results))
    frame = rows_of(
        getattr(wa, name)(
            ["https://a.example/", "https://b.example/"],
            backend=hosted(),
            store=tmp_path,
            progress=False,
        )
    )
    assert frame["status"].tolist() == ["error", "ok"]
    assert frame["error_type"].tolist()[0] == "service"


@pytest.mark.parametrize("data", [{}, {"phone": "+1", "isDisposable": "no"}, {"isDisposable": True}])
def test_a_phone_with_a_wrong_value_is_a_row(proxy: Proxy, hosted: Make, data: dict[str, Any]) -> None:
    proxy.plan(
        batch_of([{**item(200), "data": data}, {**item(200), "data": {"phone": "+1", "isDisposable": True}}])
    )
    frame = wa.phones(["+12085813945", "+12125550123"], backend=hosted(), progress=False)
    assert frame["status"].tolist() == ["error", "ok"]
    assert frame["isDisposable"].tolist()[1] is True


def test_a_number_of_too_many_digits_is_none() -> None:
    content = f'{{"status": "ok", "data": {{"results": [{{"x": {"9" * 5000}}}, {{"x": 7}}]}}}}'
    assert wire.read_object(content.encode())["data"]["results"] == [{"x": None}, {"x": 7}]


# ------------------------------------------------------------------ 3 to 6 and 9: failures


@pytest.mark.parametrize("remaining", [0, 1])
def test_an_item_without_credits_is_not_sent_again(proxy: Proxy, hosted: Make, remaining: int) -> None:
    proxy.plan(batch_of([item(200), item(429), item(429)], **{"x-api-remaining-credits": str(remaining)}))
    proxy.always(out_of_credits())
    with pytest.warns(IncompleteRunWarning, match="No credits are left"):
        frame = sign(3, hosted())
    assert len(proxy.requests) == 1
    assert frame["error_type"].tolist()[1:] == ["credits"] * 2
    assert frame.attrs["credits"]["needed"] == 4


def test_an_answer_does_not_show_the_key(proxy: Proxy, hosted: Make) -> None:
    proxy.plan(
        batch_of([item(400, f"Key {KEY} is odd."), item(400, f"Key {KEY[:9].upper()}\x00{KEY[9:]} is odd.")])
    )
    frame = sign(2, hosted(KEY))
    assert frame["error"].tolist() == ["Key ********** is odd."] * 2
    proxy.always(status(403, f"{KEY}: no.", {"X-Request-ID": f"r-{KEY.upper()}"}))
    with pytest.raises(wa.HostedError) as caught:
        sign(1, hosted(KEY))
    assert caught.value.request_id == "r-**********"
    assert KEY not in str(caught.value).lower()


def test_a_note_does_not_show_the_key(proxy: Proxy, hosted: Make) -> None:
    proxy.plan(batch_of([{**item(200), "data": {"url": "https://a.example/", "note": f"\x1b{KEY}."}}]))
    frame = wa.keywords(["https://a.example/"], backend=hosted(KEY), progress=False)
    assert frame["note"].tolist() == ["**********."]


def test_a_lost_download_is_not_asked_for_again(proxy: Proxy, hosted: Make, tmp_path: Path) -> None:
    folders = {"save_to": tmp_path / "out", "store": tmp_path / "kept"}
    for _ in range(2):
        frame = _converted(proxy, hosted(), "data:,x", **folders)
        assert frame["status"].tolist() == ["ok"]
    assert len(proxy.requests) == 1


def test_a_short_key_is_not_taken_out_of_words(proxy: Proxy) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        backend = wa.Hosted(proxy.base, "a")
    assert backend._api.cleaned("a bad key: A") == "********** bad key: **********"


def test_sentences_have_no_control_characters(proxy: Proxy, hosted: Make) -> None:
    proxy.plan(batch_of([item(400, "\x1b[31mThe\x9b1m `a`\r\n\u2028is \x00wrong\u202e.\x7f\ufeff\ud800")]))
    assert sign(1, hosted())["error"].tolist() == ["[31mThe1m `a` is wrong."]


@pytest.mark.parametrize("code", [401, 403, 502, 504])
def test_an_item_says_which_status_it_met(proxy: Proxy, hosted: Make, code: int) -> None:
    proxy.rule(lambda record: batch_of([item(200), item(code, "")]))
    frame = sign(2, hosted())
    assert frame["error"].tolist()[1] == f"The hosted API answered {code}."
    assert frame["error_type"].tolist()[1] == "service"
    assert len(proxy.requests) == 1


@pytest.mark.parametrize("code", [402, 418, 502, 504])
def test_a_batch_that_fails_as_a_whole_ends_the_run(proxy: Proxy, hosted: Make, code: int) -> None:
    proxy.plan(None)
    proxy.always(status(code, ""))
    with pytest.raises(ServiceUnavailableError, match=f"answered {code} to all") as caught:
        sign(100, hosted(batch_size=10, concurrency=1))
    assert len(proxy.requests) == 2
    rows = caught.value.partial
    assert rows["status"].tolist() == ["ok"] * 10 + ["error"] * 10
    assert rows["error"].tolist()[10:] == [f"The hosted API answered {code}."] * 10


def test_items_that_all_fail_alike_end_the_run(proxy: Proxy, hosted: Make) -> None:
    proxy.rule(lambda record: batch_of(item(401, "") for _ in record.json["inputs"]))
    with pytest.raises(ServiceUnavailableError, match="answered 401 to all"):
        sign(100, hosted(batch_size=10, concurrency=1))
    assert len(proxy.requests) == 1


def test_single_requests_that_fail_one_after_the_other_end_the_run(proxy: Proxy, hosted: Make) -> None:
    proxy.always(status(504, ""))
    images = [_picture("png", number) for number in range(1, 30)]
    with pytest.raises(ServiceUnavailableError, match="answered 504 to all") as caught:
        wa.convert(images, "webp", backend=hosted(concurrency=1), progress=False)
    assert 5 <= len(proxy.requests) < 29
    assert len(caught.value.partial) >= 5


@pytest.mark.parametrize(
    "fault",
    [rate_limited(3000), status(503, "Later.", {"retry-after": "3000"}),
     batch_of([item(429), item(200)], **{"retry-after": "3000"})],
)  # fmt: skip
def test_a_longer_wait_than_the_patience_is_not_waited_for(proxy: Proxy, hosted: Make, fault: Fault) -> None:
    proxy.always(fault)
    with pytest.raises(ServiceUnavailableError, match=r"`patience` .* asks to wait 3,000 s"):
        sign(2, hosted(patience=5))
    assert len(proxy.requests) == 1


# ------------------------------------------------------------------ 7 and 8: images


def _picture(kind: str, width: int = 5) -> bytes:
    file = io.BytesIO()
    Image.new("RGB", (width, 5)).save(file, kind)
    return file.getvalue()


def _converted(proxy: Proxy, backend: Any, link: str, made: str = "webp", **options: Any) -> pd.DataFrame:
    data = {"inputFormat": "png", "outputFormat": made, "inputSize": 9, "outputSize": 8, "downloadURL": link}
    proxy.plan(json_of({"status": "ok", "error": None, "data": data}))
    return wa.convert([_picture("png")], "webp", backend=backend, progress=False, **options)


def _serving(content: bytes) -> SiteServer:
    return SiteServer({"/a": Reply(200, {"Content-Type": "image/webp"}, content)})


@pytest.mark.parametrize(
    ("kind", "made"), [("png", "webp"), ("webp", "png"), ("webp", "exe"), ("webp", "../x")]
)
def test_content_of_another_format_is_not_taken(
    proxy: Proxy, hosted: Make, tmp_path: Path, kind: str, made: str
) -> None:
    with _serving(_picture(kind)) as other:
        frame = _converted(proxy, hosted(), other.url + "/a", made, save_to=tmp_path / "out")
    assert frame["error_type"].tolist() == ["service"]
    assert "127.0.0.1" in frame["error"][0]
    assert not list((tmp_path / "out").iterdir())


def test_links_beside_the_api_are_followed_on_this_machine_alone(
    proxy: Proxy, hosted: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    with _serving(_picture("webp")) as other:
        assert _converted(proxy, hosted(), other.url + "/a")["width"].tolist() == [5]
        monkeypatch.setattr(answers, "is_this_machine", lambda _: False)
        assert _converted(proxy, hosted(), other.url + "/a")["content"].isna().all()
        assert len(other.requests) == 1


def test_a_link_with_a_user_is_not_followed(proxy: Proxy, hosted: Make) -> None:
    with _serving(_picture("webp")) as other:
        link = other.url.replace("://", "://user:word@") + "/a"
        assert _converted(proxy, hosted(), link)["content"].isna().all()
        assert not other.requests
