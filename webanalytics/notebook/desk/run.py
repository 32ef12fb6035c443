"""The desk's work: running the chosen operations on an event loop, with progress, until done or stopped."""

from __future__ import annotations

import asyncio
import re
import threading
import time
import warnings
from collections import Counter
from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pandas as pd
from markupsafe import Markup

from webanalytics import aio, loops
from webanalytics.audits.audit import Audit
from webanalytics.audits.graph.site_links import count_missing
from webanalytics.audits.origin import Origin
from webanalytics.audits.overview.failures import reasons, refusal_warning, refused
from webanalytics.audits.report.gaps import plain
from webanalytics.core.messages import Advice
from webanalytics.core.strings import counted, part_of
from webanalytics.notebook.desk.site import list_pages
from webanalytics.notebook.explorer.table import clean, pages_of, texts
from webanalytics.notebook.widgets.parts import TONES, as_text, panel, paragraph
from webanalytics.operations import AUDIT
from webanalytics.runs.boundary import Run, current_run
from webanalytics.runs.partial import Partial
from webanalytics.urls import parts_of

REDRAW_SECONDS = 0.1
OPERATIONS = tuple(operation.name for operation in AUDIT)
_ALWAYS = (
    "url",
    "status",
    "error",
    "error_type",
    "final_url",
    "redirects",
    "http_status",
    "elapsed",
    "bytes",
)


@dataclass(frozen=True)
class Plan:
    """The pages, the operations of an audit to run on them, and the options of the run."""

    inputs: Any
    operations: tuple[str, ...]
    options: Mapping[str, Any] = field(default_factory=dict)
    site: str = ""  # a site or a sitemap whose pages come after the given ones
    most: int = 1_000  # most pages that are taken where a site is given
    crawl: bool = False  # whether the site's pages are found by following links

    @property
    def calls(self) -> tuple[str, ...]:
        """Return the functions to call: a crawl, an audit, or on a hosted API only the chosen operations."""
        if self.crawl:
            return ("crawl",)
        if len(self.operations) == 1:
            return self.operations
        hosted = self.options.get("backend") is not None
        return self.operations if hosted and len(self.operations) < len(OPERATIONS) else ("audit",)


class DeskRun(Run):
    """Passes the progress of one or several calls on to the desk: how many are done of all, and as a text."""

    def __init__(self, show: Callable[[int, int, str], None], calls: int = 1) -> None:
        super().__init__()
        self._show, self._calls = show, calls
        self._before = self._done = 0
        self._shown_at = 0.0
        self._text = self._least = ""
        self.remarks: list[str] = []
        self.notes: list[str] = []
        self.emit = self._remark

    def start(
        self,
        total: int,
        partial: Partial,
        name: str,
        wanted: bool | None,
        done: int = 0,
        *,
        grows: bool = False,
    ) -> None:
        """Begin the next call."""
        del name, wanted
        self._before += self.total or 0
        self._least = "at least " * grows
        self.total, self.partial, self._done = total, partial, done
        self._draw()

    def step(self, count: int = 1) -> None:
        """Report that more inputs have their answers."""
        self._done += count
        if time.monotonic() - self._shown_at >= REDRAW_SECONDS:
            self._draw()

    def note(self, text: str) -> None:
        """Show a few words next to the bar."""
        self._text = text
        self._draw()

    def _draw(self) -> None:
        self._shown_at = time.monotonic()
        done, total = self._before + self._done, (self.total or 0) * self._calls
        counts = f"{done:,} of {self._least}{total:,} answers" if total else ""
        self._show(done, total, " · ".join(filter(None, (counts, self._text))))

    def _remark(self, event: Callable[[], None]) -> None:
        """Show warnings in the status line, because standard error is not seen in a notebook."""
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            event()
        self.remarks += [str(warning.message) for warning in caught]


