"""The catalogues of the report's languages: what there is to translate, and the files that hold it.

`python -m tests.audits.catalogues` brings the .po files up to date and compiles them; texts without a
translation stay empty in them, and the English stands. `tests/audits/test_languages.py` counts those.
"""

from __future__ import annotations

import ast
import io
import re
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

from babel.messages import Catalog, mofile, pofile

from webanalytics.audits.report import content, movement, site, work
from webanalytics.audits.rules import RULES
from webanalytics.audits.selection import OTHER
from webanalytics.audits.words import LANGUAGES, LOCALES
from webanalytics.audits.work.search_issues import FIXES
from webanalytics.page.content.model import TYPES
from webanalytics.thresholds import AUDIENCES, PRIORITIES, TOP_LEVEL

REPORT = Path(content.__file__).parent
PLURALS = {
    "de": "nplurals=2; plural=(n != 1);",
    "fr": "nplurals=2; plural=(n > 1);",
    "es": "nplurals=2; plural=(n != 1);",
}
COLUMNS = (
    *("Change", "Priority", "Problem", "Value", "Threshold", "Evidence", "Field", "Before", "After", "Rule"),
    *(
        "Leads to",
        "Anchor",
        "Verdict",
        "HTTP status",
        "Error",
        "Kind",
        "Position",
        "Links",
        "Reason",
        "Detail",
    ),
    *("Found on", "Address", "Addresses", "Clicks", "Example", "Pattern", "Fetched", "Skipped", "Known from"),
    *("In the sitemap", "Title", "Source", "Hops"),
)
"""Heads of the lists, made of the names of their columns."""
LISTS = (
    "Changed fields",
    "Changed pages",
    "Changed links",
    "Changed depth",
    "Changed orphans",
    "Summary",
    "Issues",
)

FACTS_OF_LOGS = ("never crawled", "no AI crawler")
ADVICE = ("keep", "improve", "merge into", "redirect to", "noindex", "remove")
"""What the audit's methods `log_issues` and `prune` say of pages."""

MADE = datetime(2026, 11, 24, tzinfo=UTC)
"""The day in the head of each file, which says nothing of them."""

Message = str | tuple[str, str]


def _strings(node: ast.AST) -> list[str]:
    return [
        part.value
        for part in ast.walk(node)
        if isinstance(part, ast.Constant) and isinstance(part.value, str)
    ]


def _of_python(file: Path) -> Iterator[Message]:
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        name = getattr(node.func, "id", "") if isinstance(node, ast.Call) else ""
        if name == "several":
            one, many = (_strings(argument) for argument in node.args[:2])
            if one and many:
                yield one[0], many[0]
        elif name == "say":
            yield from _strings(node.args[0])
        elif name == "headings":
            yield from (text for argument in node.args for text in _strings(argument))


_CALL = re.compile(r"\b(say|several)\(((?:[^()\"]|\"[^\"]*\"|\((?:[^()]|\([^()]*\))*\))*)\)")


def _of_static(file: Path) -> Iterator[Message]:
    for name, inside in _CALL.findall(file.read_text("utf-8")):
        found = re.findall(r'"([^"]*)"', inside)
        if name == "several" and found:
            yield found[0], found[1]
        elif "~" not in inside:
            values = inside.find(", ") if re.match(r'\s*"', inside) else -1
            yield from found[:1] if values >= 0 or len(found) == 1 else found


