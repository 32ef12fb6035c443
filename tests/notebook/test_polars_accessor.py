"""`web` on frames and series of polars that was imported before the first use of this package."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import polars as pl
import pytest

import webanalytics as wa

PAGE = pl.DataFrame({"url": ["https://a.example/"], "html": ["<title>Tea</title><p>Green tea, black tea"]})


def web(table: Any) -> Any:
    """The accessor, which type checkers do not see."""
    return table.web


def test_frames_have_the_functions_and_the_charts() -> None:
    made = web(PAGE).metadata(progress=False)
    assert type(made) is pl.DataFrame
    assert made["title"].to_list() == ["Tea"]
    assert isinstance(web(PAGE).audit(progress=False), wa.Audit)
    assert web(web(PAGE).readability(progress=False)).plot.words().get_title(loc="left")
    assert {"audit", "metadata", "phones", "plot"} <= set(dir(web(PAGE)))
    assert "length 1" in repr(web(PAGE))


def test_series_have_the_functions() -> None:
    made = web(pl.Series(["+12085813945", None])).phones(details=False)
    assert type(made) is pl.DataFrame
    assert made["isDisposable"].to_list() == [True, None]
    with pytest.raises(wa.ParameterError, match="`column` parameter must be left out"):
        web(pl.Series(["x"])).hmac(secret="k", column="x")


USE = "print(pl.Series(['a']).web.hmac(secret='k')['status'].to_list())"
ORDERS = {
    "polars first": f"import polars as pl, webanalytics; {USE}",
    "before use": f"import webanalytics as wa; import polars as pl; wa.options; {USE}",
    "a part of it": f"from polars import DataFrame; import webanalytics; import polars as pl; {USE}",
    "twice": f"import webanalytics, importlib, polars as pl; importlib.reload(webanalytics); {USE}",
}


def run(code: str) -> str:
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True)
    assert done.stderr == ""
    return done.stdout.strip()


@pytest.mark.parametrize("order", ORDERS)
def test_polars_imported_before_the_first_use_has_them(order: str) -> None:
    assert run(ORDERS[order]) == "['ok']"


def test_without_polars_nothing_is_missing() -> None:
    code = "import sys; sys.modules['polars'] = None\nimport webanalytics as wa; print(len(wa.hmac(['a'], secret='k')))"
    assert run(code) == "1"
