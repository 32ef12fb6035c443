"""The work of one call: pages and images go to worker processes, records are computed at once."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from contextlib import AsyncExitStack
from types import TracebackType
from typing import Any, Protocol, Self

from aiohttp.abc import AbstractResolver

from webanalytics.analysis.convert_formats import EXTENSIONS, ImageLimits
from webanalytics.backends.base import Outcome, PackedOutcomes
from webanalytics.backends.local import worker_count
from webanalytics.backends.processes import START_SECONDS
from webanalytics.backends.room import Room
from webanalytics.backends.workers import WorkerDiedError, WorkerPool
from webanalytics.errors import BackendError, ParameterError, RowError
from webanalytics.fetching import Fetcher, FetchError, FetchSettings, Response
from webanalytics.operations import OPERATIONS, Operation
from webanalytics.service import outcomes
from webanalytics.service.admission import BUSY, RETRY_SECONDS, Turns
from webanalytics.service.images import ImageStore
from webanalytics.service.pages import FetchedPage, PageCache
from webanalytics.service.results import Problem, Result
from webanalytics.service.settings import ServiceSettings
from webanalytics.service.uploads import image_bytes, is_address, too_large
from webanalytics.service.work import QUICK_BYTES, Work, is_quick

log = logging.getLogger("webanalytics.service")

HELD_BYTES = 64_000_000
"""Bytes of content that wait for a worker before further fetches are held back."""

ROOM_SECONDS = 60.0
"""Longest wait for room beside the content that waits for a worker."""

WAIT_SECONDS = 30.0
"""Longest time beyond the fetch's own that a call waits for a site that is asked for much at once."""

NO_WORKER = "The service has no worker process at the moment; repeat the request later."

PREPARED = tuple(name for name, operation in OPERATIONS.items() if operation.kind != "record")
"""The operations that every worker is prepared for."""

_ANY_PAGE = next(operation for operation in OPERATIONS.values() if operation.kind == "page")


class Observer(Protocol):
    """What is told of the work, for the service's metrics."""

    def fetched(self, outcome: str, seconds: float) -> None:
        """Take note of a fetch: ``ok``, ``cancelled``, or the error type of its failure."""
        ...

    def analysed(self, operation: str, outcome: str, seconds: float) -> None:
        """Take note of an analysis: ``ok``, ``error``, ``timeout``, ``died`` or ``cancelled``."""
        ...

    def page_cache(self, hit: bool) -> None:
        """Take note of a page that was asked for, and whether there was no need to fetch it."""
        ...


