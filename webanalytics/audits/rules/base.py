"""The parts of a rule: one declaration with one small function; every file of rules imports them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from webanalytics.audits.site import Site
from webanalytics.core.outcomes import Fact
from webanalytics.core.run_options import options
from webanalytics.thresholds import Priority

Category = Literal[
    "title",
    "description",
    "headings",
    "url",
    "images",
    "content",
    "indexability",
    "canonical",
    "hreflang",
    "response",
    "security",
    "structured data",
    "social",
    "html",
    "links",
    "accessibility",
    "sitemap",
    "own",
]
Type = Literal["issue", "warning", "opportunity"]
Scope = Literal["page", "host"]
"""What a finding is of: one page, or the host, whose pages are then counted in one issue."""

Find = Callable[[Site, Any], "Iterable[Finding]"]
"""The search of a rule: what it finds in a site with a threshold, at most one finding for each page."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One page that a rule reports."""

    row: int  # position among the pages
    value: Any = None  # what was measured: a number or a text
    evidence: str = ""  # what shows it, in at most a few hundred characters
    whole: bool = field(default=False, repr=False)  # whether it is of every page of a host


@dataclass(frozen=True, slots=True)
class PageByPage:
    """A search that looks at each page alone and reads columns by `Site.read` only, perhaps in portions.

    Examples
    --------
    >>> import pandas as pd
    >>> @PageByPage
    ... def find(site: Site, _: Any) -> Iterable[Finding]:
    ...     return (Finding(row) for row, title in site.read("title") if title == "A")
    >>> site = Site(pd.DataFrame({"status": ["ok"] * 3, "title": ["A", "B", "A"]}))
    >>> with site.portion([1, 2]):
    ...     [finding.row for finding in find(site, None)]
    [2]
    """

    search: Find

    def __call__(self, site: Site, threshold: Any) -> Iterable[Finding]:
        """Yield what is found on the pages that `site` shows."""
        return self.search(site, threshold)


@dataclass(frozen=True)
class Rule:
    """One rule."""

    name: str  # in frames, thresholds and profiles, such as ``title_too_long``
    title: str  # for people
    category: Category
    explanation: str  # why it matters, in one or two sentences
    fix: str  # what to do, in one sentence
    # Takes the site and the threshold, and yields findings, at most one for each page; one that looks at each
    # page alone is marked by `PageByPage`, which makes it fast where the pages are in a folder.
    find: Find
    type: Type = "issue"  # a fault; something to look at; something that could be better
    priority: Priority = "medium"  # how much it matters by default
    threshold: float | None = None  # the limit, where there is one
    unit: str = ""  # what the threshold counts, such as ``characters``
    columns: tuple[str, ...] = ()  # that it reads: if one is missing, it is not tried and the audit says so
    needs: tuple[Fact, ...] = ()  # facts about the fetches; if no page record has them, nor is it tried
    measured: str = ""  # how it is measured, in one or two sentences
    source: str = ""  # a standard with its section, or the name and address of a documentation page
    address: str | None = None  # where it is explained; None is in the documentation of this package
    scope: Scope = "page"  # what an issue is of: a page, or a host with the number of its pages

    @property
    def help(self) -> str:
        """The page that explains the rule: its place in the documentation, or an address; '' if none.

        Examples
        --------
        >>> from webanalytics.audits.rules import RULES
        >>> RULES["title_missing"].help
        'rules/title_missing.html'
        """
        return f"rules/{self.name}.html" if self.address is None else self.address

    @property
    def link(self) -> str:
        """Address of that page where the option ``docs_url`` says where the documentation is, else ''.

        Examples
        --------
        >>> from webanalytics.audits.rules import RULES
        >>> from webanalytics.core.run_options import option_context
        >>> with option_context(docs_url="https://docs.example.org/"):
        ...     RULES["title_missing"].link
        'https://docs.example.org/rules/title_missing.html'
        """
        return self.address if self.address is not None else from_docs(self.help)


def from_docs(place: str) -> str:
    """Return the address of a page of the documentation, '' where nobody said where that is."""
    base = options.docs_url
    return f"{base.rstrip('/')}/{place}" if base else ""


def missing_pages(site: Site) -> Mapping[int, bool]:
    """Return the rows of pages missing with status 200, and whether a redirect led there."""
    found: Mapping[int, bool] = site.once("missing pages", lambda: dict(_missing(site)))
    return found


def _missing(site: Site) -> Iterator[tuple[int, bool]]:
    soft = site.crawl.soft_404 if site.crawl else ()
    ends = zip(site.addresses.requested, site.addresses.final, site.good, strict=True)
    for row, (asked, end, good) in enumerate(ends if soft else ()):
        if good and (end in soft or asked in soft):
            yield row, end not in soft
