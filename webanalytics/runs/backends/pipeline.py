"""Fetch, wait for memory, analyse in a worker, name the failure: the middle of a call on a page or image.

`LocalBackend` and the service's engine both work through `Answering`. A page that comes with an HTTP error
is kept in audits, where its title and links tell what visitors meet; everywhere else it is only a failure.
What this machine is short of for the moment, such as file descriptors, is no fault of a page: it is asked
for again, with fewer pages at once, and the run ends where nothing helps. `Rendering` says which pages are
rendered before they are analysed, and what the analysis is told.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager, contextmanager
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, NamedTuple

from multidict import CIMultiDict

from webanalytics.core.messages import Message
from webanalytics.core.outcomes import ErrorPage, Fetched, PackedOutcomes
from webanalytics.errors import BackendError, RowError
from webanalytics.fetching import Fetcher, FetchError, Response
from webanalytics.fetching.content import media_type
from webanalytics.fetching.pace import backoff
from webanalytics.fetching.rendering.visit import Rendered
from webanalytics.fetching.response import LONGEST_HEADER, Asked, FetchLog, header_block
from webanalytics.operations import FACTS, METADATA, Operation
from webanalytics.page.declarations.unserved import RENDERING
from webanalytics.runs.workers.pool import WorkerDiedError, WorkerPool, worker_count
from webanalytics.urls import host_of

INFLIGHT_BYTES = 64_000_000
"""Bytes of content that may wait for a worker before further fetches are held back."""


AHEAD = 4
"""Pages for each worker that may be fetched and not analysed: a run that is killed loses them."""


class InflightBytes:
    """Bytes waiting for a worker; while they exceed the limit, nothing further is fetched."""

    def __init__(self, limit: int, workers: int = 1) -> None:
        self._limit = limit
        self._workers = workers
        self._free = asyncio.Event()
        self._free.set()
        self._line: deque[asyncio.Future[None]] = deque()
        self.count = self.pages = 0

    async def wait(self) -> None:
        """Wait until the bytes are below the limit."""
        await self._free.wait()

    async def ready(self) -> None:
        """Wait until the workers need a further page.

        Where pages come faster than they are analysed, one is let through for each that is done; where
        workers are about to run dry, all are.
        """
        if self.pages < AHEAD * self._workers and not self._line:
            return
        turn = asyncio.get_running_loop().create_future()
        self._line.append(turn)
        await turn

    def _call_in(self) -> None:
        dry = self.pages <= 2 * self._workers
        while self._line and (dry or self.pages < AHEAD * self._workers):
            turn = self._line.popleft()
            if not turn.done():
                turn.set_result(None)
                if not dry:
                    return

    @contextmanager
    def hold(self, size: int, pages: int = 1) -> Iterator[None]:
        """Count bytes as waiting; those of a page that is rendered, for no worker."""
        self._add(size)
        self.pages += pages
        try:
            yield
        finally:
            self.pages -= pages
            self._add(-size)
            self._call_in()

    def _add(self, size: int) -> None:
        self.count += size
        if self.count > self._limit:
            self._free.clear()
        else:
            self._free.set()


class Answering:
    """One fetcher and one pool of workers, with a bound on the content between them."""

    def __init__(self, fetcher: Fetcher, pool: WorkerPool) -> None:
        self._fetcher = fetcher
        self._pool = pool
        self.inflight = InflightBytes(INFLIGHT_BYTES, pool.size)

    async def fetch(
        self,
        url: str,
        operation: Operation,
        max_bytes: int | None = None,
        *,
        error_pages: bool = False,
        asked: Asked | None = None,
    ) -> Response:
        """Return the response to a URL, or raise `FetchError`; the caller waits for `inflight` first."""
        accept: Any = operation.kind
        return await self._fetcher.fetch(
            url, operation.subject, accept, max_bytes=max_bytes, error_pages=error_pages, asked=asked
        )

    async def analyse(
        self,
        operations: Sequence[Operation],  # all of one kind, whose subject has one name
        settings: Mapping[str, Mapping[str, Any]],  # settings by operation name
        content: Any,  # the arguments of `Page`, or an image
        deadline: float,  # seconds that the analysis may take
        # paths of analyses that the worker must have imported; by default those of the operations
        prepared: tuple[str, ...] = (),
        parameter: str = "",  # the name by which errors call the content; by default that of the subject
        # name of a page operation whose outcome is packed for itself; the answer is then a pair
        apart: str = "",
    ) -> Any:
        """Return a worker's answer about content: packed outcomes of a page, a list of those of an image."""
        operation = operations[0]
        parameter = parameter or operation.subject
        paths = {item.name: item.analysis for item in operations}
        arguments = (paths, settings, content, *([apart] if apart else []))
        try:
            return await self._pool.run(
                operation.kind, prepared or tuple(paths.values()), arguments, deadline
            )
        except TimeoutError:
            raise RowError("analysis_timeout", parameter=parameter, seconds=deadline) from None
        except WorkerDiedError:
            raise RowError("analysis_died", parameter=parameter) from None


