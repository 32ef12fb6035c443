"""Functions that cannot be called as a rule are refused when they are declared."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import webanalytics as wa
from webanalytics.errors import ParameterError


def nothing() -> None: ...


def three(pages: Any, threshold: Any, more: Any) -> None: ...


def named(pages: Any, *, more: Any) -> None: ...


def with_default(pages: Any, *, more: int = 1) -> None: ...


@pytest.mark.parametrize("function", [nothing, three, named])
def test_what_cannot_be_called_is_refused(function: Callable[..., Any]) -> None:
    with pytest.raises(ParameterError, match="`function`"):
        wa.rule(function)
    assert function.__name__ not in set(wa.rules()["name"])


def test_what_can_be_called_is_taken() -> None:
    made = wa.rule(with_default)
    assert "with_default" in set(wa.rules()["name"])
    made.remove()


@pytest.mark.parametrize("crawlers", [5, [], [None], "*"])
def test_crawlers_must_be_tokens(crawlers: Any) -> None:
    from webanalytics.audits.ai.roster import chosen

    with pytest.raises(ParameterError, match="`crawlers`"):
        chosen(crawlers)
