"""Charts of the report: lists and tables whose bars are inline SVG, so that their text keeps its size.

Bars carry no text and no colour of their own: the style sheet colours them for light, dark and print.
"""

from __future__ import annotations

from collections import Counter
from http import HTTPStatus
from urllib.parse import quote

from webanalytics.seo.report.cells import Scalar
from webanalytics.seo.report.content import PRIORITIES, Content
from webanalytics.seo.report.markup import Markup, element, joined

MOST_RULES = 12
MOST_SECTIONS = 15
BIN = 5
"""Characters of a title in one bar of the histogram."""

LAST_BIN = 100
TITLE_LIMITS = (30, 60)
"""Characters between which a title is seen whole and says enough, as rules of titles have them by default."""

_HEIGHT, _TOP, _BASE = 150, 6, 128


def figure(name: str, note: str, body: object, kind: str = "") -> Markup:
    """Return a chart with its headline and what it counts."""
    label = f"chart-{name.lower().replace(' ', '-')}"
    return element(
        "section",
        element("h3", name, id=label),
        element("p", note, class_="note"),
        body,
        class_=f"chart {kind}".strip(),
        aria_labelledby=label,
    )


def number(value: int) -> str:
    """Return a whole number with separators.

    >>> number(12345)
    '12,345'
    """
    return f"{value:,}"


def bar(share: float, colour: str) -> Markup:
    """Return a bar of a share of the width, from 0 to 1."""
    width = f"{max(0.6, 100 * share):.2f}%" if share > 0 else "0"
    return element(
        "svg",
        element("rect", width=width, height="100%", rx="2", class_=colour),
        class_="bar",
        aria_hidden="true",
        focusable="false",
    )


def _bars(lines: list[tuple[object, int, str, str]]) -> Markup:
    """Return a list of bars: label, number, colour and what is said after the number."""
    most = max((count for _, count, _, _ in lines), default=0) or 1
    items = (
        element(
            "li",
            element("span", label, class_="label"),
            bar(count / most, colour),
            element("span", number(count), element("small", f" {after}") if after else "", class_="count"),
        )
        for label, count, colour, after in lines
    )
    return element("ul", joined(items), class_="bars")


def priorities(content: Content) -> Markup:
    """Return bars of issues by priority."""
    lines: list[tuple[object, int, str, str]] = [
        (
            _button(priority.capitalize(), priority=priority),
            content.issues_of[priority],
            priority,
            f"on {number(content.pages_of[priority])} pages",
        )
        for priority in PRIORITIES
    ]
    return figure("Issues by priority", "Issues, and the pages that have any of them.", _bars(lines))


def rules(content: Content) -> Markup:
    """Return bars of the rules that most pages break."""
    most = sorted(content.rules, key=lambda line: (-line.pages, PRIORITIES.index(line.priority)))
    lines: list[tuple[object, int, str, str]] = [
        (
            element(
                "a",
                line.title,
                href=f"#rule-{quote(line.name, safe='', errors='replace')}",
                title=f"{line.priority} priority",
            ),
            line.pages,
            line.priority,
            percent(line.share),
        )
        for line in most[:MOST_RULES]
    ]
    left = len(most) - len(lines)
    note = "Pages affected; colours are priorities." + (f" {left} more rules below." if left > 0 else "")
    return figure("Rules by pages", note, _bars(lines) if lines else element("p", "No issue."), "wide")


def percent(share: float) -> str:
    """Return a share in per cent; a little is never nothing.

    >>> percent(0.5), percent(0.0004), percent(0.9999)
    ('50%', '<1%', '>99%')
    """
    if 0 < share < 0.01:
        return "<1%"
    return ">99%" if 0.99 < share < 1 else f"{share:.0%}"


def status_label(value: Scalar) -> str:
    """Return an HTTP status with its phrase.

    >>> status_label(404), status_label(None), status_label(599)
    ('404 Not Found', 'No answer', '599')
    """
    if not isinstance(value, (int, float)):
        return "No answer"
    code = int(value)
    phrase = HTTPStatus(code).phrase if code in HTTPStatus.__members__.values() else ""
    return f"{code} {phrase}".strip()


def statuses(content: Content) -> Markup | None:
    """Return bars of HTTP status codes, or of what went well and what did not where there are none."""
    if "http_status" not in content.pages:
        failed = content.size - content.ok
        pairs: list[tuple[object, int, str, str]] = [
            (_button("Read", status="ok"), content.ok, "good", ""),
            (_button("Failed", status="failed"), failed, "high", ""),
        ]
        return figure("Pages read", "Pages by how their fetch ended.", _bars(pairs))
    counts = Counter(content.values("http_status"))
    ordered = sorted(counts.items(), key=lambda item: (item[0] is None, item[0] or 0))
    lines: list[tuple[object, int, str, str]] = [
        (
            _button(status_label(code), status="none" if code is None else f"http:{code}"),
            count,
            _status_colour(code),
            percent(count / content.size),
        )
        for code, count in ordered
    ]
    return figure("Status codes", "Pages by the status of their last answer.", _bars(lines))


def _status_colour(code: Scalar) -> str:
    if not isinstance(code, (int, float)) or code >= 500:
        return "high"
    return "good" if code < 300 else "low" if code < 400 else "medium"


