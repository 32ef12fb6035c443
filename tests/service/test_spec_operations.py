"""The specification's tables of operations, fields and parameters, line by line, over HTTP."""

from __future__ import annotations

import base64
import io
import re
import time
from collections.abc import Iterator
from typing import Any

import pytest
from PIL import Image

from tests.core.operations.test_declarations import FIELD_ROWS, OPERATION_ROWS, PARAMETER_ROWS
from tests.service.live import Got, Server
from tests.service.pages import CARD, OPEN_GRAPH, RICH_PAGE, card_name, image
from webanalytics.fetching.testing import SiteServer

RECORD = f"_443._tcp.www.example.com. 3600 IN TLSA 3 1 1 {'ab' * 32}"
PATHS = {name: f"/v1/{path}" for name, _, path, _ in OPERATION_ROWS}
METHODS = {name: method for name, method, _, _ in OPERATION_ROWS}
TYPES: dict[str, Any] = {
    "string": (str, type(None)),
    "integer": int,
    "float": (int, float, type(None)),
    "boolean": bool,
    "object": (dict, list, type(None)),
}


@pytest.fixture(scope="module")
def origin() -> Iterator[str]:
    """A site with the rich page, a redirect to it and a picture."""
    pages = {"/": RICH_PAGE, "/lantern.png": image()}
    with SiteServer(pages) as site:
        yield site.url


@pytest.fixture(scope="module")
def free(server: Server) -> str:
    """A key on the free plan."""
    return server.key(plan="free")


def arguments(name: str, origin: str) -> dict[str, Any]:
    """Return parameters with which an operation succeeds."""
    return {
        "hmac": {"message": "what do ya want for nothing?", "secret": "Jefe"},
        "dane": {"record": RECORD},
        "phone": {"phone": "+12085813945"},
        "convert": {"image": base64.b64encode(image()).decode(), "outputFormat": "webp"},
    }.get(name, {"url": f"{origin}/"})


def ask(server: Server, name: str, key: str, values: dict[str, Any]) -> Got:
    return server.call(METHODS[name], PATHS[name], key=key, **values)


@pytest.mark.parametrize("row", OPERATION_ROWS, ids=lambda row: row[0])
def test_operation_method_path_and_credits(
    server: Server, origin: str, row: tuple[str, str, str, int]
) -> None:
    name, method, path, price = row
    key = server.key(plan="pro")
    answer = server.call(method, f"/v1/{path}", key=key, **arguments(name, origin))
    assert answer.status == 200, answer.body
    assert answer.headers["x-api-remaining-credits"] == str(250_000 - price)
    other = "GET" if method == "POST" else "POST"
    assert server.call(other, f"/v1/{path}", key=key).status == 404


@pytest.mark.parametrize("name", FIELD_ROWS)
def test_fields_of_a_paid_plan(server: Server, origin: str, pro: str, name: str) -> None:
    data = ask(server, name, pro, arguments(name, origin)).data
    assert list(data) == [field for field, _, _ in FIELD_ROWS[name]]
    for field, kind, _ in FIELD_ROWS[name]:
        assert isinstance(data[field], TYPES[kind]), field


@pytest.mark.parametrize("name", FIELD_ROWS)
def test_premium_fields_are_absent_on_the_free_plan(
    server: Server, origin: str, free: str, name: str
) -> None:
    data = ask(server, name, free, arguments(name, origin)).data
    assert list(data) == [field for field, _, premium in FIELD_ROWS[name] if not premium]


def test_values_of_metadata(server: Server, origin: str, pro: str) -> None:
    data = ask(server, "metadata", pro, {"url": f"{origin}/"}).data
    expected = {
        "requestUrl": f"{origin}/",
        "url": f"{origin}/",
        "canonical": f"{origin}/lantern",
        "lang": "en-GB",
        "charset": "utf-8",
        "title": "Brass lanterns for lighthouses",
        "image": f"{origin}/lantern.jpg",
        "favicons": [{"rel": "icon", "href": f"{origin}/favicon.ico", "sizes": "16x16"}],
        "author": "Ada Keeper",
        "description": "Lanterns, made by hand.",
        "keywords": "lantern, brass",
        "source": "The Lantern Gazette",
        "price": "49.90",
        "priceCurrency": "EUR",
        "robots": "index, follow",
        "viewport": "width=device-width",
        "theme-color": "#aa7700",
        "application-name": "Lanterns",
        "headings": [{"level": "h1", "text": "Brass lanterns"}, {"level": "h2", "text": "Care"}],
        "imgTags": [{"src": f"{origin}/lantern.jpg", "alt": "A lantern", "width": "600", "height": "400"}],
        "responseBody": RICH_PAGE.decode(),
        **OPEN_GRAPH,
        **{card_name(tag): value for tag, value in CARD.items()},
    }
    assert {name: data[name] for name in expected} == expected
    assert "InStock" in data["availability"]
    assert data["jsonld"][0]["@type"] == "Product"


