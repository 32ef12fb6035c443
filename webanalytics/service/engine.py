"""The work of one call to the service: pages and images go to worker processes, records are computed at once.

`calls` asks it once a call is authorised; fetching and analysis are those of `backends.answering`.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from contextlib import AsyncExitStack
from typing import Any, Self

from aiohttp.abc import AbstractResolver

from webanalytics.core.messages import Message
from webanalytics.core.operations.secret import Secret
from webanalytics.core.outcomes import PackedOutcomes, TextRecord
from webanalytics.errors import BackendError, ParameterError, RowError
from webanalytics.fetching import Fetcher, FetchError, FetchSettings, Response
from webanalytics.operations import METADATA, OPERATIONS, Operation
from webanalytics.records.images.formats import ImageLimits
from webanalytics.runs.backends.pipeline import Answering
from webanalytics.runs.workers.pool import WorkerPool, worker_count
from webanalytics.runs.workers.template import START_SECONDS
from webanalytics.runs.workers.worker import analysis_function
from webanalytics.service.admission import BUSY, RETRY_SECONDS, FairSlots
from webanalytics.service.images import ImageStore
from webanalytics.service.metrics import Metrics
from webanalytics.service.page_cache import FetchedPage, PageCache
from webanalytics.service.parameters import image_bytes, image_too_large, is_address
from webanalytics.service.results import (
    ANALYSIS_RETRY_SECONDS,
    Problem,
    Result,
    analysis_failure,
    argument_failure,
    fetch_failure,
    service_failure,
)
from webanalytics.service.settings import ServiceSettings

log = logging.getLogger("webanalytics.service")

QUICK_BYTES = 256_000
"""Texts up to this size are handled on the event loop; larger ones in a thread."""

ROOM_SECONDS = 60.0
"""Longest wait for memory, while other content waits for a worker."""

WAIT_SECONDS = 30.0
"""Longest time, in addition to the fetch's own, that a call waits for a busy site."""


def fetch_settings(settings: ServiceSettings) -> FetchSettings:
    """Return the service's settings about fetching.

    >>> fetch_settings(ServiceSettings()).ports
    (80, 443, 8000, 8080, 8443, 8888)
    >>> fetch_settings(ServiceSettings({"allow_private": True})).ports is None
    True
    """
    return FetchSettings(
        concurrency=settings.fetch_concurrency,
        per_host=settings.per_host,
        connect_timeout=settings.connect_timeout,
        timeout=settings.fetch_timeout,
        max_bytes=settings.max_page_bytes,
        max_redirects=settings.max_redirects,
        retries=settings.retries,
        robots=settings.robots,
        user_agent=settings.user_agent,
        allow_private=settings.allow_private,
        ports=None if settings.allow_private else settings.ports,
        adaptive=False,  # what one account's calls meet must not slow down those of another
    )


def _given(operation: Operation, parameters: Mapping[str, Any], *, premium: bool = True) -> dict[str, Any]:
    """Return the keyword arguments of an analysis; Premium ones take effect on plans that include them."""
    return {
        item.keyword: item.service_value
        if item.local
        else item.default
        if item.premium and not premium
        else parameters[item.name]
        for item in operation.settings
    }


def _success(operation: Operation, answer: Mapping[str, Any]) -> Result:
    return Result(200, {item.name: answer[item.name] for item in operation.fields if not item.extra})


def is_quick(parameters: Mapping[str, Any]) -> bool:
    """Return whether the values are short enough to be handled on the event loop."""
    size = 0
    for value in parameters.values():
        if isinstance(value, (str, bytes)):
            size += len(value)
        elif isinstance(value, Secret):
            size += len(value.reveal())
    return size <= QUICK_BYTES