READ = (METADATA, FACTS)
"""What is read of a page that comes with an HTTP error; its text is nothing to judge.
Of a refusal nothing is read."""


def said_by(headers: CIMultiDict[str]) -> dict[str, Any]:
    """Return the parts of `Fetched` that headers give, and the time.

    >>> known = said_by(CIMultiDict({"Content-Type": "text/html", "ETag": "1"}))
    >>> known["content_type"], known["x_robots_tag"], known["headers"].splitlines()
    ('text/html', '', ['Content-Type: text/html', 'ETag: 1'])
    """
    return {
        "content_type": headers.get("Content-Type", "")[:LONGEST_HEADER],
        "x_robots_tag": "\n".join(headers.getall("X-Robots-Tag", ()))[:LONGEST_HEADER],
        "headers": header_block(headers.items()),
        "fetched_at": datetime.now(UTC).isoformat(timespec="seconds"),
    }


def where_it_ended(error: FetchError, known: Fetched) -> Fetched:
    """Return how far a fetch came that failed; ``known`` is what the record of a page says of it."""
    more: dict[str, Any] = {} if error.headers is None else said_by(error.headers)
    if known.source == "fetched":
        more["redirect_kinds"] = error.redirect_kinds
    return replace(
        known,
        final_url=error.final_url or None,
        redirects=tuple(error.redirects),
        http_status=error.http_status,
        elapsed=error.elapsed or known.elapsed or None,
        bytes=error.bytes or None,
        **more,
    )


async def error_page(
    answering: Answering,
    operations: Sequence[Operation],
    settings: Mapping[str, Mapping[str, Any]],
    error: FetchError,
    url: str,
    fetched: Fetched,
    deadline: float,
) -> ErrorPage | None:
    """Return the outcomes of a page that came with an HTTP error; None if nothing can be read of it."""
    content = error.content
    read = [operation for operation in operations if operation in READ]
    if not content or error.key != "status" or error.error_type == "refused" or not read:
        return None
    page = (content, url, fetched.final_url or url, fetched.content_type or "")
    try:
        with answering.inflight.hold(len(content)):
            packed = await answering.analyse(
                read, {item.name: settings[item.name] for item in read}, page, deadline
            )
    except RowError:
        return None
    places = tuple(read.index(item) if item in read else None for item in operations)
    return ErrorPage(error, packed, places)


PATIENCE_SECONDS = 60.0
"""How long to go on without one page that is answered."""
SHORTEST_PAUSE, LONGEST_PAUSE = 0.1, 2.0
"""Seconds before a page is asked again, doubled from the one to the other."""
EVERY = 1.0
"""Seconds between two reductions: many pages report one shortage."""
MOST_TRIES = 20
"""How often a page may report a shortage while others are answered: then it is about that page."""
SPARE = 2 / 3
"""Share of the free file descriptors that connections may take."""


class ShortageError(Exception):
    """Something that this machine has too little of; ``instead`` is what else the failure could mean."""

    def __init__(self, what: str, instead: Exception | None = None) -> None:
        super().__init__(what)
        self.what, self.instead = what, instead


class Shortages:
    """The shortages of one run."""

    def __init__(self, fewer: Callable[[], object], note: Callable[[str], None]) -> None:
        self._fewer, self._note = fewer, note
        self._since: float | None = None
        self._reduced = 0.0
        self.answered = 0

    def passed(self) -> None:
        """Note that a page was answered."""
        self._since = None
        self.answered += 1

    async def wait(self, shortage: ShortageError, tries: int) -> None:
        """Do less at once, and wait before a page is asked again."""
        now = asyncio.get_running_loop().time()
        self._since = now if self._since is None else self._since
        if now - self._since > PATIENCE_SECONDS:
            raise BackendError(
                f"The `concurrency` parameter must be smaller: this machine has no {shortage.what} left "
                "for a single page."
                if shortage.what != NAMES
                else "The name server of this machine must answer: it does not, and no host can be looked up "
                "(a smaller `concurrency` helps where it is overloaded)."
            )
        if now - self._reduced >= EVERY:
            self._reduced = now
            self._fewer()
            self._note(f"waiting for {shortage.what}, and asking for less at once")
        await asyncio.sleep(backoff(tries, SHORTEST_PAUSE, LONGEST_PAUSE))


