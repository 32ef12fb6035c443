"""Foreign pages and images in the workers that analyse them: within their memory, each with an answer or an error."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Sequence
from io import BytesIO
from typing import Any

import pytest
from PIL import Image

from tests.effort import BUSY_SECONDS
from webanalytics.core.operations.model import Operation
from webanalytics.core.outcomes import PackedOutcomes
from webanalytics.errors import RowError
from webanalytics.operations import CRAWL_PAGES, OPERATIONS
from webanalytics.runs.backends.pipeline import Answering
from webanalytics.runs.workers.pool import WorkerPool

MEMORY = 1024
"""MiB of each worker, what is imported included: the memory limit that users have is twice that."""
SEEDS = range(40)
DEADLINE = 4 * BUSY_SECONDS
PIECES = (
    *(
        b"<p>",
        b"</p>",
        b"tea leaves. ",
        b"<div ",
        b"a=''",
        b">",
        b"<!--",
        b"<svg>",
        b"<table><tr><td>",
        b"<b><i>",
    ),
    *(
        b"<script type=application/ld+json>",
        b'{"@type":"Article","name":[',
        b"</script>",
        b"<textarea>",
        b"\x00",
    ),
    *(
        b"<meta charset=utf-16>",
        b"<title>&#xFFFF;",
        b"<h1>",
        b"\xe9",
        b"<a href=//x>",
        b"<select><option>",
        b"&",
    ),
)


def page(seed: int) -> bytes:
    """A page of up to some megabytes: a few pieces of markup, some of them very many times."""
    chance = random.Random(seed)
    return b"".join(chance.choice(PIECES) * chance.choice([1, 7, 300, 20_000]) for _ in range(12))


def picture(seed: int) -> bytes:
    """An image of one of the formats with some bytes changed, or without its end."""
    chance, file = random.Random(seed), BytesIO()
    kind = chance.choice(["PNG", "JPEG", "GIF", "TIFF", "WEBP"])
    Image.new("RGB", (chance.randint(1, 300), chance.randint(1, 300)), "teal").save(file, kind)
    content = bytearray(file.getvalue())
    for _ in range(chance.randint(1, 20)):
        content[chance.randrange(len(content))] = chance.randrange(256)
    return bytes(content[: chance.choice([len(content), len(content) // 2])])


def settings(operation: Operation) -> dict[str, Any]:
    found = {item.keyword: item.default_here for item in operation.settings if not item.required}
    return {**found, "output_format": "png"} if operation.name == "convert" else found


async def answers(operations: Sequence[Operation], contents: list[Any]) -> list[Any]:
    """What workers say of each content: an answer, or the key of the error."""
    given = {item.name: settings(item) for item in operations}
    async with WorkerPool(2, MEMORY) as pool:
        answering = Answering(None, pool)  # type: ignore[arg-type]  # nothing is fetched

        async def ask(content: Any) -> Any:
            try:
                return await answering.analyse(operations, given, content, DEADLINE)
            except RowError as error:
                return error.key

        return await asyncio.gather(*map(ask, contents))


ENDED = ("analysis_died", "analysis_timeout")


@pytest.mark.slow
def test_workers_answer_whatever_the_page() -> None:
    contents = [(page(seed), "https://a.example/", "", "text/html") for seed in SEEDS]
    found = asyncio.run(answers(CRAWL_PAGES, contents))
    assert not [seed for seed, one in zip(SEEDS, found, strict=True) if one in ENDED]
    refused = [getattr(data, "key", None) for one in found for data in PackedOutcomes(one).unpack()]
    assert refused.count(None) > len(refused) / 3
    assert "analysis_failed" not in refused


@pytest.mark.slow
def test_workers_answer_whatever_the_image() -> None:
    found = asyncio.run(answers([OPERATIONS["convert"]], [picture(seed) for seed in SEEDS]))
    assert not [seed for seed, one in zip(SEEDS, found, strict=True) if one in ENDED]
    kinds = {getattr(one[0], "key", "converted") for one in found}
    assert kinds == {"converted", "image_damaged", "image_format", "image_pixels", "image_unread"}, kinds
