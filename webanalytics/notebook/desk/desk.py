"""The audit desk: a site or a list of pages, choose, run, stop, look at the result, write its report."""

from __future__ import annotations

import asyncio
import tempfile
import time
from pathlib import Path
from typing import Any
from urllib.parse import quote

import ipywidgets as w
import pandas as pd
from markupsafe import Markup

from webanalytics.audits.audit import Audit
from webanalytics.core.access import Access
from webanalytics.core.access_by_host import access_for, without_logins
from webanalytics.core.run_options import check_options
from webanalytics.core.run_options import options as session
from webanalytics.core.strings import counted
from webanalytics.errors import ParameterError, WebAnalyticsError
from webanalytics.notebook.desk.form import Form, of_fields, read_upload, urls_in, urls_in_table, urls_in_text
from webanalytics.notebook.desk.run import BARS, Background, DeskRun, Plan, joined, outcome, report_path, work
from webanalytics.notebook.desk.site import is_sitemap
from webanalytics.notebook.explorer.explorer import Explorer
from webanalytics.notebook.widgets.parts import NOT_IN_MARIMO, as_text, named, panel, status_line
from webanalytics.operations import METADATA
from webanalytics.runs.backends.hosted import Hosted
from webanalytics.runs.frames.foreign import as_pandas
from webanalytics.runs.frames.inputs import Inputs, read_values

_ABOUT = ("Audit desk", "audits pages from a form.")