NAMES = "answer of a name server"


def affordable(concurrency: int) -> int:
    """Return how many connections the process has file descriptors for, at most as many as are wanted."""
    try:
        import resource

        limit = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
        used = sum(1 for _ in Path("/dev/fd").iterdir())
    except (ImportError, OSError, ValueError):  # not a POSIX system
        return concurrency
    return concurrency if limit < 0 else max(1, min(concurrency, int((limit - used) * SPARE)))


OFF = "off"
_LOOK = "webanalytics.page.rendering:look"
HTML = "text/html; charset=utf-8"


class Shown(NamedTuple):
    """A page as it is analysed, and the settings of `RENDERING` for it."""

    content: bytes
    page: tuple[str, str, str]
    settings: dict[str, Any]


def is_on(options: Mapping[str, Any]) -> bool:
    """Return whether pages of a run may be rendered."""
    return bool(options.get("render", OFF) != OFF)


def with_rendering(operations: tuple[Operation, ...], options: Mapping[str, Any]) -> tuple[Operation, ...]:
    """Return the operations of an audit, and what it says of rendering where it renders."""
    return (*operations, RENDERING) if is_on(options) else operations


def check_browser(options: Mapping[str, Any]) -> None:
    """Raise for rendering without a browser, before any work."""
    if is_on(options):
        from webanalytics.fetching.rendering.browser import executable

        executable()


class Rendering:
    """Renders the pages of a run that need it."""

    def __init__(
        self, fetcher: Fetcher, renderer: Any, pool: WorkerPool, options: Mapping[str, Any], keep: bool
    ) -> None:
        self._fetcher = fetcher
        self._renderer, self._pool, self._keep = renderer, pool, keep
        self._all, self._seconds = options["render"] == "all", float(options["parse_timeout"])

    async def shown(self, url: str, response: Response) -> Shown:
        """Return a page as it is analysed: as a browser rendered it, else as it was sent."""
        as_sent = Shown(response.content, (url, response.final_url, response.content_type), {})
        plain = media_type(response.content_type) == "text/plain"
        before = None if plain else await self._look((response.content, *as_sent.page))
        if before is None or not (self._all or before["needs_scripts"]):
            return as_sent
        made: Rendered = await self._renderer.render(response)
        seen: dict[str, Any] = {"note": made.note, "errors": made.errors, "failed": made.failed}
        told = {"sent": before, "seen": seen}
        if made.html and host_of(made.url) != host_of(response.final_url):
            seen["note"] = f"its scripts lead to {made.url[:300]}"
        elif made.html:
            seen["rendered"] = True
        if "rendered" not in seen:
            return as_sent._replace(settings=told)
        if made.url.partition("#")[0] != response.final_url:
            seen["url"] = made.url
        html = made.html.encode("utf-8", "replace")
        log = FetchLog("rendered", Asked(url), final_url=response.final_url, rendered=html)
        await self._fetcher.record(log)
        if self._keep:
            seen["html"] = response.content.decode("utf-8", "replace")
        return Shown(html, (url, made.url, HTML), told)

    async def _look(self, page: tuple[Any, ...]) -> dict[str, Any] | None:
        """Return how the page looks without scripts; None where that cannot be told."""
        arguments = ({"look": _LOOK}, {"look": {"whole": self._all}}, page)
        try:
            packed = await self._pool.run("page", (_LOOK,), arguments, self._seconds)
        except (TimeoutError, WorkerDiedError):  # its analysis says so in a moment
            return None
        found = PackedOutcomes(packed).unpack()[0]
        return None if isinstance(found, Message) else dict(found)


@asynccontextmanager
async def rendering(
    options: Mapping[str, Any], fetcher: Fetcher, pool: WorkerPool, settings: Mapping[str, Mapping[str, Any]]
) -> AsyncIterator[Rendering | None]:
    """Yield what renders the pages of a run, None where it renders none; browsers end with the block."""
    if not is_on(options):
        yield None
        return
    from webanalytics.fetching.rendering.renderer import Renderer

    keep = bool(settings.get("metadata", {}).get("body"))
    async with Renderer(fetcher, worker_count(options["workers"])) as renderer:
        yield Rendering(fetcher, renderer, pool, options, keep)
