"""Pages of a run that are rendered before they are analysed: which ones, and what the analysis is told.

`LocalBackend` asks it about each page that it has fetched.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any, NamedTuple

from webanalytics.core.messages import Message
from webanalytics.core.outcomes import PackedOutcomes
from webanalytics.fetching import Fetcher, Response
from webanalytics.fetching.rendering.visit import Rendered
from webanalytics.fetching.response import Asked, FetchLog
from webanalytics.operations import Operation
from webanalytics.page.declarations.rendering import RENDERING
from webanalytics.runs.backends.pipeline import worker_count
from webanalytics.runs.workers.pool import WorkerDiedError, WorkerPool
from webanalytics.urls import host_of

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
        plain = response.content_type.partition(";")[0].strip().lower() == "text/plain"
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