class AuditDesk(w.VBox):  # type: ignore[misc]
    """A form that audits pages, and the explorer of what was found: see `app`.

    ``audit`` and ``frame`` are the last result, also of a run that was stopped (without an audit where some
    operations alone were chosen), and ``explorer`` shows it; ``form`` has the form's widgets, and ``message``
    is what the status line says.
    """

    def __init__(self, urls: Inputs | None = None, backend: Hosted | None = None) -> None:
        if not isinstance(backend, Hosted | None):
            raise ParameterError.must_be("backend", "a `webanalytics.Hosted`, or None")
        self.audit: Audit | None = None
        self.frame: pd.DataFrame | None = None
        self.explorer: Explorer | None = None
        self.message = ""
        self.form = Form(backend)
        self._saved: pd.DataFrame | None = None
        self._logins: dict[str, Access] = {}
        self._table = pd.DataFrame()
        self._background: Background | None = None
        self._note = w.HTML()
        self._status = w.HTML()
        self._failures = w.HTML()
        self._written = w.Output()
        self._results = w.VBox(layout=w.Layout(min_width="0", overflow="visible"))
        form = self.form
        buttons = w.Box(
            [form.run, form.stop, form.report, form.search, form.bar, self._status],
            layout=w.Layout(align_items="center", flex_flow="row wrap", grid_gap="4px 10px", margin="6px 0"),
        )
        super().__init__(
            [form.layout(self._note), buttons, self._failures, self._written, self._results],
            layout=w.Layout(padding="4px 8px 4px 4px", overflow="visible"),
        )
        form.run.on_click(self._on_run)
        form.stop.on_click(self._on_stop)
        for field in (form.site, form.base_url, form.budget):
            field.on_msg(self._on_key)
        form.report.on_click(self._on_report)
        form.upload.observe(self._on_upload, "value")
        form.search.observe(self._on_search, "value")
        form.column.observe(self._on_column, "value")
        for field in (form.urls, form.site, form.crawl, form.most, form.where, *form.operations.values()):
            field.observe(self._count, "value")
        self._fill(urls)

    def _fill(self, urls: Inputs | None) -> None:
        if urls is None:
            return
        urls = as_pandas(urls, "urls")
        if isinstance(urls, pd.DataFrame) and "html" in urls.columns:
            self._saved = urls.reset_index(drop=True)
            self.form.urls.placeholder = f"{len(urls):,} saved pages were given; write here to use others"
            self._count(None)
            return
        self.form.urls.value = "\n".join(urls_in(read_values(urls, METADATA, "urls").tolist()).found)
        self._without_logins(self.form.urls)

    def _describe(self, remark: str) -> None:
        self._note.value = panel(as_text(remark)) if remark else ""

    def _count(self, _change: Any) -> None:
        try:
            read = urls_in_text(self.form.urls.value)
        except ParameterError as error:
            self._describe(str(error))
            return
        count = len(read.found) if self._saved is None or read.found else len(self._saved)
        site = self.form.site.value.strip()
        found = "that links of the site lead to" if self.form.crawl.value else "that the site's sitemap lists"
        said = [f"the pages {found}, at most {self.form.most.value:,}"] * bool(site)
        said += [counted(count, "URL")] * bool(count or read.left_out)
        left = f"{counted(read.left_out, 'line')} left out, such as “{read.such_as}”"
        said += [left] * bool(read.left_out)
        price = self.form.credits(self.form.most.value if site else count)
        said += [f"at most {price:,} credits"] * bool(price)
        self._describe(", ".join(said))

    def _on_upload(self, change: Any) -> None:
        if not change["new"]:
            return
        try:
            self._table = read_upload(*_taken(self.form.upload))
            self.form.column_box.layout.display = "none"
            self._take(None)
        except ParameterError as error:
            self._ask_column(error)

    def _ask_column(self, error: ParameterError) -> None:
        self._say(str(error), "bad")
        if error.parameter != "column":
            return
        self._say("Which column of the file holds the URLs?", "warning")
        names = [str(name) for name in self._table.columns]
        self.form.column.options = [("choose…", None), *((name[:80], name) for name in dict.fromkeys(names))]
        self.form.column.value = None
        self.form.column_box.layout.display = ""

    def _on_column(self, change: Any) -> None:
        if change["new"] is None:
            return
        try:
            self._take(change["new"])
        except ParameterError as error:
            self._say(str(error), "bad")

    def _take(self, column: str | None) -> None:
        read = urls_in_table(self._table, column)
        if not read.found:
            raise ParameterError.on("upload", "must hold addresses, such as example.org")
        self.form.urls.value = "\n".join(read.found)
        left = f"; {counted(read.left_out, 'other cell')} left out" if read.left_out else ""
        self._say(f"{counted(len(read.found), 'URL')} taken from the file{left}.")

    def plan(self) -> Plan:
        """Return the form's choices as a plan; raises `ParameterError` for one that is not valid."""
        inputs: Any = self._without_logins(self.form.urls)
        site = " ".join(self._without_logins(self.form.site)) or self.form.site.value.strip()
        if not site and len(inputs) == 1 and is_sitemap(inputs[0]):
            site, inputs = inputs[0], []
        if not site and not inputs and self._saved is not None:
            inputs = self._saved
        crawl = self.form.crawl.value
        if crawl and not site:
            raise ParameterError(
                "The `site` parameter is empty: a crawl begins with the address of a site.", "start"
            )
        if not site and not len(inputs):
            raise ParameterError(
                "The `site` parameter is empty, and the `urls` parameter has no address like example.org.",
                "urls",
            )
        options = check_options(self.form.run_options())
        if session.access is not None:
            options.setdefault("access", session.access)
        options = access_for(options, [site, *self.form.urls.value.split()], self._logins)
        return Plan(inputs, self.form.chosen(), options, site, self.form.most.value, crawl)

    def _without_logins(self, field: w.Text | w.Textarea) -> list[str]:
        """Return the URLs of a field; user names and passwords in them do not stay in what is saved."""
        found, logins = without_logins(urls_in_text(field.value).found)
        if logins:
            self._logins |= logins
            field.value = "\n".join(found)
        return list(found)

    def _on_run(self, _button: Any) -> None:
        if self._background is not None and self._background.running:
            return
        try:
            plan = self.plan()
        except WebAnalyticsError as error:
            self._say(str(error), "bad")
            return
        self._busy(True)
        self._background = Background(lambda: self._work(plan))

    def _on_key(self, _field: w.Text, content: Any, _buffers: Any) -> None:
        if content.get("event") == "submit":  # Enter
            self._on_run(None)

    def _on_stop(self, _button: Any) -> None:
        if self._background is not None:
            self.form.stop.disabled = True
            self._background.stop()

    async def _work(self, plan: Plan) -> None:
        started = time.monotonic()
        done: list[tuple[str, pd.DataFrame | Audit]] = []
        run = DeskRun(self._progress, len(plan.calls))
        ended = ""
        try:
            await work(plan, run, done)
        except asyncio.CancelledError:
            ended = "Stopped"
        except WebAnalyticsError as error:
            ended = getattr(error, "sentence", str(error))
        except Exception as error:  # its text may hold what was typed
            ended = f"This could not be done ({type(error).__name__})."
        try:
            total = run.total or len(plan.inputs)
            self._finish(joined(done, plan.operations), ended, total, run, time.monotonic() - started)
        except Exception as error:
            self._say(f"The result cannot be shown ({type(error).__name__}).", "bad")
        finally:
            self._busy(False)

    def _finish(
        self, result: pd.DataFrame | Audit | None, ended: str, total: int, run: DeskRun, seconds: float
    ) -> None:
        audit = result if isinstance(result, Audit) else None
        frame = result.raw if isinstance(result, Audit) else result
        if result is not None and (len(result) or not ended):
            self.audit, self.frame = audit, frame
            self._show(result)
        least = audit is not None and audit.origin.crawl is not None
        if audit is not None and least and ended:  # more addresses than it had begun to fetch
            self.form.bar.max = total = len(audit) + int(audit.skipped["reason"].eq("limit").sum())
        found = outcome(frame, ended, total, seconds, least)
        tone = "warning" if run.remarks and found.tone == "good" else found.tone
        self._failures.value = found.failures
        self.form.bar.bar_style = BARS[tone]
        all_of_it = self.form.bar.max if total else 0
        self.form.bar.value = all_of_it if not ended else 0 if frame is None else len(frame)
        self._say(" ".join([found.said, *run.notes, *run.remarks]), tone)

    def _on_report(self, _button: Any) -> None:
        if self.explorer is None or self.frame is None:
            return
        try:
            path = self.explorer.report(report_path(self.explorer.pages, Path()))
        except WebAnalyticsError as error:
            self._say(f"{error} “Report (HTML)” among the downloads needs no file here.", "bad")
            return
        except Exception as error:
            self._say(f"The report could not be written ({type(error).__name__}).", "bad")
            return
        self._say(f"Report written: {path}.", "good")
        link = Markup(
            '<a href="{0}" target="_blank">Open the report</a> · <a href="{0}" download>Download it</a> '
            "(opened in JupyterLab, its filters work after “Trust HTML”)"
        )
        data = {"text/plain": str(path), "text/html": link.format(quote(str(path)))}
        # as an output, because in one JupyterLab finds files by their names
        self._written.outputs = ({"output_type": "display_data", "data": data, "metadata": {}},)

    def _on_search(self, change: Any) -> None:
        """Put what search engines counted beside the pages of the audit that is shown."""
        if not change["new"]:
            return
        name, content = _taken(self.form.search)
        if self.audit is None:
            return
        try:
            with tempfile.TemporaryDirectory(prefix="webanalytics-") as folder:
                path = Path(folder, f"search-data{''.join(Path(name).suffixes[-2:])}")
                path.write_bytes(content)
                audit = self.audit.with_search_data(path)
        except WebAnalyticsError as error:
            self._say(str(error), "bad")
            return
        except Exception as error:
            self._say(f"The file could not be read ({type(error).__name__}).", "bad")
            return
        added = audit.raw[audit.raw.columns.difference(self.audit.raw.columns)]
        known = added.select_dtypes("number").notna().any(axis=1).sum()
        self.audit, self.frame = audit, audit.raw
        self._show(audit)
        counts = ((known, "page"), (len(audit.search_queries), "row by query"))
        said = [counted(int(count), noun) for count, noun in counts if count]
        left = f", {counted(len(audit.unmatched), 'row')} of no page" if len(audit.unmatched) else ""
        self._say(f"Search data of {' and '.join(said) or 'no page'}{left}: see “To do”.", "good")

    def _show(self, result: pd.DataFrame | Audit) -> None:
        if self.explorer is None:
            self.explorer = Explorer(result, told=True)
            self._results.children = [self.explorer]
        else:
            self.explorer.frame = result

    def _busy(self, busy: bool) -> None:
        form = self.form
        form.run.disabled, form.stop.disabled = busy, not busy
        form.report.disabled = busy or self.explorer is None
        form.search.disabled = busy or self.audit is None
        if busy:
            form.bar.layout.display = ""
            form.bar.bar_style = ""
            form.bar.value = 0
            self._failures.value = ""
            self._written.outputs = ()
            self._say("Starting …")

    def _progress(self, done: int, total: int, said: str) -> None:
        self.form.bar.max = max(1, total)
        self.form.bar.value = done
        self._say(said or "Starting …")

    def _say(self, text: str, tone: str = "plain") -> None:
        self.message = text = of_fields(text)
        self._status.value = status_line(text, tone)

    def join(self, seconds: float | None = None) -> bool:
        """Wait for a run in a background thread, and return whether it has finished."""
        return self._background is None or self._background.join(seconds)

    def __repr__(self) -> str:
        rows = "no result yet" if self.frame is None else f"{len(self.frame)} rows"
        return f"<AuditDesk: {rows}>"

    def _repr_mimebundle_(self, **arguments: Any) -> dict[str, Any]:
        bundle: dict[str, Any] = super()._repr_mimebundle_(**arguments) or {}
        shown = "" if self.explorer is None else self.explorer._repr_html_()
        return {**bundle, "text/plain": repr(self), "text/html": named(*_ABOUT) + shown}

    def _mime_(self) -> tuple[str, str]:
        return "text/html", named(*_ABOUT, NOT_IN_MARIMO)


