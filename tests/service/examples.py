"""Makes the examples of the declarations: ``python -m tests.service.examples`` prints them, from the sample site.

They are answers of the analyses themselves, with long texts and lists cut short; only where a converted
image would be downloaded is made up.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson

from webanalytics.operations import OPERATIONS
from webanalytics.page.page import Page
from webanalytics.runs.workers.worker import analysis_function
from webanalytics.service.parameters import IN_PLACE_OF_IMAGE
from webanalytics.service.reference.openapi_parts import visible

SITE = Path(__file__).parents[2] / "data" / "site"
ORIGIN = "https://lanterns.example"

PAGES = {
    "metadata": ("/shop/storm-lantern", "shop/storm-lantern.html"),
    "text": ("/blog/winter-light", "blog/winter-light.html"),
    "readability": ("/blog/winter-light", "blog/winter-light.html"),
    "keywords": ("/blog/winter-light", "blog/winter-light.html"),
}

RECORDS: dict[str, dict[str, Any]] = {
    # RFC 4231 has the same message and key in its second test case
    "hmac": {
        "message": "what do ya want for nothing?",
        "secret": "Jefe",
        "algorithm": "sha256",
        "encoding": "hex",
    },
    "dane": {
        "record": "_443._tcp.www.example.com. 3600 IN TLSA 3 1 1 "
        "0c72ac70b745ac19998811b131d662c9ac69dbdbe7cb23e5b514b56664c5d3d6"
    },
    "phone": {"phone": "+12085813945"},
}


def shortened(value: Any, text: int = 160, items: int = 2, keys: int = 12) -> Any:
    """Return the value with long texts and lists cut; an object's own fields all stay."""
    if isinstance(value, str):
        return value if len(value) <= text else f"{value[:text].rsplit(' ', 1)[0]}…"
    if isinstance(value, list):
        return [shortened(item, text, items, keys) for item in value[:items]]
    if isinstance(value, dict):
        return {key: shortened(item, text, items, keys) for key, item in list(value.items())[:keys]}
    return value


def answered(name: str, data: dict[str, Any]) -> dict[str, Any]:
    """Return what the service shows of an analysis's answer."""
    return {
        field.name: shortened(data[field.name]) for field in visible(OPERATIONS[name]) if field.name in data
    }


def page_example(name: str) -> dict[str, Any]:
    path, file = PAGES[name]
    url = ORIGIN + path
    html = (SITE / file).read_bytes().replace(b"{{origin}}", ORIGIN.encode())
    page = Page(html, content_type="text/html", url=url, final_url=url)
    settings = {"body": True} if name == "metadata" else {}
    data = analysis_function(OPERATIONS[name].analysis)(page, **settings)
    return {"parameters": {OPERATIONS[name].subject: url}, "data": answered(name, {"url": url, **data})}


def record_example(name: str) -> dict[str, Any]:
    return {
        "parameters": RECORDS[name],
        "data": answered(name, analysis_function(OPERATIONS[name].analysis)(**RECORDS[name])),
    }


def image_example() -> dict[str, Any]:
    file = SITE / "images" / "storm-lantern.jpg"
    converted = analysis_function(OPERATIONS["convert"].analysis)(
        file.read_bytes(), output_format="webp", quality=80, max_width=400
    )
    number = "3f1b7c52-8d2e-4f6a-9c41-5a0e7d9b2c63"
    made_up = {
        "id": number,
        "inputSize": file.stat().st_size,
        "outputSize": len(converted["content"]),
        "expires": 1_798_761_600,
        "downloadURL": f"https://api.example/v1/downloads/{number}.webp",
    }
    parameters = {
        IN_PLACE_OF_IMAGE: f"{ORIGIN}/images/{file.name}",
        "outputFormat": "webp",
        "quality": 80,
        "maxWidth": 400,
    }
    return {"parameters": parameters, "data": answered("convert", {**converted, **made_up})}


def all_examples() -> dict[str, Any]:
    """Return an example of every operation, by name."""
    examples = {"convert": image_example()}
    examples.update({name: page_example(name) for name in PAGES})
    examples.update({name: record_example(name) for name in RECORDS})
    return {name: examples[name] for name in OPERATIONS if name in examples}


if __name__ == "__main__":
    print(orjson.dumps(all_examples(), option=orjson.OPT_INDENT_2).decode())
