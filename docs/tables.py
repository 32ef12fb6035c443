"""Pages of the reference, made from the package's records each time the site is built."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from pathlib import Path
from typing import Any

import rule_pages

from webanalytics.audits.causes import COLUMNS as CAUSE_COLUMNS
from webanalytics.audits.issues import COLUMNS as ISSUE_COLUMNS
from webanalytics.audits.issues import SUMMARY_COLUMNS
from webanalytics.audits.overview.failures import COLUMNS as FAILURE_COLUMNS
from webanalytics.audits.pages import CRAWLED, DERIVED, FOUND
from webanalytics.audits.rules import RULES
from webanalytics.audits.rules.base import Rule
from webanalytics.core.messages import (
    CONTENT,
    ERROR_TYPES,
    FETCHING,
    HOSTED,
    MEANINGS,
    PARAMETERS,
    SERVICE,
    TOLD,
    Table,
    advised,
)
from webanalytics.core.operations.types import shape_of
from webanalytics.core.run_options import FUNCTIONS, RECORDS
from webanalytics.notebook import charts
from webanalytics.operations import OPERATIONS, Field
from webanalytics.page.structured.requirements import rows_of
from webanalytics.runs.frames.arrow import arrow_type, declared
from webanalytics.service.configuration import settings_table
from webanalytics.service.reference.openapi import document
from webanalytics.service.settings import PLANS, ServiceSettings

FOLDER = Path(__file__).parent / "reference"


def table(heads: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Return a Markdown table."""
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join("| " + " | ".join(_cell(cell) for cell in line) + " |" for line in lines) + "\n"


def _cell(value: Any) -> str:
    return str(value).replace("|", "\\|").replace("\n", " ")


def options() -> str:
    """Return the options of a run."""
    rows = (
        (f"`{key}`", f"`{item.default!r}`", item.meaning, _takers(item.serves))
        for key, item in RECORDS.items()
    )
    return (
        "# Options of a run\n\nFor a call, a block or the session: see [options](../guides/options.md).\n\n"
        + table(("option", "default", "meaning", "functions"), rows)
    )


def _takers(kinds: Collection[str]) -> str:
    """Return the names of the functions of some kinds."""
    if len(kinds) == len(FUNCTIONS):
        return "all"
    return ", ".join(f"`{name}`" for kind, names in FUNCTIONS.items() if kind in kinds for name in names)


def rules() -> str:
    """Return the rules of an audit, by category."""
    text = (
        f"# Rules of an audit\n\n{len(RULES)} rules, each with a page that says how it is measured, with "
        "examples and its source. `wa.rules()` is this table as a DataFrame. A rule that needs something of "
        "the page record, such as its status or its headers, is not tried where no page has it, and is then "
        'listed in `audit.issues.attrs["webanalytics"]["rules_not_tried"]`.\n'
    )
    for category in dict.fromkeys(rule.category for rule in RULES.values()):
        rows = (
            (
                f"[`{rule.name}`](../rules/{rule.name}.md)<br>{rule.title}",
                "<br>".join(_weight(rule)),
                rule_pages.prose(f"{rule.explanation} {rule.fix}"),
            )
            for rule in RULES.values()
            if rule.category == category
        )
        heads = ("rule", "priority, threshold, needs", "why, and what to do")
        text += f"\n## {category.capitalize()}\n\n{table(heads, rows)}"
    return text


def _weight(rule: Rule) -> list[str]:
    """Return a rule's priority, its threshold where it has one, and what it needs of the page record."""
    limit = [] if rule.threshold is None else [f"{rule.threshold:g} {rule.unit}"]
    return [rule.priority, *limit, *(f"needs `{fact}`" for fact in rule.needs)]