def _taken(upload: w.FileUpload) -> tuple[str, bytes]:
    """Return name and content of a file, and take it out of the widget, which the notebook is saved with."""
    (file,) = upload.value
    upload.value = ()
    return str(file["name"]), bytes(file["content"])


def app(urls: Inputs | None = None, backend: Hosted | None = None) -> AuditDesk:
    """Open the audit desk: a form in the notebook that audits a site or pages, and tabs that show them.

    Parameters
    ----------
    urls : list, Series, DataFrame, ..., optional
        Pages to begin with; a DataFrame with ``url`` and ``html`` holds saved pages.
    backend : Hosted, optional
        A hosted API to begin with; None for that of `webanalytics.use`, else this machine.

    Returns
    -------
    AuditDesk
        A widget. Its ``audit`` is the last result, its ``explorer`` the widget that shows it.

    Raises
    ------
    ParameterError
        For inputs that are not a list of pages, and another backend.

    Notes
    -----
    A site's pages are those of its sitemap: the one that its robots.txt names, else ``/sitemap.xml``. The
    report is written beside the notebook, under a name that no file has.

    The work is a task on the kernel's event loop: other cells can run meanwhile, and a run that is stopped
    keeps the rows that are done. An API key typed into the form goes to the kernel as a message; it is not
    part of a widget's state, so no saved notebook holds it. Without a kernel the work runs in a thread.

    Examples
    --------
    >>> desk = app(pd.DataFrame({"url": ["https://a.example/"], "html": ["<title>Tea</title><p>Tea"]}))
    >>> desk.form.run.click()
    >>> desk.join(60), desk.audit.pages.loc[0, "title"]
    (True, 'Tea')
    """
    return AuditDesk(urls, backend)
