"""Arguments of a wrong type: each method of an audit, of a comparison and of a plan names the parameter."""

from __future__ import annotations

import inspect
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import webanalytics as wa

WRONG = (5, -1.5, None, b"x", "", [5], {"a": 5}, object())


def audit_of(letter: str) -> wa.Audit:
    html = [f"<title>Tea {n}</title><h1>Tea {n}</h1><p>{'Tea is made of leaves. ' * 30}" for n in range(3)]
    urls = [f"https://a.example/{letter}{n}" for n in range(3)]
    return wa.audit(pd.DataFrame({"url": urls, "html": html}), workers=1, progress=False)


@pytest.mark.filterwarnings("ignore")
def test_a_wrong_type_is_a_sentence_about_the_parameter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    audit, other = audit_of("a"), audit_of("b")
    good = {"before": audit, "frame": audit.pages, "source": audit.pages, "to": "https://a.example/a0"}
    tried, other_errors = 0, []
    for made in (audit, wa.compare(audit, other), wa.redirect_map(audit, other)):
        methods = {
            name: one for name, one in inspect.getmembers(type(made), inspect.isfunction) if name[0] != "_"
        }
        for name, method in methods.items():
            own = list(inspect.signature(method).parameters.values())[1:]
            named = [one for one in own if one.kind not in (one.VAR_KEYWORD, one.VAR_POSITIONAL)]
            needed = {one.name: good.get(one.name, "made") for one in named if one.default is one.empty}
            for parameter in named:
                for wrong in WRONG if (name, parameter.name) != ("with_field_data", "key") else ():
                    given: dict[str, Any] = {**needed, parameter.name: wrong}
                    first = [given.pop(one.name) for one in named if one.kind is one.POSITIONAL_ONLY]
                    tried += 1
                    try:
                        method(made, *first, **given)
                    except wa.ParameterError:
                        pass
                    except Exception as error:
                        other_errors.append((name, parameter.name, wrong, repr(error)))
    assert other_errors == []
    assert tried > 300