async def work(plan: Plan, run: DeskRun, done: list[tuple[str, pd.DataFrame | Audit]]) -> None:
    """Make the plan's calls, and put what each returned into `done`; of a stopped one its finished rows."""
    token = current_run.set(run)
    inputs, origin = plan.inputs, None
    try:
        if plan.site and not plan.crawl:
            run.note(f"Looking for the pages of {plan.site[:80]} …")
            listing = await list_pages(plan.site, list(plan.inputs), plan.most, plan.options)
            inputs, origin = listing.pages, listing.origin
            run.notes.append(listing.said)
            run.partial = None
            run.note("")
        for name in plan.calls:
            run.partial = None
            try:
                if plan.crawl:
                    starts = [plan.site, *inputs]
                    frame = await aio.crawl(starts, max_pages=plan.most, progress=False, **plan.options)
                else:
                    frame = await getattr(aio, name)(inputs, progress=False, **plan.options)
                done.append((name, _of_site(frame, origin)))
            except BaseException:
                if run.partial is not None:
                    done.append((name, _of_site(run.partial(), origin)))
                raise
    finally:
        current_run.reset(token)


def _of_site(frame: Any, origin: Origin | None) -> Any:
    if origin is None or not isinstance(frame, Audit):
        return frame
    return Audit(frame, replace(origin, stopped=frame.origin.stopped))


def joined(done: Sequence[tuple[str, Any]], operations: Sequence[str]) -> pd.DataFrame | Audit | None:
    """Return the frames of the calls side by side; an audit stays one where all operations are chosen."""
    if not done:
        return None
    if len(done) == 1:
        _, frame = done[0]
        some = isinstance(frame, Audit) and len(operations) < len(OPERATIONS)
        made: pd.DataFrame | Audit = _only(frame.raw, operations) if some else frame
        return made
    frames = [
        frame.rename(columns={"keywords": "meta_keywords"}) if name == "metadata" else pages_of(frame)
        for name, frame in done
    ]
    result = frames[0].copy()
    for other in frames[1:]:
        pages = other.reindex(result.index)
        failed = (result["status"] == "ok") & (pages["status"] == "error")
        for name in ("status", "error", "error_type"):
            result[name] = result[name].where(~failed, pages[name])
        for column in pages.columns.difference(result.columns, sort=False):
            result[column] = pages[column]
    return result


def _only(frame: pd.DataFrame, operations: Sequence[str]) -> pd.DataFrame:
    chosen = [operation for operation in AUDIT if operation.name in operations]
    names = {item.audit_name for operation in chosen for item in operation.columns} | set(_ALWAYS)
    return frame[[name for name in frame.columns if name in names]]


class Background:
    """A running coroutine: on the running event loop, or without one on a loop in its own thread."""

    def __init__(self, main: Callable[[], Coroutine[Any, Any, None]]) -> None:
        self._main = main
        self._thread: threading.Thread | None = None
        self._ready = threading.Event()
        try:
            self._loop = asyncio.get_running_loop()
        except RuntimeError:
            self._thread = threading.Thread(target=self._in_thread, name="webanalytics-desk", daemon=True)
            self._thread.start()
            self._ready.wait()
        else:
            self._task = self._loop.create_task(main())

    def _in_thread(self) -> None:
        async def main() -> None:
            self._loop = asyncio.get_running_loop()
            self._task = asyncio.ensure_future(self._main())
            self._ready.set()
            with suppress(asyncio.CancelledError):
                await self._task

        loops.run(main())

    @property
    def running(self) -> bool:
        """Whether there is still work."""
        return not self._task.done()

    def stop(self) -> None:
        """Cancel the coroutine, from any thread."""
        with suppress(RuntimeError):  # its loop is closed, so it has finished
            self._loop.call_soon_threadsafe(self._task.cancel)

    def join(self, seconds: float | None = None) -> bool:
        """Wait for work in its own thread, and return whether it is done."""
        if self._thread is not None:
            self._thread.join(seconds)
        return not self.running


FIELDS = {
    "robots=False": "untick “Respect robots.txt”",
    "allow_private=True": "tick “Private and loopback addresses too”",
    "timeout=": "raise “Seconds for a page”",
    "budget=": "raise “Most credits to spend”",
    "delay=": "raise “Seconds between fetches”",
    "access=": "fill in “Passwords and proxies”",
    "proxy=": "fill in “Proxy” and its password",
    'proxy="env"': "write env into “Proxy”",
}
"""What one changes in the form for each option."""

MOST_REASONS = 6
BARS = {"good": "success", "warning": "warning", "bad": "danger"}
"""The progress bar's style for each tone."""


@dataclass(frozen=True)
class Outcome:
    """A sentence, its tone, and the failures by reason as HTML."""

    said: str
    tone: str
    failures: str = ""