def matrix(content: Content) -> Markup | None:
    """Return a table of sections by categories of rules: pages with an issue of it."""
    if "section" not in content.pages or not content.rules:
        return None
    sections = content.values("section")
    pairs = {
        (page, content.rules[rule].category)
        for page, rule in zip(content.issues["page"], content.issues["rule"], strict=True)
        if page >= 0
    }
    counts = Counter((sections[page], category) for page, category in pairs)
    sizes = Counter(section for section in sections if section is not None)
    shown = [section for section, _ in sizes.most_common(MOST_SECTIONS)]
    categories = list(dict.fromkeys(line.category for line in content.rules))
    categories.sort(key=lambda name: -sum(counts[section, name] for section in shown))
    head = element(
        "tr", element("th", "Section", scope="col"), element("th", "Pages", scope="col"),
        *(element("th", element("span", category_label(category)), scope="col") for category in categories),
    )  # fmt: skip
    rows = (
        element(
            "tr",
            element("th", _button(str(section), section=str(section)), scope="row"),
            element("td", number(sizes[section]), class_="size"),
            *(_cell(section, name, counts[section, name], sizes[section]) for name in categories),
        )
        for section in shown
    )
    left = len(sizes) - len(shown)
    note = "Pages of a section with an issue of a category; the darker, the larger their share."
    note += f" The largest {len(shown)} of {number(len(sizes))} sections." if left else ""
    body = element("table", element("thead", head), element("tbody", joined(rows)), class_="matrix")
    scroll = element(
        "div", body, class_="scroll", tabindex="0", role="region", aria_label="Matrix of sections"
    )
    return figure("Sections by category", note, scroll, "full")


def category_label(category: str) -> str:
    """Return the name of a category at the head of a column.

    >>> category_label("url"), category_label("structured data"), category_label("")
    ('URL', 'Structured data', 'Other')
    """
    return category.upper() if category in ("url", "html") else category.capitalize() or "Other"


def _cell(section: Scalar, category: str, count: int, size: int) -> Markup:
    if not count:
        return element("td", "·", class_="none")
    tint = min(5, 1 + int(5 * count / size)) if size else 1
    what = _button(number(count), section=str(section), category=category)
    return element("td", what, class_=f"t{tint}")


def _button(label: str, **wanted: str) -> Markup:
    """Return a button that filters the pages."""
    data = {f"data_{key}": value for key, value in wanted.items()}
    return element("button", label, type="button", class_="set", **data)


def titles(content: Content) -> Markup | None:
    """Return a histogram of the lengths of titles in characters."""
    lengths = [int(value) for value in content.values("titleLength") if isinstance(value, (int, float))]
    if not lengths:
        return None
    low, high = TITLE_LIMITS
    slots = LAST_BIN // BIN + 1
    bins = Counter(min(length, LAST_BIN) // BIN for length in lengths)
    good = Counter(min(length, LAST_BIN) // BIN for length in lengths if low <= length <= high)
    most = max(bins.values())
    parts = [_zone(low, high, slots)]
    parts += [_column(slot, good[slot], bins[slot], most, slots) for slot in sorted(bins)]
    for mark in range(0, LAST_BIN + 1, 20):
        x = f"{100 * mark / BIN / slots:.2f}%"
        last = mark == LAST_BIN
        label = f"{mark}+" if last else mark
        parts.append(element("text", label, x=x, y=str(_BASE + 18), class_="tick" + " first" * (mark == 0)))
    parts.append(element("line", x1="0", x2="100%", y1=str(_BASE), y2=str(_BASE), class_="axis"))
    short, long = sum(value < low for value in lengths), sum(value > high for value in lengths)
    words = (
        f"{number(len(lengths) - short - long)} titles of {low} to {high} characters, "
        f"{number(short)} shorter, {number(long)} longer."
    )
    svg = element("svg", joined(parts), class_="histogram", height=str(_HEIGHT), role="img", aria_label=words)
    return figure("Title lengths", words, svg, "titles")


def _zone(low: int, high: int, slots: int) -> Markup:
    left, width = 100 * low / BIN / slots, 100 * (high - low) / BIN / slots
    return element(
        "rect", x=f"{left:.2f}%", width=f"{width:.2f}%", y=str(_TOP), height=str(_BASE - _TOP), class_="zone"
    )


def _column(slot: int, good: int, count: int, most: int, slots: int) -> Markup:
    """Return the bar of some lengths: what is within the limits at the bottom, the rest upon it."""
    first = slot * BIN
    said = f"{first} or more" if first >= LAST_BIN else f"{first} to {first + BIN - 1}"
    parts: list[object] = [element("title", f"{said} characters: {number(count)}")]
    bottom = float(_BASE)
    for part, colour in ((good, "good"), (count - good, "medium")):
        height = (_BASE - _TOP) * part / most
        if part:
            bottom -= height
            parts.append(_block(slot, bottom, height, slots, colour))
    return element("g", *parts)


def _block(slot: int, top: float, height: float, slots: int, colour: str) -> Markup:
    x, width = f"{100 * (slot + 0.08) / slots:.2f}%", f"{100 * 0.84 / slots:.2f}%"
    return element("rect", x=x, width=width, y=f"{top:.1f}", height=f"{height:.1f}", class_=colour)
