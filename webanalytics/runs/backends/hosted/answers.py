"""Envelopes -> results: an answer is checked and completed, its failure named, or its input sent again.

Converted images are downloaded from the links of the API.
"""

from __future__ import annotations

import asyncio
import io
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack, suppress
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlsplit

import aiohttp

from webanalytics.core.messages import Message
from webanalytics.core.operations.types import DEEPEST, is_deep
from webanalytics.core.outcomes import Fetched, Job, JobResult, Outcome, PackedOutcomes
from webanalytics.errors import RowError
from webanalytics.fetching import Fetcher, FetchError, FetchSettings
from webanalytics.fetching.content import body_within
from webanalytics.fetching.pace import backoff
from webanalytics.operations import CONVERT, Operation
from webanalytics.runs.backends.base import Task
from webanalytics.runs.backends.hosted.batches import Envelopes, Item
from webanalytics.runs.backends.hosted.http import Api, is_this_machine
from webanalytics.runs.backends.hosted.wire import EXPECTED, RETRIED, Failure, failure_of
from webanalytics.urls import DEFAULT_PORTS

MOST_BYTES = 500_000_000
PAUSE_SECONDS = 0.5
LONGEST_PAUSE = 15.0

_EXTRA = {field.name: None for field in CONVERT.fields if field.extra}
_FORMATS = CONVERT.parameter("output_format").choices
_IN_PILLOW = {"jpg": "JPEG"}


class Downloads:
    """Fetches images by their links, without the API key."""

    def __init__(self, api: Api, session: aiohttp.ClientSession, options: Mapping[str, Any]) -> None:
        self._own_origin = _origin(api.base_url)
        self._cleaned = api.cleaned
        self._patience = api.patience
        self._session = session
        self._options = options
        self._stack = AsyncExitStack()
        self._fetcher: Fetcher | None = None

    async def image(self, data: Mapping[str, Any]) -> dict[str, Any]:
        """Return the image's bytes and size, all None if it cannot be downloaded: the link remains."""
        link, made = data.get("downloadURL"), data.get("outputFormat")
        content = await self._content(link) if isinstance(link, str) else None
        made = made if made in _FORMATS else None
        known = {**_EXTRA, "outputFormat": made, "content": content}
        if content is None:
            return known
        seen = await asyncio.to_thread(_looked_at, content, made)
        if seen is None:
            host = self._cleaned(urlsplit(str(link)).hostname or "")
            raise RowError("download_not_image", host=host)
        return known | seen

    async def _content(self, link: str) -> bytes | None:
        try:
            parts = urlsplit(link)
            if parts.scheme not in ("http", "https") or "@" in parts.netloc:
                return None
            if self._is_own(link):
                return await self._own(link)
            return (await (await self._guarded()).fetch(link, "image", "image")).content
        except (ValueError, FetchError):
            return None

    def _is_own(self, link: str) -> bool:
        """Return whether a link leads to the API itself; on this machine its port may differ."""
        origin = _origin(link)
        host = origin[1]
        return origin == self._own_origin or (host == self._own_origin[1] and is_this_machine(host))

    async def _own(self, link: str) -> bytes | None:
        clock = asyncio.get_running_loop().time
        began, tries = clock(), 0
        while True:
            with suppress(aiohttp.ClientError, TimeoutError, OSError):
                async with self._session.get(link, allow_redirects=False) as response:
                    if response.status == 200:
                        return await body_within(MOST_BYTES, response)
                    if response.status < 500 and response.status != 429:
                        return None
            if clock() - began > self._patience:
                return None
            await asyncio.sleep(backoff(tries, PAUSE_SECONDS, LONGEST_PAUSE))
            tries = min(tries + 1, 20)

    async def _guarded(self) -> Fetcher:
        if self._fetcher is None:
            settings = FetchSettings(
                robots=False,
                max_bytes=MOST_BYTES,
                allow_private=self._options["allow_private"],
                adaptive=False,  # what was paid for is asked for again by its own rules
            )
            self._fetcher = await self._stack.enter_async_context(Fetcher(settings))
        return self._fetcher

    async def close(self) -> None:
        """Close what was opened."""
        await self._stack.aclose()


def _origin(url: str) -> tuple[str, str, int | None]:
    parts = urlsplit(url)
    return parts.scheme, parts.hostname or "", parts.port or DEFAULT_PORTS.get(parts.scheme)


def _looked_at(content: bytes, made: str | None) -> dict[str, Any] | None:
    """Return width, height and frames of an image, None if it is not of the format."""
    from PIL import Image

    if made is None:
        return None
    try:
        with Image.open(io.BytesIO(content), formats=(_IN_PILLOW.get(made, made.upper()),)) as image:
            return {"width": image.width, "height": image.height, "frames": getattr(image, "n_frames", 1)}
    except Image.DecompressionBombError:  # of the format, but too large to inspect
        return {}
    except (OSError, ValueError, SyntaxError):
        return None


ANOTHER_REQUEST = "answer_full"
"""Key of the failure of an item that only exceeded the size of the whole answer."""
WITHOUT_KEY = "answer_not_kept"
"""Key of the failure of an answer that is too large to be kept for an Idempotency-Key."""

_UNKNOWN = Fetched(redirects=None)


