"""Charts of polars and pyarrow tables: the same picture as of the pandas frame."""

from __future__ import annotations

from typing import Any

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import webanalytics as wa
from tests.notebook.charts.reading import texts
from tests.notebook.charts.test_every_chart import CHARTS
from webanalytics.errors import ParameterError
from webanalytics.notebook import charts


@pytest.mark.parametrize("name", CHARTS)
def test_every_chart_takes_tables(name: str) -> None:
    named, others, _ = CHARTS[name]
    row = {**({} if named is None else {named: "https://a.example/x"}), **others}
    chart = getattr(charts, name)
    expected = texts(chart(pd.DataFrame([row] * 3)))
    for table in (pl.DataFrame([row] * 3), pa.Table.from_pylist([row] * 3)):
        assert texts(chart(table)) == expected


def test_keywords_of_an_audit_are_drawn_from_its_table() -> None:
    page = pd.DataFrame({"url": ["https://a.example/"], "html": ["<p>Green tea, black tea, green leaves"]})
    audit = wa.audit(page, progress=False)
    expected = texts(charts.keywords(audit))
    for table in (
        wa.to_polars(audit.raw),
        wa.to_arrow(audit.raw),
        wa.to_arrow(audit.raw).select(["url", "keywords"]),
    ):
        assert texts(charts.keywords(table)) == expected


def test_a_lazy_frame_is_a_sentence() -> None:
    lazy: Any = pl.DataFrame({"url": ["x"], "wordCount": [3]}).lazy()
    with pytest.raises(ParameterError, match=r"`collect\(\)` first"):
        charts.words(lazy)