def outcome(
    frame: pd.DataFrame | None, ended: str, total: int, seconds: float, least: bool = False
) -> Outcome:
    """Return how a run ended; ``ended`` is empty, "Stopped", or the sentence of what went wrong.

    A crawl knows how many pages there are at `least`.

    Examples
    --------
    >>> pages = pd.DataFrame({"url": ["a", "b"], "status": ["error", "ok"], "error_type": ["dns", None]})
    >>> found = outcome(pages, "", 2, 1.5)
    >>> found.said, found.tone
    ('Done in 1.5 s: 1 page read, 1 page failed.', 'warning')
    >>> outcome(pages.head(1), "", 1, 1.5).said
    'Done in 1.5 s: 1 page failed, none was read.'
    """
    statuses = {} if frame is None else dict(zip(texts(frame, "url"), texts(frame, "status"), strict=True))
    done = len(statuses)
    failed = sum(status == "error" for status in statuses.values())
    pages = pages_of(pd.DataFrame() if frame is None or not failed else frame)
    reasons = failure_list(pages) if failed else ""
    away, gone = refused(pages), count_missing(pages)
    if ended and ended != "Stopped":
        stopped = f" The run stopped at {part_of(done, total, least)}." if total else ""
        return Outcome(ended + stopped, "bad", reasons)
    counts = ((failed - away - gone, "failed"), (gone, "missing"), (away, "refused"))
    parts = ", ".join(f"{counted(count, 'page')} {what}" for count, what in counts if count)
    said = " and ".join(filter(None, parts.rpartition(", ")[::2]))
    some = f", {said}" if said else ""
    if ended:
        told = f"Stopped at {part_of(done, total, least)}{some}."
        return Outcome(told, "bad" if failed and failed == done else "warning", reasons)
    if failed and failed == done:
        return Outcome(f"Done in {seconds:.1f} s: {said}, none was read.", "bad", reasons)
    told = f"Done in {seconds:.1f} s: {counted(done - failed, 'page')} read{some}."
    return Outcome(told, "warning" if failed else "good", reasons)


def failure_list(pages: pd.DataFrame) -> str:
    """Return the reasons of the failures as HTML, each with what changes it."""
    groups, warning = reasons(pages), plain(refusal_warning(pages))
    lines = [
        Markup('<li style="overflow-wrap:anywhere"><b>{}</b> × {}{}</li>').format(
            f"{len(rows):,}", as_text(clean(why.sentence)), _way(why.advice)
        )
        for why, rows in groups[:MOST_REASONS]
    ]
    if (left := len(groups) - MOST_REASONS) > 0:
        lines.append(Markup("<li>and {} more reasons</li>").format(left))
    style = f"border-left:4px solid {TONES['bad']};padding:2px 0 2px 8px;line-height:1.5"
    return panel(
        Markup(
            '<div role="note" style="{}">{}<b>Why pages failed</b>'
            '<ul style="margin:2px 0 0 18px">{}</ul></div>'
        ).format(style, paragraph(as_text(warning)) if warning else "", Markup().join(lines))
    )


def _way(advice: Advice | None) -> str:
    """Return what changes a failure as HTML: the field of the form, or else the option."""
    if advice is None:
        return ""
    if field := FIELDS.get(advice.option):
        return Markup(" <b>To change it:</b> {} (<code>{}</code>).").format(field, advice.option)
    return Markup(" <code>{}</code> {}.").format(advice.option, advice.change)


def report_path(frame: pd.DataFrame, folder: Path) -> Path:
    """Return a free file name for the report, after the host of most pages and the day.

    Examples
    --------
    >>> frame = pd.DataFrame({"url": ["https://tea.example/../a", None]})
    >>> report_path(frame, Path("/nowhere")).name.startswith("audit-tea.example-20")
    True
    """
    hosts = Counter(filter(None, map(_host, texts(frame, "url"))))
    host = hosts.most_common(1)[0][0] if hosts else "pages"
    stem = f"audit-{host}-{datetime.now(UTC):%Y-%m-%d}"
    path, number = folder / f"{stem}.html", 1
    while path.exists():
        number += 1
        path = folder / f"{stem}-{number}.html"
    return path


def _host(url: str) -> str:
    """Return the host of an address as a part of a file's name: letters, digits, dots and hyphens."""
    return re.sub(r"[^a-z0-9.-]+", "-", parts_of(url).hostname or "").strip(".-")[:60]
