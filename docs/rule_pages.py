"""A page for each rule of an audit, made of its declaration and its examples when the site is built."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from webanalytics.audits.rules import RULES
from webanalytics.audits.rules.base import Rule

FOLDER = Path(__file__).parent / "rules"
PAGE = "https://example.org/page"

_ADDRESS = re.compile(r"https?://[^\s;]+")
_TAG = re.compile(r"</?[a-z!][^>]*>", re.IGNORECASE)
_TYPES = {
    "issue": "A fault.",
    "warning": "Something to look at, which may be meant.",
    "opportunity": "Something that could be better.",
}
_KNOWN = {
    "sitemap": "In the sitemap",
    "files": "Files of sitemaps",
    "read": "When the sitemap was read",
    "checked": "What was asked besides",
    "skipped": "What the crawl left out",
    "traps": "Traps that the crawl found",
    "soft_404": "Pages like those of addresses that cannot exist",
}
"""What is known of the site of an example besides its pages."""
_SHOWN = ("http_status", "failure", "redirects", "headers", "content_type", "elapsed", "bytes")


def examples() -> dict[str, dict[str, Any]]:
    """Return the examples of every rule that has some."""
    found: dict[str, dict[str, Any]] = {}
    for path in sorted((FOLDER / "examples").glob("*.toml")):
        found.update(tomllib.loads(path.read_text("utf-8")))
    return found


_OF_HOST = " One issue for each host, with the number of its pages."


def page(rule: Rule, example: Mapping[str, Any]) -> str:
    """Return the page of a rule."""
    limit = "" if rule.threshold is None else f", limit {rule.threshold:,g} {rule.unit}"
    needs = "".join(f", needs `{fact}` of the page record" for fact in rule.needs)
    parts = [
        f"# {rule.title}",
        f"`{rule.name}`, category {rule.category}, {rule.priority} priority{limit}{needs}. "
        f"{_TYPES[rule.type]}",
        *_section("Why it matters", prose(rule.explanation)),
        *_section("How it is measured", prose(rule.measured + _OF_HOST * (rule.scope == "host"))),
        *_limit(rule),
        *_section("How to fix it", prose(rule.fix)),
    ]
    if example:
        fails, passes = example["fails"], example["passes"]
        parts += ["## Fails", *_shown(fails, passes), "## Passes", *_shown(passes, fails)]
    return "\n\n".join([*parts, *_section("Source", rule.source and _linked(rule.source))]) + "\n"


def _section(title: str, text: str) -> tuple[str, ...]:
    """Return a section, or nothing: a rule of another package may leave it out."""
    return (f"## {title}", text) if text else ()


def prose(text: str) -> str:
    """Return a sentence as Markdown: a tag that it names is code, not markup."""
    return _TAG.sub(lambda found: f"`{found[0]}`", text)


def _limit(rule: Rule) -> Iterator[str]:
    if rule.threshold is not None:
        yield (
            f'Another limit: `wa.audit(..., thresholds={{"{rule.name}": {rule.threshold:g}}})`, or '
            f"`{rule.name} = {rule.threshold:g}` under `[thresholds]` of a profile."
        )


def _linked(source: str) -> str:
    parts = (_ADDRESS.sub(lambda found: f"<{found[0]}>", part) for part in source.split("; "))
    return "\n".join(f"- {part}" for part in parts)


def _shown(example: Any, other: Any) -> Iterator[str]:
    """Yield an example: its pages, and what else is known; lines are marked that the other lacks."""
    site, others = _site(example), _site(other)
    if "start" in site:
        yield f"A crawl from `{site['start']}`."
    for name, words in _KNOWN.items():
        if site.get(name):
            yield f"{words}:\n\n" + "\n".join(f"- {_row(row)}" for row in _list(site[name]))
    if "robots_txt" in site:
        yield _block("robots.txt", site["robots_txt"], "text", others.get("robots_txt", ""))
    records = _records(site["pages"])
    there = {record["url"]: record.get("html", "") for record in _records(others["pages"])}
    for record in records:
        url = record["url"]
        if len(records) > 1 or url != PAGE or set(record) != {"url", "html"}:
            yield f"`{url}`" + _facts(record)
        if "html" in record:
            same = len(there) == 1 and len(records) == 1
            yield _block(
                "", record["html"], "html", next(iter(there.values())) if same else there.get(url, "")
            )


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else [value]


def _row(row: Any) -> str:
    """Return an address, or a row of a table, its address first."""
    if not isinstance(row, dict):
        return f"`{row}`"
    url = row.get("url")
    cells = [f"`{name}`: {_value(value)}" for name, value in row.items() if name != "url"]
    return ", ".join([f"`{url}`", *cells] if url else cells)


def _site(example: Any) -> Mapping[str, Any]:
    return example if isinstance(example, dict) else {"pages": example}


def _records(pages: Any) -> list[dict[str, Any]]:
    records = [{"html": pages}] if isinstance(pages, str) else pages
    return [{"url": PAGE, **record} for record in records]


def _facts(record: Mapping[str, Any]) -> str:
    names = [name for name in record if name not in ("url", "html")]
    said = (f"`{name}`: {_value(record[name])}" for name in sorted(names, key=_place))
    return ", " + ", ".join(said) if names else ""


def _place(name: str) -> int:
    return _SHOWN.index(name) if name in _SHOWN else len(_SHOWN)


def _value(value: Any) -> str:
    if isinstance(value, list):
        return " → ".join(f"`{item}`" for item in value) or "none"
    if isinstance(value, dict):
        return ", ".join(f"`{key}` {item}" for key, item in value.items())
    return f"`{' | '.join(str(value).splitlines())}`"


def _block(name: str, text: str, language: str, other: str) -> str:
    """Return a text as a block of code, with the lines marked that the other text lacks."""
    lines, others = text.rstrip().splitlines(), set(other.splitlines())
    marked = [str(number) for number, line in enumerate(lines, 1) if others and line not in others]
    marks = f"\n:emphasize-lines: {','.join(marked)}" if marked and len(marked) < len(lines) else ""
    fence = "`" * max(3, 1 + max((len(run) for run in re.findall("`+", text)), default=0))
    code = "\n".join(lines)
    return f"{name}\n\n{fence}{{code-block}} {language}{marks}\n\n{code}\n{fence}".strip()


def index() -> str:
    """Return the list of all rules, by category."""
    text = (
        "# Every rule\n\nOne page each: why it matters, how it is measured, how to fix it, an example that "
        "fails and one that passes, and its source. The column `help` of `audit.issues` has the address of "
        "the page. As one table: [rules of an audit](../reference/rules.md).\n"
    )
    for category in dict.fromkeys(rule.category for rule in RULES.values()):
        text += f"\n## {category.capitalize()}\n\n"
        text += "".join(
            f"- [{rule.title}]({rule.name}.md) `{rule.name}`\n"
            for rule in RULES.values()
            if rule.category == category
        )
    listed = "\n".join(RULES)
    return f"{text}\n```{{toctree}}\n:hidden:\n\n{listed}\n```\n"


def write(put: Callable[[Path, str], None]) -> None:
    """Write the page of every rule and their list, and remove those of rules that are gone."""
    known = examples()
    pages = {name: page(rule, known.get(name, {})) for name, rule in RULES.items()} | {"index": index()}
    for path in FOLDER.glob("*.md"):
        if path.stem not in pages:
            path.unlink()
    for name, text in pages.items():
        put(FOLDER / f"{name}.md", text)