def fetch_settings(settings: ServiceSettings) -> FetchSettings:
    """Return the part of the service's settings that is about fetching.

    Examples
    --------
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
    )


class Engine:
    """Does the work of calls; an asynchronous context manager, for one event loop.

    Parameters
    ----------
    settings : ServiceSettings
        The configuration.
    images : ImageStore
        Where converted images go; opened by the caller.
    names : aiohttp.abc.AbstractResolver, optional
        Looks up host names.
    metrics : Observer, optional
        Told of fetches and analyses.

    Notes
    -----
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
        metrics: Observer | None = None,
    ) -> None:
        self._settings = settings
        self._images = images
        self._names = names
        self._metrics = metrics
        self._workers = worker_count({"workers": settings.workers})
        self._work = {name: Work(operation) for name, operation in OPERATIONS.items()}

    async def __aenter__(self) -> Self:
        settings = self._settings
        async with AsyncExitStack() as stack:
            self._pool = await stack.enter_async_context(WorkerPool(self._workers, settings.worker_memory))
            self._fetcher = await stack.enter_async_context(
                Fetcher(fetch_settings(settings), names=self._names)
            )
            self._pages = PageCache(
                self._fetch_page,
                settings.page_cache_seconds,
                settings.page_cache_bytes,
                told=None if self._metrics is None else self._metrics.page_cache,
            )
            stack.push_async_callback(self._pages.close)
            self._worker_turns = Turns(self._workers)
            self._fetch_turns = Turns(None, max(1, settings.fetch_concurrency // 2))
            self._room = Room(HELD_BYTES)
            self._warming = asyncio.create_task(self._warm_up())
            stack.push_async_callback(self._stop_warming)
            self._stack = stack.pop_all()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self._stack.aclose()

    async def _warm_up(self) -> None:
        """Start the workers before the first page waits for one."""
        starts = [
            self._pool.run("prepare", PREPARED, (PREPARED,), START_SECONDS) for _ in range(self._workers)
        ]
        for outcome in await asyncio.gather(*starts, return_exceptions=True):
            if isinstance(outcome, Exception):
                log.error("a worker process did not start: %s", type(outcome).__name__)

    async def _stop_warming(self) -> None:
        self._warming.cancel()
        await asyncio.gather(self._warming, return_exceptions=True)

    def compute_record(self, operation: Operation, parameters: Mapping[str, Any]) -> Result | None:
        """Return the result of a record operation at once, None where it would take too long for that.

        Parameters
        ----------
        operation : Operation
            An operation of the kind ``record``.
        parameters : Mapping
            Checked values by request name, defaults filled in.
        """
        return self._record(operation, parameters) if is_quick(parameters) else None

    def _record(self, operation: Operation, parameters: Mapping[str, Any]) -> Result:
        work = self._work[operation.name]
        try:
            return work.result(work.function(parameters[operation.subject], **work.settings(parameters)))
        except RowError as error:
            return outcomes.analysis_failure(operation, error)
        except ParameterError as error:
            return Result(400, None, outcomes.served_sentence(operation, str(error)))
        except Exception as error:
            return self._unexpected(operation, error)

    async def compute(
        self,
        operation: Operation,
        parameters: Mapping[str, Any],
        *,
        account: int,
        upload_bytes: int,
        premium: bool,
        fresh: bool = False,
        base_url: str = "",
    ) -> Result:
        """Return the result of one call; whatever goes wrong is a result, too.

        Parameters
        ----------
        operation : Operation
            Which operation.
        parameters : Mapping
            Checked values by request name, defaults filled in, without those that only local calls have.
        account : int
            For whom: nothing fetched for one account is shown to another.
        upload_bytes : int
            Largest image.
        premium : bool
            Whether Premium parameters take effect.
        fresh : bool
            Fetch a page anew even where it was fetched a moment ago.
        base_url : str
            Public address of the service, for download links.
        """
        work = self._work[operation.name]
        try:
            if operation.kind == "record":
                if is_quick(parameters):
                    return self._record(operation, parameters)
                return await asyncio.to_thread(self._record, operation, parameters)
            settings = work.settings(parameters, premium=premium)
            subject = parameters[operation.subject]
            if operation.kind == "page":
                return await self._page(work, subject, settings, account, fresh)
            settings["limits"] = ImageLimits(max_bytes=upload_bytes)
            return await self._image(work, subject, settings, account, base_url)
        except Problem as problem:
            return problem.result
        except FetchError as error:
            return outcomes.fetch_failure(error)
        except RowError as error:
            return outcomes.analysis_failure(operation, error)
        except BackendError as error:
            log.error("no worker process: %s", type(error).__name__)
            return Result(503, None, NO_WORKER, RETRY_SECONDS)
        except Exception as error:
            return self._unexpected(operation, error)

    @staticmethod
    def _unexpected(operation: Operation, error: Exception) -> Result:
        # Neither text nor traceback: they may hold what was submitted.
        log.error("%s failed unexpectedly: %s", operation.name, type(error).__name__)
        return outcomes.failed(operation)

    async def _page(
        self, work: Work, url: str, settings: dict[str, Any], account: int, fresh: bool
    ) -> Result:
        page = await self._pages.get(account, url, fresh=fresh)
        content = (page.content, url, page.final_url, page.content_type)
        answer = await self._analyse(work, settings, content, len(page.content), account)
        return work.result(answer) if isinstance(answer, Mapping) else answer

    async def _image(
        self, work: Work, image: str | bytes, settings: dict[str, Any], account: int, base_url: str
    ) -> Result:
        content = await self._image_content(work.operation, image, settings["limits"].max_bytes, account)
        answer = await self._analyse(work, settings, content, len(content), account)
        if not isinstance(answer, Mapping):
            return answer
        extension = EXTENSIONS[answer["outputFormat"]].removeprefix(".")
        stored = await self._images.save(answer["content"], extension)
        return work.result({**answer, **stored.fields(base_url)})

    async def _image_content(
        self, operation: Operation, image: str | bytes, limit: int, account: int
    ) -> bytes:
        if isinstance(image, bytes):
            if len(image) > limit:
                raise too_large(operation, limit)
            return image
        if is_address(image):
            return (await self._fetch(account, image, operation, max_bytes=limit)).content
        if len(image) <= QUICK_BYTES:
            return image_bytes(operation, image, limit)
        return await asyncio.to_thread(image_bytes, operation, image, limit)

    async def _fetch_page(self, account: int, url: str) -> FetchedPage:
        response = await self._fetch(account, url, _ANY_PAGE)
        return FetchedPage(response.final_url, response.content_type, response.content)

    async def _fetch(
        self, account: int, url: str, operation: Operation, max_bytes: int | None = None
    ) -> Response:
        """Fetch what a call names; the time that it waits for its turn is bounded as well."""
        accept: Any = operation.kind
        clock = asyncio.get_running_loop().time
        await self._wait_for_room()
        async with self._fetch_turns.turn(account):
            began, outcome = clock(), "cancelled"
            try:
                async with asyncio.timeout(self._settings.fetch_timeout + WAIT_SECONDS):
                    response = await self._fetcher.fetch(url, operation.subject, accept, max_bytes=max_bytes)
                outcome = "ok"
                return response
            except FetchError as error:
                outcome = error.error_type
                raise
            except TimeoutError:
                outcome = "timeout"
                sentence = (
                    f"The `{operation.subject}` parameter names a site that takes fewer requests than it is "
                    "sent; repeat the request later."
                )
                raise Problem(503, sentence, retry_after=WAIT_SECONDS) from None
            finally:
                if self._metrics is not None:
                    self._metrics.fetched(outcome, clock() - began)

    async def _wait_for_room(self) -> None:
        try:
            async with asyncio.timeout(ROOM_SECONDS):
                await self._room.wait()
        except TimeoutError:
            raise Problem(503, BUSY, retry_after=RETRY_SECONDS) from None

    async def _analyse(
        self, work: Work, settings: dict[str, Any], content: Any, size: int, account: int
    ) -> Mapping[str, Any] | Result:
        """Return a worker's answer, or the result of a failure."""
        operation = work.operation
        name, kind = operation.name, operation.kind
        deadline = self._settings.parse_timeout if kind == "page" else self._settings.image_timeout
        arguments = ((name,), {name: settings}, content)
        clock = asyncio.get_running_loop().time
        with self._room.hold(size):
            async with self._worker_turns.turn(account):
                began, label = clock(), "cancelled"
                try:
                    answer = await self._pool.run(kind, PREPARED, arguments, deadline)
                    outcome = await self._outcome(kind, answer)
                    label = "ok" if outcome.error is None else "error"
                except TimeoutError:
                    label = "timeout"
                    return outcomes.too_slow(operation, deadline)
                except WorkerDiedError:
                    label = "died"
                    return outcomes.worker_died(operation)
                finally:
                    if self._metrics is not None:
                        self._metrics.analysed(name, label, clock() - began)
        if outcome.data is not None:
            return outcome.data
        result = outcomes.analysis_failure(
            operation, RowError(outcome.error or "", outcome.error_type or "parse")
        )
        if result.status == 500:
            log.error("an analysis failed: %s", outcome.error)
        return result

    @staticmethod
    async def _outcome(kind: str, answer: Any) -> Outcome:
        if kind != "page":
            return Outcome(*answer[0])
        packed = PackedOutcomes(answer)
        return packed[0] if len(answer) <= QUICK_BYTES else await asyncio.to_thread(packed.__getitem__, 0)