class Shape:
    """What the answers of one operation must look like, and how they are processed."""

    def __init__(self, operation: Operation, settings: Mapping[str, Any]) -> None:
        self.operation, fields = operation, operation.fields
        self.premium = tuple(item.name for item in fields if item.premium)  # what a plan may leave out
        # the field with the final URL of a fetch
        self.final = next((item for item in fields if item.column_name == "final_url"), None)
        # replacements for fields that this call did not request but a service always sends
        self.emptied = {
            item.name: "" for item in fields if item.only_with and not settings.get(item.only_with)
        }
        self.image = operation.kind == "image"  # whether there is an image to fetch
        self.large = operation.kind == "page"  # whether answers are packed until the frame is built
        # what is taken from an answer
        self.fields = tuple(item for item in fields if not (item.extra and self.image))

    def fault(self, data: Mapping[str, Any]) -> Message | None:
        """Return what is wrong with an answer, or None."""
        for item in self.fields:
            if not item.holds(item.read(data)):
                return Message("field_type", {"field": item.name})
        if not self.operation.is_told(data):
            return Message("field_missing", {"path": self.operation.path})
        if is_deep(data):
            return Message("field_depth", {"limit": DEEPEST})
        return None


@dataclass(slots=True)
class Judged:
    """The result of a request: results, inputs to send again, credits spent, and whether none are left."""

    results: list[JobResult] = field(default_factory=list)
    again: list[Item] = field(default_factory=list)
    spent: int = 0
    out_of_credits: bool = False


class Answers:
    """Judges the answers of one run."""

    def __init__(self, api: Api, task: Task, downloads: Downloads) -> None:
        self._api = api
        self._report = task.report
        self._downloads = downloads
        self._retries = int(task.spec.options["retries"])
        self._prices = [api.price(operation) for operation in task.operations]
        self._shapes = [Shape(operation, task.spec.settings[operation.name]) for operation in task.operations]

    def result(self, place: int, job: Job, outcome: Outcome, fetched: Fetched | None = None) -> JobResult:
        """Return an outcome of the operation at a place as the result of a job."""
        position = place if len(self._shapes) > 1 else None
        if not self._shapes[place].large:
            return JobResult(job.number, (outcome,), fetched, position)
        outcomes: Sequence[Outcome] = (outcome,)
        if outcome.data is not None:
            outcomes = PackedOutcomes(PackedOutcomes.pack([outcome.data]))
        return JobResult(job.number, outcomes, fetched or _UNKNOWN, position)

    async def judge(self, place: int, items: Sequence[Item], envelopes: Envelopes) -> Judged:
        """Return the results of a request's answers."""
        judged, reply = Judged(), envelopes.reply
        price = self._prices[place] if envelopes.ours else 0
        shape = self._shapes[place]
        poor = reply.remaining is not None and reply.remaining < max(self._prices[place], 1)
        for item, (status, envelope) in zip(items, envelopes.found, strict=True):
            data = envelope.get("data")
            if status == 200 and envelope.get("status") == "ok" and isinstance(data, dict):
                judged.spent += price
                if fault := shape.fault(data):
                    judged.results.append(self.result(place, item.job, Outcome.failed(fault)))
                else:
                    judged.results.append(await self._success(place, item.job, data))
                if shape.large:  # packing one takes milliseconds
                    await asyncio.sleep(0)
                continue
            said = self._sentence(envelope)
            failure = failure_of(status, envelope, said)
            if status == 429 and poor:
                judged.out_of_credits = True  # inputs to send again are skipped at their turn
                judged.again.append(item)
            elif self._goes_again(item, status, failure):
                judged.again.append(item)
            else:
                failed = Outcome(None, said or _without_reason(status), failure.error_type, failure.key)
                judged.results.append(self.result(place, item.job, failed))
        self._report.used += judged.spent
        return judged

    def _sentence(self, envelope: Mapping[str, Any]) -> str:
        said = envelope.get("error")
        sentence = self._api.cleaned(said) if isinstance(said, str) else ""
        return sentence if sentence.strip() else ""

    def _goes_again(self, item: Item, status: int, failure: Failure) -> bool:
        if status == 400 and failure.key == WITHOUT_KEY and item.keyed:
            item.keyed = False  # sent singly and without a key, the answer may be larger
            return True
        if status == 429 or (status in RETRIED and failure.key == ANOTHER_REQUEST):
            return True
        item.tries += status in RETRIED
        return status in RETRIED and item.tries <= self._retries

    async def _success(self, place: int, job: Job, data: Mapping[str, Any]) -> JobResult:
        shape = self._shapes[place]
        self._report.premium_missing.update(name for name in shape.premium if name not in data)
        fetched = None
        if shape.final is not None and (final := shape.final.read(data)):
            fetched = Fetched(final_url=final, redirects=None)
        if shape.emptied and shape.emptied.keys() <= data.keys():  # a plan without the field leaves it null
            data = {**data, **shape.emptied}
        if isinstance(note := data.get("note"), str):
            data = {**data, "note": self._api.cleaned(note)}
        if shape.image:
            try:
                data = {**data, **await self._downloads.image(data)}
            except RowError as error:
                return self.result(place, job, Outcome.failed(error))
        return self.result(place, job, Outcome(data), fetched)


def _without_reason(status: int) -> str:
    return str(Message("api_no_reason") if status in EXPECTED else Message("api_status", {"status": status}))
