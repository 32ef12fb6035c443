"""The desk's form: pages, operations, where the work is done, options."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import ipywidgets as w
import pandas as pd

from webanalytics.core.access import Access
from webanalytics.core.proxy import Proxy
from webanalytics.core.run_options import RECORDS, options
from webanalytics.core.strings import one_line, shortened
from webanalytics.errors import ParameterError
from webanalytics.notebook.widgets.parts import button, labelled, row
from webanalytics.operations import AUDIT, METADATA
from webanalytics.records.hmac.widget import SecretField
from webanalytics.runs.backends.hosted import Hosted
from webanalytics.runs.frames.input_files import decoded, read_table
from webanalytics.runs.frames.inputs import read_values
from webanalytics.urls import address, is_web, lacks_scheme


class AccessFields:
    """The fields, and the options that they set."""

    def __init__(self) -> None:
        def text(placeholder: str, tooltip: str) -> w.Text:
            return w.Text(placeholder=placeholder, tooltip=tooltip, layout=w.Layout(width="220px"))

        self.host = text("that of the site", "Host that is opened, or *. and a domain")
        self.user = text("", "User name")
        self.secret = SecretField("Password, or token")
        self.cookies = text("cookies.txt", "File with cookies: cookies.txt, or a browser's export in JSON")
        self.proxy = text("env or http://user@proxy:3128", "Proxy; env is that of the environment")
        self.proxy_secret = SecretField("Password of the proxy")
        self.box = row(
            labelled("Host that is opened", self.host),
            labelled("User name", self.user),
            labelled("Password, or a token where there is no user name", self.secret),
            labelled("File with cookies", self.cookies),
            labelled("Proxy", self.proxy),
            labelled("Password of the proxy", self.proxy_secret),
        )

    def options(self, site: str) -> dict[str, Any]:
        """Return the options of a run over a site; raises `ParameterError` where none can carry them."""
        chosen: dict[str, Any] = {}
        if self.proxy.value.strip():
            chosen["proxy"] = Proxy.with_password(self.proxy.value.strip(), _typed(self.proxy_secret))
        user, secret = self.user.value.strip(), _typed(self.secret)
        given: dict[str, Any] = {"user": user, "password": secret} if user else {"token": secret or None}
        given["cookies"] = self.cookies.value.strip() or None
        if user or any(given.values()):
            found = address(site if "://" in site else f"https://{site}")
            host = self.host.value.strip() or (found.host if found else "")
            if not host:
                raise ParameterError.on("access", "must name the host that is opened")
            chosen["access"] = {host: Access(**given)}
        return chosen


def _typed(field: SecretField) -> str:
    return "" if field.secret is None else field.secret.reveal().decode()


MOST_URLS = 100_000


@dataclass(frozen=True)
class Urls:
    """Addresses on the web, in order and each once; how many entries were none, and one of these."""

    found: list[str]
    left_out: int
    such_as: str = ""


def urls_in(values: Iterable[object]) -> Urls:
    """Return the URLs among values; a path of a file on this machine is not one.

    Examples
    --------
    >>> urls_in([" https://a.example/ ", "", "notes.html", "b.example", "https://a.example/"])
    Urls(found=['https://a.example/', 'b.example'], left_out=1, such_as='notes.html')
    """
    texts = [value.strip() for value in values if isinstance(value, str) and value.strip()]
    found = list(dict.fromkeys(text for text in texts if _is_address(text)))
    if len(found) > MOST_URLS:
        raise ParameterError.on("urls", f"must hold at most {MOST_URLS:,} URLs")
    others = [text for text in texts if not _is_address(text)]
    return Urls(found, len(others), shortened(one_line(others[0][:200]), 40) if others else "")


def _is_address(text: str) -> bool:
    return is_web(text) or lacks_scheme(text)


def urls_in_text(text: str) -> Urls:
    """Return the URLs of a text, one per line; a comma or semicolon after one is ignored."""
    return urls_in(line.strip().strip(",;\"'<>") for line in text.splitlines())


def read_upload(name: str, content: bytes) -> pd.DataFrame:
    """Return an uploaded CSV, or text file with one URL per line; raises `ParameterError` for others."""
    if b"\0" in content[:1000]:
        raise ParameterError.must_be("upload", "a CSV or text file")
    if name.lower().endswith(".txt"):
        return pd.DataFrame({"url": decoded(content, spreadsheet=True).splitlines()}, dtype=object)
    try:
        return read_table(content)
    except ParameterError as error:
        raise error.of("upload") from None


def urls_in_table(table: pd.DataFrame, column: str | None = None) -> Urls:
    """Return the URLs of a table; raises `ParameterError` with the candidates for an ambiguous column."""
    return urls_in(read_values(table, METADATA, "urls", column).tolist())


MOST_OF_SITE = 1_000
"""Pages of a sitemap that a run takes, unless more are asked for."""

HERE, THERE = "This machine", "Hosted API"
TITLES = {
    **dict.fromkeys(("site", "sitemap", "start"), "Site or sitemap"),
    "urls": "Pages, one URL a line",
    "upload": "Upload CSV",
    "source": "Search data",
    "column": "Column that holds the URLs",
    "operations": "What to find out",
    "base_url": "Address of the API",
    "api_key": "API key",
    "budget": "Most credits to spend",
    "concurrency": "Fetches at once",
    "per_host": "… from one host",
    "delay": "Seconds between fetches",
    "timeout": "Seconds for a page",
    "access": "Passwords and proxies",
    "proxy": "Proxy",
}
"""What the fields are called, by the parameters that they set."""
_NARROW = w.Layout(width="110px")


def of_fields(text: str) -> str:
    """Return a sentence on parameters as one on the fields that set them.

    >>> of_fields("The `timeout` parameter must be a number.")
    '“Seconds for a page” must be a number.'
    """
    return re.sub(
        r"[Tt]he `(\w+)` parameter", lambda at: f"“{TITLES[at[1]]}”" if at[1] in TITLES else at[0], text
    )


def _column(*children: w.Widget, **layout: str) -> w.VBox:
    return w.VBox(list(children), layout=w.Layout(min_width="0", overflow="visible", **layout))


def _tick(value: bool, text: str, **layout: str) -> w.Checkbox:
    return w.Checkbox(value=value, description=text, indent=False, layout=w.Layout(width="auto", **layout))


class Form:
    """The form's input widgets, and the options they set."""

    def __init__(self, backend: Hosted | None = None) -> None:
        if backend is None and isinstance(options.backend, Hosted):
            backend = options.backend
        self.given = backend
        self.urls = w.Textarea(
            placeholder="https://example.org/\nhttps://example.org/about",
            tooltip=TITLES["urls"],
            layout=w.Layout(width="100%", height="120px", margin="0"),
        )
        self.site = w.Text(
            placeholder="https://example.org/ or https://example.org/sitemap.xml",
            tooltip="Site or sitemap: all pages that the sitemap lists",
            layout=w.Layout(width="100%", margin="0"),
        )
        self.crawl = _tick(False, "Crawl from this address: follow its links", margin="0")
        self.crawl.tooltip = "Follow links instead of reading the sitemap alone"
        self.upload = w.FileUpload(accept=".csv,.tsv,.txt", multiple=False, description=TITLES["upload"])
        self.upload.layout = w.Layout(width="auto", flex="0 0 auto")
        self.search = w.FileUpload(
            accept=".csv,.tsv,.gz,.zip,.xlsx",
            multiple=False,
            description=TITLES["source"],
            tooltip="Export of Search Console, Bing or Analytics: clicks beside the pages",
            disabled=True,
            layout=w.Layout(width="auto"),
        )
        self.column = w.Dropdown(options=[], tooltip=TITLES["column"], layout=w.Layout(width="220px"))
        self.column_box = labelled(TITLES["column"], self.column)
        self.column_box.layout.display = "none"
        self.operations = {item.name: _tick(True, item.title) for item in AUDIT}
        self._make_backend(backend)
        self._make_options()
        self.run = button("Run")
        self.stop = w.Button(description="Stop", disabled=True, layout=w.Layout(width="auto"))
        self.report = w.Button(
            description="Report",
            disabled=True,
            tooltip="Write the report, an HTML file, beside the notebook",
            layout=w.Layout(width="auto"),
        )
        self.bar = w.IntProgress(min=0, max=1, layout=w.Layout(width="240px", display="none"))

    def _make_backend(self, backend: Hosted | None) -> None:
        self.where = w.ToggleButtons(options=[HERE, THERE], value=HERE if backend is None else THERE)
        self.where.style.button_width = "130px"
        self.base_url = w.Text(
            value="" if backend is None else backend.base_url,
            placeholder="https://api.example.com",
            tooltip=TITLES["base_url"],
            layout=w.Layout(width="260px"),
        )
        self.key = SecretField(TITLES["api_key"])
        self.budget = w.Text(placeholder="no limit", tooltip=TITLES["budget"], layout=_NARROW)
        self.hosted = _column(
            labelled(TITLES["base_url"], self.base_url),
            labelled(TITLES["api_key"], self.key),
            labelled(TITLES["budget"], self.budget),
        )
        self.where.observe(self._show_hosted, "value")
        self._show_hosted(None)

    def _make_options(self) -> None:
        def number(key: str, low: float, high: float) -> w.Widget:
            kind = w.BoundedFloatText if isinstance(RECORDS[key].default, float) else w.BoundedIntText
            value = getattr(options, key)
            return kind(value=value, min=low, max=high, layout=_NARROW, tooltip=RECORDS[key].meaning)

        self.numbers = {
            "concurrency": number("concurrency", 1, 1000),
            "per_host": number("per_host", 1, 100),
            "delay": number("delay", 0, 3600),
            "timeout": number("timeout", 0.001, 3600),
        }
        flags = {"robots": "Respect robots.txt", "allow_private": "Private and loopback addresses too"}
        self.flags = {
            key: _tick(getattr(options, key), text, margin="0 14px 0 0") for key, text in flags.items()
        }
        self.most = w.BoundedIntText(
            value=MOST_OF_SITE,
            min=1,
            max=MOST_URLS,
            layout=_NARROW,
            tooltip="Most pages that are taken from a sitemap, or fetched by a crawl",
        )
        self.render = w.Dropdown(
            options=[("none", "off"), ("those that look empty without scripts", "auto"), ("all", "all")],
            value=options.render,
            tooltip=RECORDS["render"].meaning,
            layout=w.Layout(width="280px"),
        )
        fields = [labelled(TITLES[key], field) for key, field in self.numbers.items()]
        fields.append(labelled("Most pages of a site", self.most))
        fields.append(labelled("Pages that a browser renders", self.render))
        self.access = AccessFields()
        self.accordion = w.Accordion([_column(row(*fields), row(*self.flags.values())), self.access.box])
        self.accordion.layout = w.Layout(margin="6px 2px")
        self.accordion.titles = ("Options", TITLES["access"])

    def _show_hosted(self, _change: Any) -> None:
        self.hosted.layout.display = "" if self.where.value == THERE else "none"

    def layout(self, note: w.Widget) -> w.Widget:
        """Return the form as one widget."""
        upload = w.Box([self.upload, note], layout=w.Layout(align_items="center", grid_gap="10px"))
        left = _column(
            labelled(TITLES["site"], self.site),
            self.crawl,
            labelled(TITLES["urls"], self.urls),
            upload,
            self.column_box,
        )
        right = _column(
            labelled(TITLES["operations"], row(*self.operations.values())),
            labelled("Where", self.where),
            self.hosted,
        )
        columns = w.Layout(
            grid_template_columns="repeat(auto-fit, minmax(min(100%, 300px), 1fr))",
            grid_gap="6px 24px",
            overflow="visible",
        )
        return _column(w.GridBox([left, right], layout=columns), self.accordion)

    def chosen(self) -> tuple[str, ...]:
        """Return the selected operations, or raise `ParameterError` if none is selected."""
        names = tuple(name for name, box in self.operations.items() if box.value)
        if not names:
            raise ParameterError.on("operations", "must have at least one tick")
        return names

    def run_options(self) -> dict[str, Any]:
        """Return the options of a run; raises `ParameterError` for those that are none."""
        opened = self.access.options(self.site.value.strip())
        if self.where.value == HERE:
            values = {key: field.value for key, field in (self.numbers | self.flags).items()}
            return {"backend": None, **values, "render": self.render.value, **opened}
        chosen: dict[str, Any] = {"backend": self.backend(), **opened}
        if self.numbers["concurrency"].value != options.concurrency:  # else the backend checks it
            chosen["concurrency"] = self.numbers["concurrency"].value
        budget = self.budget.value.strip().replace(",", "")
        if budget:
            if not budget.isascii() or not budget.isdecimal():
                raise ParameterError.must_be("budget", "a number of credits")
            chosen["budget"] = int(budget)
        return chosen

    def credits(self, pages: int) -> int:
        """Return the most credits that the selected operations may cost; zero on this machine."""
        if self.where.value == HERE:
            return 0
        chosen = [item for item in AUDIT if self.operations[item.name].value]
        return pages * sum(item.credits if self.given is None else self.given.price(item) for item in chosen)

    def backend(self) -> Hosted:
        """Return the hosted API that the form names, or the one given if it names none."""
        address = self.base_url.value.strip()
        if self.given is not None and self.key.secret is None and address == self.given.base_url:
            return self.given
        if self.key.secret is None:
            raise ParameterError.on("api_key", "is required: type it and leave the field")
        return Hosted(address, self.key.secret)