def test_a_field_that_the_page_does_not_supply_is_empty(server: Server, pro: str) -> None:
    with SiteServer({"/": b"<p>nothing</p>"}) as site:
        data = ask(server, "metadata", pro, {"url": site.url + "/"}).data
    lists = {"favicons", "jsonld", "headings", "imgTags"}
    others = set(data) - lists - {"requestUrl", "url", "charset", "responseBody"}
    assert {name: data[name] for name in lists} == {name: [] for name in lists}
    assert {name: data[name] for name in others} == dict.fromkeys(others, "")


def test_values_of_hmac(server: Server, pro: str) -> None:
    # RFC 4231, test case 2
    data = ask(server, "hmac", pro, arguments("hmac", "")).data
    assert data == {
        "hmac": "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843",
        "algorithm": "sha256",
        "encoding": "hex",
    }


def test_values_of_text(server: Server, origin: str, pro: str) -> None:
    data = ask(server, "text", pro, {"url": f"{origin}/"}).data
    assert "carries a brass lantern up the winding stairs" in data["text"]
    assert (data["language"], data["title"], data["url"]) == (
        "en",
        "Brass lanterns for lighthouses",
        f"{origin}/",
    )
    assert data["date"]["published"] == "2026-03-04"
    assert (data["title_alt"], data["description"]) == ("Brass lanterns", "Lanterns, made by hand.")


def test_values_of_dane(server: Server, pro: str) -> None:
    data = ask(server, "dane", pro, {"record": RECORD}).data
    assert data["raw_record"] == RECORD
    assert data["parsed"] == {
        "name": "_443._tcp.www.example.com.",
        "port": 443,
        "protocol": "tcp",
        "hostname": "www.example.com",
        "ttl": 3600,
        "class": "IN",
        "usage": 3,
        "selector": 1,
        "matching": 1,
        "certificate_data": "ab" * 32,
        "certificate_data_length": 64,
    }
    assert set(data["interpretation"]) == {
        "usage",
        "selector",
        "matching",
        "security_level",
        "recommendation",
    }
    for part in ("usage", "selector", "matching"):
        assert set(data["interpretation"][part]) == {"name", "description", "full_description"}
    assert data["interpretation"]["security_level"] == "Recommended"
    assert data["validation"]["is_valid"] is True
    assert data["validation"]["certificate_data_length_valid"] is True
    assert isinstance(data["validation"]["certificate_data_format"], str)


def test_values_of_readability(server: Server, origin: str, pro: str) -> None:
    data = ask(server, "readability", pro, {"url": f"{origin}/"}).data
    assert 0 <= data["fleschReadingEase"] <= 100
    assert data["targetAudience"] in (
        "elementary",
        "middle school",
        "high school",
        "college",
        "post-graduate",
        "general public",
    )
    assert data["readingTimeMinutes"] == pytest.approx(data["wordCount"] / 238, abs=0.01)
    grades = (
        "fleschKincaidGrade",
        "gunningFog",
        "colemanLiauIndex",
        "smogIndex",
        "automatedReadabilityIndex",
    )
    assert data["averageGradeLevel"] == pytest.approx(sum(data[grade] for grade in grades) / 5, abs=0.011)


