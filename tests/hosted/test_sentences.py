"""Every sentence about an input tells its error type again when only the sentence comes back."""

from __future__ import annotations

import ast
import itertools
import string
from collections.abc import Iterator
from pathlib import Path

import pytest

import webanalytics
from webanalytics.backends.hosted.rules import error_type
from webanalytics.errors import ERROR_TYPES
from webanalytics.fetching.sentences import SENTENCES
from webanalytics.operations import OPERATIONS

PACKAGE = Path(webanalytics.__file__).parent
ROOMS = ("analysis", "backends", "service")

SUBJECTS = tuple(dict.fromkeys(operation.subject for operation in OPERATIONS.values()))
NUMBERS = ("7", "10,000,000")
SECONDS = ("15", "0.5")
WORDS = ("something", "a `b`: c", "0.5")
FIGURES = ("bytes", "limit", "max", "most")
"""What stands for an expression in a sentence, and the words by which a figure's name is known."""

LOCAL_ONLY = (
    "names content that could not be read (",  # an analysis that failed: a service says so in its own words
    "leads to no image of its format",  # said of an answer, never in one
)


def _template(node: ast.expr, constants: dict[str, str]) -> str | None:
    """Return a sentence with "{}" for what is filled in, None where it is made elsewhere."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value.replace("{", "{{").replace("}", "}}") if "`{" not in node.value else node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(
            f"{{{ast.unparse(part.value).replace('.', '_')}}}"
            if isinstance(part, ast.FormattedValue)
            else str(ast.literal_eval(part))
            for part in node.values
        )
    if isinstance(node, ast.Name):
        return constants.get(node.id)
    return None


def _constants(tree: ast.Module) -> dict[str, str]:
    """Return the strings that a module, or one of its functions, gives a name to."""
    found: dict[str, str] = {}
    for node in ast.walk(tree):
        targets = node.targets if isinstance(node, ast.Assign) else [getattr(node, "target", None)]
        value = getattr(node, "value", None)
        if isinstance(node, (ast.Assign, ast.AnnAssign)) and isinstance(targets[0], ast.Name) and value:
            text = _template(value, {})
            if text is not None:
                found[targets[0].id] = text
    return found


def _sentences() -> Iterator[tuple[str, str, str]]:
    """Yield where a sentence is said, its template, and its error type."""
    for room in ROOMS:
        for path in sorted((PACKAGE / room).rglob("*.py")):
            tree = ast.parse(path.read_text("utf-8"))
            constants = _constants(tree)
            for node in ast.walk(tree):
                if not (isinstance(node, ast.Call) and ast.unparse(node.func) == "RowError"):
                    continue
                first, kind = node.args
                where = f"{path.relative_to(PACKAGE)}:{node.lineno}"
                for said in (first.body, first.orelse) if isinstance(first, ast.IfExp) else (first,):
                    template = _template(said, constants)
                    if isinstance(kind, ast.Constant) and template is not None:
                        yield where, template, str(kind.value)
                    else:
                        yield where, "", ast.unparse(node)


def _holes(template: str) -> list[str]:
    return [name for _, name, _, _ in string.Formatter().parse(template) if name is not None]


def _filled(template: str) -> Iterator[str]:
    """Yield the sentence with each hole filled in each way that its name allows."""
    choices = []
    for name in _holes(template):
        if "subject" in name or name in ("parameter_name", "parameter"):
            choices.append(SUBJECTS)
        elif "deadline" in name or "seconds" in name:
            choices.append(SECONDS)
        else:
            choices.append(NUMBERS if any(word in name.lower() for word in FIGURES) else WORDS)
    for values in itertools.product(*choices):
        pieces = list(string.Formatter().parse(template))
        filled = iter(values)
        yield "".join(text + ("" if name is None else next(filled)) for text, name, _, _ in pieces)


FOUND = list(_sentences())
READ = [(where, template, kind) for where, template, kind in FOUND if template]
MADE_ELSEWHERE = {where.partition(":")[0]: call for where, template, call in FOUND if not template}


def test_the_sentences_are_found() -> None:
    assert len(READ) > 30
    assert {kind for _, _, kind in READ} <= set(ERROR_TYPES)
    assert len({kind for _, _, kind in READ}) > 3


def test_only_known_places_make_a_sentence_from_another() -> None:
    """A further one must be looked at: can its type be told from its words?"""
    assert set(MADE_ELSEWHERE) == {
        "backends/base.py",
        "backends/hosted/wire.py",
        "service/engine.py",
    }


@pytest.mark.parametrize(
    ("where", "template", "kind"),
    [pytest.param(*found, id=found[0]) for found in READ if not any(word in found[1] for word in LOCAL_ONLY)],
)
def test_sentences_of_the_package(where: str, template: str, kind: str) -> None:
    for sentence in _filled(template):
        assert error_type(sentence, 400) == kind, sentence
        assert error_type(sentence, 503) in (kind, "service"), sentence


@pytest.mark.parametrize("key", SENTENCES)
@pytest.mark.parametrize("names", ["names", "redirects to"])
@pytest.mark.parametrize("parameter", ["url", "image"])
def test_sentences_of_fetching(key: str, names: str, parameter: str) -> None:
    kind, template = SENTENCES[key]
    details = {"limit": "10,000,000", "seconds": "30", "status": "503", "ports": "80, 443", "count": "7",
               "content_type": "application/pdf; charset=`x`"}  # fmt: skip
    sentence = template.format(parameter=parameter, names=names, **details)
    for code in (400, 503):
        assert error_type(sentence, code) == kind


@pytest.mark.parametrize("operation", OPERATIONS.values(), ids=lambda operation: operation.name)
def test_sentences_of_parameters(operation: webanalytics.operations.Operation) -> None:
    for parameter in operation.parameters:
        assert error_type(parameter.sentence(), 400) == "invalid"
        assert error_type(f"The `{parameter.name}` parameter is required.", 400) == "invalid"


@pytest.mark.parametrize(
    ("sentence", "status", "kind"),
    [
        ("", 500, "service"),
        ("", 400, "invalid"),
        ("The service failed; repeat the request later with the same parameters.", 500, "service"),
        ("The service has no worker process at the moment; repeat the request later.", 503, "service"),
        ("The service holds as many answers as it can; repeat the request later.", 503, "service"),
        ("The service cannot reach its accounts; repeat the request later.", 503, "service"),
        ("The service failed to work on the `image` parameter.", 500, "parse"),
        ("The service failed to analyse what the `url` parameter names.", 500, "parse"),
        ("The `url` parameter must be sent in another request: this answer has reached 32,000,000 bytes.", 503, "service"),
        ("The `url` parameter names a page whose answer has more than 32,000,000 bytes.", 400, "too_large"),
        ("The `url` parameter names a site that takes fewer requests than it is sent; repeat the request later.",
         503, "timeout"),
        ("x" * 100_000, 400, "invalid"),
        ("The `url` parameter names " * 5_000, 503, "service"),
    ],
)  # fmt: skip
def test_sentences_of_the_service_itself(sentence: str, status: int, kind: str) -> None:
    assert error_type(sentence, status) == kind