def columns() -> str:
    """Return the columns of every operation's frame and of the frames of an audit."""
    text = (
        "# Columns\n\nEvery frame also has `status`, `error` and `error_type`, and frames of pages say how "
        "each page was fetched. The Arrow type is that of Parquet files and saved audits; it does not depend "
        "on what the rows hold. A plan of the service without Premium leaves out what is marked so.\n"
    )
    heads = ("column", "dtype", "meaning", "Arrow type")
    for operation in OPERATIONS.values():
        rows = map(_column, operation.columns)
        text += f"\n## {operation.name}\n\n{operation.summary}\n\n{table(heads, rows)}"
    known = {field.column_name for operation in OPERATIONS.values() for field in operation.columns}
    added = (_column(field) for name, field in declared("audit").items() if name not in known)
    text += (
        "\n## audit\n\nThe columns of the page operations together, and these; `image_bytes` only with "
        f"`image_sizes=True`.\n\n{table(heads, added)}"
    )
    made = {**FOUND, **DERIVED, **CRAWLED}
    derived = ((f"`{name}`", kind, meaning) for name, (kind, meaning) in made.items())
    text += (
        "\n## audit.pages\n\nThe columns of the audit, and what the rules measure.\n\n"
        f"{table(('column', 'dtype', 'meaning'), derived)}"
    )
    for title, of in (
        ("audit.issues", ISSUE_COLUMNS),
        ("audit.causes()", CAUSE_COLUMNS),
        ("audit.summary()", SUMMARY_COLUMNS),
        ("audit.failures()", FAILURE_COLUMNS),
    ):
        rows = ((f"`{name}`", kind) for name, kind in of.items())
        text += f"\n## {title}\n\n{table(('column', 'dtype'), rows)}"
    sitemap = map(_column, declared("sitemap").values())
    return text + f"\n## sitemap\n\nOne row per page that a sitemap lists.\n\n{table(heads, sitemap)}"


def _column(field: Field) -> tuple[str, ...]:
    arrow = str(arrow_type(shape_of(field.type))).replace(" not null", "")
    return f"`{field.column_name}`", field.dtype, field.meaning + " *Premium.*" * field.premium, f"`{arrow}`"


def rich_results() -> str:
    """Return what search engines require of structured data."""
    text = (
        "# Structured data\n\nWhat Google Search requires and recommends of items for each rich result, as "
        "the rules `structured_data_incomplete` and `structured_data_recommended` judge it. A requirement "
        "applies to items of the types named (`*`: and all below them in schema.org's hierarchy), in the "
        "place named (`top`: alone, in `@graph`, or as the main entity of a page; `listed`: in an ItemList; "
        "else the property of another item), where the conditions hold. `offers(Offer).price` is asked of "
        "every `Offer` in `offers`. *Read* is the day on which the requirements of a page, or a "
        "transcription of them, were read. Recommended properties that fit only some items, such as the size "
        "of clothes, are left out.\n"
    )
    found: dict[str, list[dict[str, str]]] = {}
    for row in rows_of("rich-results.csv"):
        found.setdefault(row["feature"], []).append(row)
    heads = ("items", "level", "properties")
    for feature, rows in found.items():
        days = " and ".join(sorted({row["read"] for row in rows}))
        text += f"\n## {feature[:1].upper()}{feature[1:]}\n\n<{rows[0]['source']}>, read {days}\n\n"
        text += table(heads, (_requirement(group) for group in _alike(rows)))
    gone = (
        (row["feature"], _code(row["types"].split()), row["retired"], f"<{row['source']}>", row["read"])
        for row in rows_of("rich-results-retired.csv")
    )
    heads = ("rich result", "types", "retired or announced", "source", "read")
    return f"{text}\n## Shown no longer\n\nOf these, nothing is asked.\n\n{table(heads, gone)}"


def _alike(rows: list[dict[str, str]]) -> Iterable[list[dict[str, str]]]:
    """Return rows that differ in their property alone, together."""
    groups: dict[tuple[str, ...], list[dict[str, str]]] = {}
    for row in rows:
        key = tuple(value for name, value in row.items() if name not in ("properties", "read"))
        groups.setdefault(key, []).append(row)
    return groups.values()


def _requirement(rows: list[dict[str, str]]) -> tuple[str, ...]:
    first = rows[0]
    properties = (" or ".join(f"`{path}`" for path in row["properties"].split("|")) for row in rows)
    applies = [_code(first["types"].split()), first["within"] and f"in place: {first['within']}"]
    applies.append(first["when"] and f"where: {_code(first['when'].split())}")
    return "<br>".join(filter(None, applies)), first["level"], "<br>".join(properties)


def _code(names: Iterable[str]) -> str:
    return " ".join(f"`{name}`" for name in names)


def prices() -> str:
    """Return prices and plans of the service."""
    text = "# Prices and plans of the service\n\nDefaults; the file of `--config` changes them.\n\n"
    rows = ((item.name, f"`{item.method} /v1/{item.path}`", item.credits) for item in OPERATIONS.values())
    text += table(("operation", "path", "credits for a successful call"), rows) + "\n"
    heads = ("plan", "credits a month", "once", "Premium", "requests a minute", "upload in bytes")
    return text + table(
        heads,
        (
            (
                f"`{plan.name}`",
                f"{plan.monthly_credits:,}",
                f"{plan.bonus_credits:,}",
                "yes" if plan.premium else "no",
                plan.requests_a_minute or "not throttled",
                f"{plan.upload_bytes:,}",
            )
            for plan in PLANS.values()
        ),
    )