def test_values_of_convert(server: Server, pro: str) -> None:
    answer = ask(server, "convert", pro, arguments("convert", ""))
    data = answer.data
    assert answer.json["code"] == 200
    assert re.fullmatch(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", data["id"])
    assert (data["inputFormat"], data["outputFormat"], data["mimeType"]) == ("png", "webp", "image/webp")
    assert data["inputSize"] == len(image())
    assert 23 * 3600 < data["expires"] - time.time() <= 24 * 3600
    assert data["downloadURL"].startswith(server.base)
    got = server.call("GET", data["downloadURL"].removeprefix(server.base))
    assert len(got.body) == data["outputSize"]
    assert got.headers["Content-Type"] == "image/webp"
    assert got.headers["X-Content-Type-Options"] == "nosniff"
    assert got.headers["Content-Disposition"].startswith("attachment")
    assert Image.open(io.BytesIO(got.body)).format == "WEBP"


def test_values_of_keywords(server: Server, origin: str, pro: str) -> None:
    data = ask(server, "keywords", pro, {"url": f"{origin}/"}).data
    counts = list(data["keywords"].values())
    assert counts == sorted(counts, reverse=True)
    assert data["keywords"]["keeper"] == 3  # counted in the page's text by hand
    assert all(word == word.lower() and len(word) >= 4 for word in data["keywords"])


def test_values_of_phone(server: Server, pro: str) -> None:
    # the published example of the specification's decisions
    assert ask(server, "phone", pro, {"phone": "+12085813945"}).data == {
        "phone": "+12085813945",
        "isDisposable": True,
        "firstSeen": "2024-01-30",
    }
    assert ask(server, "phone", pro, {"phone": "+442079460958"}).data == {
        "phone": "+442079460958",
        "isDisposable": False,
        "firstSeen": None,
    }


@pytest.mark.parametrize("row", PARAMETER_ROWS, ids=lambda row: f"{row[0]}-{row[1]}")
def test_parameter_row(server: Server, origin: str, pro: str, row: tuple[Any, ...]) -> None:
    name, parameter, required, default, allowed, _ = row
    values = arguments(name, origin)
    without = {key: value for key, value in values.items() if key != parameter}
    answer = ask(server, name, pro, without)
    if required:
        assert (answer.status, answer.error) == (400, f"The `{parameter}` parameter is required.")
    else:
        assert answer.status == 200
        if default is not None and parameter in answer.data:
            assert answer.data[parameter] == default
    if allowed is None:
        return
    integers = isinstance(allowed[0], int)
    expected = (
        f"an integer from {allowed[0]} to {allowed[1]}" if integers else f"one of: {', '.join(allowed)}"
    )
    wrong = [allowed[0] - 1, allowed[1] + 1, "many", 1.5, True] if integers else ["other", 5, ""]
    for value in wrong:
        answer = ask(server, name, pro, values | {parameter: value})
        assert (answer.status, answer.error) == (400, f"The `{parameter}` parameter must be {expected}."), (
            value
        )
    for value in allowed:
        assert ask(server, name, pro, values | {parameter: value}).status == 200


def test_premium_parameters_take_effect_on_paid_plans_only(server: Server, pro: str, free: str) -> None:
    values = arguments("convert", "") | {"outputFormat": "png", "maxWidth": 10}
    for key, size in ((pro, (10, 5)), (free, (40, 20))):
        url = ask(server, "convert", key, values).data["downloadURL"]
        got = server.call("GET", url.removeprefix(server.base))
        assert Image.open(io.BytesIO(got.body)).size == size


@pytest.mark.parametrize("source", ["webp", "png", "jpeg", "gif", "tiff"])
@pytest.mark.parametrize("target", ["png", "jpg", "webp", "gif", "tiff"])
def test_converter_formats(server: Server, pro: str, source: str, target: str) -> None:
    values = {"image": base64.b64encode(image(source)).decode(), "outputFormat": target}
    url = ask(server, "convert", pro, values).data["downloadURL"]
    got = server.call("GET", url.removeprefix(server.base))
    assert Image.open(io.BytesIO(got.body)).format == {"jpg": "JPEG"}.get(target, target.upper())


def multipart(fields: dict[str, str | bytes]) -> tuple[bytes, str]:
    parts = b""
    for name, value in fields.items():
        file = '; filename="a.png"\r\nContent-Type: image/png' if isinstance(value, bytes) else ""
        content = value if isinstance(value, bytes) else value.encode()
        parts += (
            f'--xx\r\nContent-Disposition: form-data; name="{name}"{file}\r\n\r\n'.encode()
            + content
            + b"\r\n"
        )
    return parts + b"--xx--\r\n", "multipart/form-data; boundary=xx"


def test_an_image_may_be_base64_a_data_url_a_url_or_a_file(server: Server, origin: str, pro: str) -> None:
    content = base64.b64encode(image()).decode()
    forms = [
        {"image": content},
        {"image": f"data:image/png;base64,{content}"},
        {"image": f"{origin}/lantern.png"},
        {"url": f"{origin}/lantern.png"},
    ]
    for form in forms:
        assert ask(server, "convert", pro, {**form, "outputFormat": "gif"}).data["inputFormat"] == "png"
    for fields in (
        {"image": image(), "outputFormat": "gif", "quality": "80"},
        {"url": f"{origin}/lantern.png", "outputFormat": "gif"},
    ):
        body, content_type = multipart(fields)
        answer = server.call(
            "POST", PATHS["convert"], key=pro, body=body, headers={"Content-Type": content_type}
        )
        assert answer.data["inputFormat"] == "png"
    body, content_type = multipart({"image": image(), "outputFormat": "gif", "quality": "800"})
    answer = server.call("POST", PATHS["convert"], key=pro, body=body, headers={"Content-Type": content_type})
    assert answer.error == "The `quality` parameter must be an integer from 1 to 100."


@pytest.mark.parametrize("name", PATHS)
def test_an_undeclared_parameter_is_dropped(server: Server, origin: str, pro: str, name: str) -> None:
    plain = ask(server, name, pro, arguments(name, origin))
    more = ask(
        server, name, pro, arguments(name, origin) | {"colour": "red", "stop_words": "zz", "body": "x"}
    )
    assert more.status == 200
    assert set(more.data) == set(plain.data)