def of_report() -> list[Message]:
    """Return all texts of the report: those in calls, and those that tables of the package hold."""
    found: list[Message] = []
    for file in sorted(
        (*REPORT.glob("*.py"), LOCALES.parent / "words.py", LOCALES.parent / "overview/head.py")
    ):
        found += _of_python(file)
    for file in sorted(REPORT.glob("static/*.[jh]*")):
        found += _of_static(file)
    kinds = ("section", "host", "segment")
    found += [text for fact in content.FACTS for text in (fact.label, fact.unit)]
    found += [
        *PRIORITIES,
        *map(str.capitalize, PRIORITIES),
        *(f"{name.capitalize()} priority" for name in PRIORITIES),
    ]
    found += [
        *AUDIENCES,
        *map(str.capitalize, (*TYPES, "other")),
        *COLUMNS,
        *LISTS,
        "January February March April May June July August September October November December",
    ]
    found += [*map(str.capitalize, kinds), *(f"{name.capitalize()}s by category" for name in kinds)]
    found += [*movement.CHANGES.values(), *movement._NOTES.values(), *movement._LISTS.values()]
    found += [
        *((text, text) for text in movement._DIFFER.values()),
        "Fixed issues",
        "Remaining issues",
        "Unchecked issues",
    ]
    found += ["Before", "After", "Points of the score"]
    found += [*site._REASONS.values(), *site._NAMES.values(), *site._CLASSES, "start", "not linked"]
    found += [text for table in (work.SEGMENTS, work.CAUSES, work.CRAWLERS) for text in table.values()]
    said = (*FIXES, *FACTS_OF_LOGS, *ADVICE)
    found += [*(text[0].upper() + text[1:] for text in said), *FIXES.values(), "Clicks", "Hits", "people"]
    found += [rule.category.capitalize() for rule in RULES.values() if rule.category not in ("url", "html")]
    found += [
        OTHER,
        "pixels",
        "characters",
        "read",
        "failed",
        "indexable",
        "not indexable",
        "yes",
        "no",
        "title",
        "h1",
        "description",
        "first paragraph",
        "text",
        TOP_LEVEL,
        "undetermined",
    ]
    return [
        text
        for text in dict.fromkeys(found)
        if text and text not in ("_", " ", "all", "ok", "clicks", "reason", "url")
    ]


def of_rules() -> list[Message]:
    """Return the texts of the rules: titles, why they matter, how to fix them, and units."""
    names = ("title", "unit", "explanation", "fix")
    found = [getattr(rule, name) for name in names for rule in RULES.values()]
    others = {*of_report()}
    return [text for text in dict.fromkeys(found) if text and text not in others]


def of_phrases() -> list[Message]:
    """Return the sentences that other parts make for English readers: the catalogues themselves list them."""
    return [str(message.id) for message in known("phrases", "de") if message.id]


DOMAINS = {"report": of_report, "rules": of_rules, "phrases": of_phrases}


def po(domain: str, language: str) -> Path:
    """Return the file of the texts of a language."""
    return LOCALES / language / "LC_MESSAGES" / f"{domain}.po"


def known(domain: str, language: str) -> Catalog:
    """Return what such a file holds."""
    with po(domain, language).open("rb") as file:
        return pofile.read_po(file, locale=language)


def compiled(catalog: Catalog) -> bytes:
    """Return a catalogue as gettext reads it."""
    made = io.BytesIO()
    mofile.write_mo(made, catalog)
    return made.getvalue()


def renewed(domain: str, language: str, given: dict[str, list[str]] | None = None) -> Catalog:
    """Return a catalogue of today's texts with the translations that are known or given."""
    made = Catalog(
        locale=language, charset="utf-8", fuzzy=False, project="webanalytics", creation_date=MADE, revision_date=MADE,
        header_comment="# Texts of the report; python -m tests.audits.catalogues keeps them up to date.",
        msgid_bugs_address="", last_translator="", language_team="",
    )  # fmt: skip
    made.mime_headers = [
        ("Content-Type", "text/plain; charset=utf-8"),
        ("Content-Transfer-Encoding", "8bit"),
        ("Language", language),
        ("Plural-Forms", PLURALS[language]),
    ]
    old = known(domain, language) if po(domain, language).exists() else Catalog()
    for message in DOMAINS[domain]():
        first = message if isinstance(message, str) else message[0]
        entry = old.get(first)
        said = (given or {}).get(first) or (entry.string if entry else None)
        if isinstance(message, str):
            made.add(message, (said[0] if isinstance(said, (list, tuple)) else said) or "")
        else:
            made.add(message, tuple(said) if isinstance(said, (list, tuple)) else ("", ""))
    return made


def write(given: dict[str, dict[str, list[str]]] | None = None) -> None:
    """Write the files of all languages."""
    for language in LANGUAGES[1:]:
        for domain in DOMAINS:
            file = po(domain, language)
            catalog = renewed(domain, language, (given or {}).get(language))
            file.parent.mkdir(parents=True, exist_ok=True)
            with file.open("wb") as opened:
                pofile.write_po(opened, catalog, width=0, omit_header=False)
            file.with_suffix(".mo").write_bytes(compiled(known(domain, language)))


if __name__ == "__main__":
    write()