class Engine:
    """Does the work of calls; an asynchronous context manager, for one event loop.

    Nothing that a call does may harm another: pages and images are analysed in worker processes that
    are ended at a deadline, accounts take turns at the workers, no account has more than half of the
    fetches under way, and no page fetched for one is shown to another.
    """

    def __init__(
        self,
        settings: ServiceSettings,
        images: ImageStore,
        *,
        names: AbstractResolver | None = None,
        metrics: Metrics | None = None,
    ) -> None:
        self._settings = settings
        self._images = images
        self._names = names
        self._metrics = metrics or Metrics()
        self._workers = worker_count(settings.workers)
        # every worker is prepared for all that workers do
        self._prepared = tuple(item.analysis for item in OPERATIONS.values() if item.kind != "record")

    async def __aenter__(self) -> Self:
        settings = self._settings
        async with AsyncExitStack() as stack:
            self._pool = await stack.enter_async_context(WorkerPool(self._workers, settings.worker_memory))
            fetcher = await stack.enter_async_context(Fetcher(fetch_settings(settings), names=self._names))
            self._answering = Answering(fetcher, self._pool)
            self._pages = PageCache(
                self._fetch_page,
                settings.page_cache_seconds,
                settings.page_cache_bytes,
                on_lookup=self._metrics.page_cache,
            )
            stack.push_async_callback(self._pages.close)
            self._worker_turns = FairSlots(self._workers)
            self._fetch_turns = FairSlots(None, max(1, settings.fetch_concurrency // 2))
            self._warming = asyncio.create_task(self._warm_up())
            stack.push_async_callback(self._stop_warming)
            self._stack = stack.pop_all()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._stack.aclose()

    async def _warm_up(self) -> None:
        """Start the workers before the first page waits for one."""
        starts = [
            self._pool.run("prepare", self._prepared, (self._prepared,), START_SECONDS)
            for _ in range(self._workers)
        ]
        for outcome in await asyncio.gather(*starts, return_exceptions=True):
            if isinstance(outcome, Exception):
                log.error("a worker process did not start: %s", type(outcome).__name__)

    async def _stop_warming(self) -> None:
        self._warming.cancel()
        await asyncio.gather(self._warming, return_exceptions=True)

    def _record(self, operation: Operation, parameters: Mapping[str, Any]) -> Result:
        try:
            analyse = analysis_function(operation.analysis)
            given = _given(operation, parameters)
            return _success(operation, analyse(parameters[operation.subject], **given))
        except RowError as error:
            return analysis_failure(operation, error.message)
        except ParameterError as error:
            return argument_failure(operation, error)
        except Exception as error:
            return self._unexpected(operation, error)

    async def compute(
        self,
        operation: Operation,
        # checked values by request name, defaults filled in, without those that only local calls have
        parameters: Mapping[str, Any],
        *,
        account: int,  # the account: nothing fetched for one account is shown to another
        upload_bytes: int,  # largest image
        premium: bool,  # whether Premium parameters take effect
        fresh: bool = False,  # fetch a page again even if it was fetched a moment ago
        base_url: str = "",  # public address of the service, for download links
    ) -> Result:
        """Return the result of one call; any error becomes a result, too."""
        try:
            if operation.kind == "record":
                if is_quick(parameters):
                    return self._record(operation, parameters)
                return await asyncio.to_thread(self._record, operation, parameters)
            settings = _given(operation, parameters, premium=premium)
            text = operation.alternative
            if text is not None and text.name in parameters:
                return await self._text(operation, text.name, parameters[text.name], settings, account)
            subject = parameters[operation.subject]
            if operation.kind == "page":
                return await self._page(operation, subject, settings, account, fresh)
            settings["limits"] = ImageLimits(max_bytes=upload_bytes)
            return await self._image(operation, subject, settings, account, base_url)
        except Problem as problem:
            return problem.result
        except FetchError as error:
            return fetch_failure(error)
        except RowError as error:
            return analysis_failure(operation, error.message)
        except BackendError as error:
            log.error("no worker process: %s", type(error).__name__)
            return Result(503, None, Message("no_worker"), RETRY_SECONDS)
        except Exception as error:
            return self._unexpected(operation, error)

    @staticmethod
    def _unexpected(operation: Operation, error: Exception) -> Result:
        # Neither text nor traceback: they may hold what was submitted.
        log.error("%s failed unexpectedly: %s", operation.name, type(error).__name__)
        return service_failure(operation)

    async def _page(
        self, operation: Operation, url: str, settings: dict[str, Any], account: int, fresh: bool
    ) -> Result:
        page = await self._pages.get(account, url, fresh=fresh)
        content = (page.content, url, page.final_url, page.content_type)
        answer = await self._analyse(operation, settings, content, len(page.content), account)
        return _success(operation, answer) if isinstance(answer, Mapping) else answer

    async def _text(
        self, operation: Operation, name: str, text: str, settings: dict[str, Any], account: int
    ) -> Result:
        """Return the result of a text that stands in the place of a page: nothing is fetched."""
        answer = await self._analyse(operation, settings, TextRecord(text).page, len(text), account, name)
        return _success(operation, answer) if isinstance(answer, Mapping) else answer

    async def _image(
        self, operation: Operation, image: str | bytes, settings: dict[str, Any], account: int, base_url: str
    ) -> Result:
        content = await self._image_content(operation, image, settings["limits"].max_bytes, account)
        answer = await self._analyse(operation, settings, content, len(content), account)
        if not isinstance(answer, Mapping):
            return answer
        extension = answer["outputFormat"]
        stored = await self._images.save(answer["content"], extension)
        return _success(operation, {**answer, **stored.fields(base_url)})

    async def _image_content(
        self, operation: Operation, image: str | bytes, limit: int, account: int
    ) -> bytes:
        if isinstance(image, bytes):
            if len(image) > limit:
                raise image_too_large(operation, limit)
            return image
        if is_address(image):
            return (await self._fetch(account, image, operation, max_bytes=limit)).content
        if len(image) <= QUICK_BYTES:
            return image_bytes(operation, image, limit)
        return await asyncio.to_thread(image_bytes, operation, image, limit)

    async def _fetch_page(self, account: int, url: str) -> FetchedPage:
        response = await self._fetch(account, url, METADATA)
        return FetchedPage(response.final_url, response.content_type, response.content)

    async def _fetch(
        self, account: int, url: str, operation: Operation, max_bytes: int | None = None
    ) -> Response:
        """Fetch a call's page or image; the time that it waits for its turn is bounded as well."""
        clock = asyncio.get_running_loop().time
        try:
            async with asyncio.timeout(ROOM_SECONDS):
                await self._answering.inflight.wait()
        except TimeoutError:
            raise Problem(503, BUSY, retry_after=RETRY_SECONDS) from None
        async with self._fetch_turns.turn(account):
            began, outcome = clock(), "cancelled"
            try:
                async with asyncio.timeout(self._settings.fetch_timeout + WAIT_SECONDS):
                    response = await self._answering.fetch(url, operation, max_bytes)
                outcome = "ok"
                return response
            except FetchError as error:
                outcome = error.error_type
                raise
            except TimeoutError:
                outcome = "timeout"
                crowded = Message("site_busy", {"parameter": operation.subject})
                raise Problem(503, crowded, retry_after=WAIT_SECONDS) from None
            finally:
                self._metrics.fetched(outcome, clock() - began)

    async def _analyse(
        self,
        operation: Operation,
        settings: dict[str, Any],
        content: Any,
        size: int,
        account: int,
        parameter: str = "",
    ) -> Mapping[str, Any] | Result:
        """Return a worker's answer, or the result of a failure, whose sentence names the parameter."""
        deadline = self._settings.parse_timeout if operation.kind == "page" else self._settings.image_timeout
        clock = asyncio.get_running_loop().time
        with self._answering.inflight.hold(size):
            async with self._worker_turns.turn(account):
                began, label = clock(), "cancelled"
                try:
                    answer = await self._answering.analyse(
                        (operation,), {operation.name: settings}, content, deadline, self._prepared, parameter
                    )
                    outcome = await self._outcome(answer)
                    label = "error" if isinstance(outcome, Message) else "ok"
                except RowError as error:
                    label = "timeout" if error.key == "analysis_timeout" else "died"
                    self._worker_turns.charge(account, clock() - began)
                    return Result(503, None, error.message, ANALYSIS_RETRY_SECONDS)
                finally:
                    self._metrics.analysed(operation.name, label, clock() - began)
        if not isinstance(outcome, Message):
            return outcome
        result = analysis_failure(operation, outcome)
        if result.status == 500:
            log.error("an analysis failed: %s", outcome)
        return result

    @staticmethod
    async def _outcome(answer: Any) -> Mapping[str, Any] | Message:
        """Return the one outcome of a worker's answer: packed for a page, a list for an image."""
        if not isinstance(answer, bytes):
            result: Mapping[str, Any] | Message = answer[0]
            return result
        unpack = PackedOutcomes(answer).unpack
        return (unpack() if len(answer) <= QUICK_BYTES else await asyncio.to_thread(unpack))[0]
