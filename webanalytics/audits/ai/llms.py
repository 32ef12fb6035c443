"""llms.txt: whether a site has one, and what is wrong with its form. Nothing of it is scored.

Search engines do not use the file; some coding agents read it (see the guide on crawlers).
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import pandas as pd

from webanalytics.audits.graph.site_links import origin
from webanalytics.core.access_by_host import access_for, without_logins
from webanalytics.core.messages import row_sentence
from webanalytics.core.operations.model import Dtype
from webanalytics.errors import ParameterError
from webanalytics.fetching import Fetcher, FetchError
from webanalytics.runs.backends.local import fetch_settings
from webanalytics.runs.frames.inputs import addresses_of
from webanalytics.runs.frames.schema import as_frame, make_columns

MOST_ORIGINS = 100
"""Sites that are asked in one call."""
LARGEST = 500_000
"""Bytes of a file that are read."""
MOST_FAULTS = 10

LLMS: Mapping[str, Dtype] = {
    **{"url": "string", "present": "boolean", "title": "string", "sections": "integer", "links": "integer"},
    **{"bytes": "integer", "faults": "object", "status": "string", "error": "string", "error_type": "string"},
}
"""Columns of `llms_frame`."""

_TITLE = re.compile(r" {0,3}#\s+(\S.*?)(?:\s#+)?")
_LINK = re.compile(
    r"\s*[-*+]\s*\[(?:\\.|\[[^][\n]{0,200}\]|[^][\\\n]){0,500}\]\(\s*"
    r"(?:<([^<>\n]{0,2000})>|((?:\([^()\s]{0,500}\)|[^()\s]){0,2000}))(?:\s[^)\n]{0,500})?\)"
)
"""By CommonMark: brackets in the text of a link are in pairs or escaped, in its address in pairs."""
_ITEM = re.compile(r"\s*[-*+]\s")
_FENCE = re.compile(r" {0,3}(```+|~~~+)")


def llms_facts(text: str) -> dict[str, Any]:
    r"""Return what an llms.txt holds, and what differs from its proposal.

    Notes
    -----
    llmstxt.org, read on 2026-11-22: one heading of the first level with the name of the site; sections of the
    second level with lists of links, if any. It is a proposal, no standard.

    Examples
    --------
    >>> llms_facts("# Tea\n\n## Docs\n\n- [Green](https://tea.example/green.md): leaves\n")["faults"]
    []
    >>> llms_facts("## Docs\n- green tea\n")["faults"]
    ['It does not begin with a title ("# Name").', 'Line 2 is no link.']
    """
    faults = []
    sections, links = 0, 0
    lines = list(_outside_code(text.removeprefix("\ufeff").splitlines()))
    first = next((line for _, line in lines if line.strip()), "")
    if first.lstrip()[:1] == "<":
        return {"title": "", "sections": 0, "links": 0, "faults": ["It is a web page, not Markdown."]}
    titles = [found[1] for _, line in lines if (found := _TITLE.fullmatch(line))]
    if not _TITLE.fullmatch(first):
        faults.append('It does not begin with a title ("# Name").')
    title = titles[0][:200] if titles else ""
    if len(titles) > 1:
        faults.append(f"It has {len(titles):,} titles.")
    for number, line in lines:
        if re.match(r"##\s+\S", line):
            sections += 1
        elif (found := _LINK.match(line)) is not None:
            links += 1
            if not (found[1] or found[2]).startswith(("https://", "http://", "/")):
                faults.append(f"Line {number} has a link without a full address.")
        elif sections and _ITEM.match(line):
            faults.append(f"Line {number} is no link.")
    more = [f"There are {len(faults) - MOST_FAULTS:,} more faults."] if len(faults) > MOST_FAULTS else []
    return {"title": title, "sections": sections, "links": links, "faults": faults[:MOST_FAULTS] + more}


def _outside_code(lines: Iterable[str]) -> Iterator[tuple[int, str]]:
    """Yield number and text of the lines that stand in no fenced block of code."""
    fence = ""
    for number, line in enumerate(lines, 1):
        found = _FENCE.match(line)
        if found and found[1].startswith(fence):
            fence = "" if fence else found[1]
        elif not fence:
            yield number, line.rstrip()


async def llms_frame(urls: str | Iterable[str], options: Mapping[str, Any]) -> pd.DataFrame:
    """Ask each site of some addresses once for its llms.txt."""
    urls = addresses_of(urls, "urls")
    given = [urls] if isinstance(urls, str) else list(urls) if isinstance(urls, Iterable) else []
    if not given or not all(isinstance(url, str) for url in given):
        raise ParameterError.must_be("urls", "the address of a site, or a list of them")
    given, logins = without_logins(given)
    places = [place for place in dict.fromkeys(origin(url) for url in given) if place is not None]
    if not 0 < len(places) <= MOST_ORIGINS:
        raise ParameterError.on("urls", f"must name from 1 to {MOST_ORIGINS} sites in http or https")
    async with Fetcher(fetch_settings(access_for(options, given, logins))) as fetcher:
        rows = await asyncio.gather(*(_row(fetcher, f"{place}/llms.txt") for place in places))
    columns = make_columns({name: [row.get(name) for row in rows] for name in LLMS}, LLMS)
    return as_frame(columns, pd.RangeIndex(len(rows)), "llms_txt")


async def _row(fetcher: Fetcher, url: str) -> dict[str, Any]:
    row: dict[str, Any] = {"url": url, "status": "ok", "present": False, "faults": []}
    try:
        answer = await fetcher.fetch(url, accept="any", max_bytes=LARGEST)
    except FetchError as error:
        if error.http_status in (404, 410):
            return row
        said = row_sentence(error.key, error.sentence, "page")
        failed = {"status": "error", "present": None, "faults": None, "error": said}
        return row | failed | {"error_type": error.error_type}
    text = answer.content.decode("utf-8-sig", "replace")
    return row | {"present": True, "bytes": len(answer.content)} | llms_facts(text)