def settings() -> str:
    """Return the settings of the service."""
    return (
        "# Settings of the service\n\nEach is an option of `webanalytics serve`, an environment variable "
        "(`WEBANALYTICS_PORT`) and a key of the TOML file of `--config`, in this order.\n\n"
        + settings_table()
    )


def paths() -> str:
    """Return the paths of the service, from its OpenAPI document."""
    rows = (
        (
            f"`{method.upper()} {path}`",
            one.get("summary", ""),
            one.get("x-credits", ""),
            " ".join(sorted(one["responses"])),
        )
        for path, methods in document(ServiceSettings())["paths"].items()
        for method, one in methods.items()
    )
    return (
        "# Paths of the service\n\nFrom the OpenAPI 3.1 document that a running service has at "
        "`/v1/openapi.json`, with parameters, fields and examples; `/docs` shows it as a page.\n\n"
        + table(("path", "what it does", "credits", "answers"), rows)
    )


_GROUPS: dict[str, tuple[str, Table]] = {
    "Fetches": ("Failures of a fetch.", FETCHING),
    "Content": ("Inputs that cannot be read or analysed.", CONTENT),
    "Parameters": ("A parameter that is missing or wrong.", PARAMETERS),
    "The service": ("What only a service says: of the key, the request, the answer and itself.", SERVICE),
    "Hosted runs": ("What rows of a hosted run say that no answer of the API said.", HOSTED),
}


def errors() -> str:
    """Return the error types, and every sentence by its key."""
    rows = ((f"`{kind}`", MEANINGS[kind]) for kind in ERROR_TYPES)  # type: ignore[index]
    text = (
        "# Error types\n\nThe values of the column `error_type`, of the header `x-error-type` and of "
        "`errorType` in batches and GraphQL extensions. They are stable; sentences may be reworded, so "
        f"decide by the type.\n\n{table(('error type', 'meaning'), rows)}\n## Sentences\n\n"
        "Each failure has a key, and a sentence that is filled in where it is shown. `{parameter}` is the "
        "parameter to change; `{names}` is “names”, or “redirects to” where the fault lies behind a "
        "redirect. A request that is refused before any input is looked at has no error type.\n"
    )
    for title, (about, messages) in _GROUPS.items():
        cells = (
            (f"`{key}`", f"`{kind}`" if kind else "", _blanks(says), _blanks(_of_row(key)))
            for key, (kind, says) in messages.items()
        )
        text += f"\n### {title}\n\n{about}\n\n{table(('key', 'error type', 'sentence', 'in a row'), cells)}"
    return text


def _of_row(key: str) -> str:
    """Return what the row of a frame says of a failure, where that differs from the service's sentence."""
    return advised(key, TOLD[key]) if key in TOLD else ""


def _blanks(template: str) -> str:
    """Return a template with its placeholders as code, and without their number formats."""
    plain = re.sub(r"\{(\w+):[^}]*\}", r"{\1}", template)
    parts = re.split(r"(`[^`]*`)", plain)
    return "".join(part if part.startswith("`") else re.sub(r"\{\w+\}", r"`\g<0>`", part) for part in parts)


def api() -> str:
    """Return the page of functions and classes, with every operation and every chart."""
    text = FOLDER.joinpath("api.template").read_text("utf-8")
    names = {
        "operations": [operation.function for operation in OPERATIONS.values()],
        "charts": charts.__all__,
    }
    for place, found in names.items():
        text = text.replace(f"{{{place}}}", "\n   ".join(found))
    return text


PAGES: dict[str, Callable[[], str]] = {
    "api": api,
    "options": options,
    "rules": rules,
    "structured-data": rich_results,
    "columns": columns,
    "errors": errors,
    "paths": paths,
    "prices": prices,
    "settings": settings,
}


def write_pages(*_: Any) -> None:
    """Write every page of the reference, and every page of a rule, that comes from records."""
    for name, make in PAGES.items():
        _write(FOLDER / f"{name}.md", make())
    rule_pages.write(_write)


def _write(target: Path, text: str) -> None:
    """Write a page, unless it is there already: Sphinx reads again what is newer."""
    if not target.exists() or target.read_text("utf-8") != text:
        target.write_text(text, "utf-8")


def setup(app: Any) -> dict[str, Any]:
    """Register with Sphinx."""
    app.connect("config-inited", write_pages)
    return {"parallel_read_safe": True}
