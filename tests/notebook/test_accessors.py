"""``frame.web`` and ``series.web``."""

from __future__ import annotations

import base64
import hashlib
import hmac
import importlib
import inspect
import io
import pydoc
import subprocess
import sys
import traceback
import warnings
from typing import Any

import pandas as pd
import pytest
from PIL import Image

import webanalytics as wa
from tests.answers import rows_of
from tests.fresh import printed
from webanalytics import sync as face
from webanalytics.errors import ParameterError
from webanalytics.notebook import accessors, charts
from webanalytics.operations import OPERATIONS

HTML = "<title>Tides</title><p>" + "The sea rises and falls twice a day. " * 8
NAMES = {"audit", *(operation.function for operation in OPERATIONS.values())}
RECORD = "_25._tcp.mail.example.org. 3600 IN TLSA 3 1 1 " + "ab" * 32


@pytest.fixture
def pages() -> pd.DataFrame:
    return pd.DataFrame({"url": ["https://a.example/", "https://a.example/b"], "html": [HTML, None]}).head(1)


def public(accessor: Any) -> set[str]:
    return {name for name in dir(accessor) if not name.startswith("_")}


def test_every_function_over_a_column_is_a_method() -> None:
    assert public(accessors.WebSeries) == NAMES
    assert public(accessors.WebFrame) == NAMES | {"plot"}
    assert set(face.__all__) - NAMES == {
        "certificates",
        "check_redirects",
        "compare",
        "content_gap",
        "history",
        "crawl",
        "llms_txt",
        "live_tlsa",
        "load",
        "logs",
        "redirect_map",
        "sitemap",
        "tlsa_record",
    }  # no columns


def test_every_chart_is_a_method(pages: pd.DataFrame) -> None:
    assert public(pages.web.plot) == set(charts.__all__)


@pytest.mark.parametrize("name", ["audit", "metadata", "readability", "text", "keywords"])
def test_pages(pages: pd.DataFrame, name: str) -> None:
    found = rows_of(getattr(pages.web, name)(progress=False))
    expected = rows_of(getattr(wa, name)(pages, progress=False))
    unsteady = [column for column in ("elapsed", "fetched_at") if column in found.columns]
    pd.testing.assert_frame_equal(found.drop(columns=unsteady), expected.drop(columns=unsteady))
    assert set(found["status"]) == {"ok"}


def test_records() -> None:
    frame = pd.DataFrame({"a": [RECORD], "b": ["+12085813945"]})
    assert frame.web.dane(column="a").loc[0, "security_level"] == "Recommended"
    assert frame["a"].web.dane().loc[0, "port"] == 25
    assert frame.web.phones(column="b", details=False)["isDisposable"].tolist() == [True]
    expected = hmac.new(b"key", RECORD.encode(), hashlib.sha256).hexdigest()
    assert frame["a"].web.hmac(secret="key").loc[0, "hmac"] == expected
    assert frame.web.hmac(column="a", secret="key").loc[0, "hmac"] == expected


def test_images() -> None:
    file = io.BytesIO()
    Image.new("RGB", (4, 3), "navy").save(file, "png")
    address = "data:image/png;base64," + base64.b64encode(file.getvalue()).decode()
    found = pd.Series([address], index=["logo"]).web.convert("gif")
    assert found.loc["logo", ["outputFormat", "width"]].tolist() == ["gif", 4]


def test_the_index_is_kept() -> None:
    numbers = pd.Series(["+12085813945", "n/a"], index=["x", "y"])
    assert numbers.web.phones(details=False).index.tolist() == ["x", "y"]


def test_charts(pages: pd.DataFrame) -> None:
    ax = pages.web.readability(progress=False).web.plot.readability(title="Mine")
    assert ax.get_title(loc="left") == "Mine"


@pytest.mark.parametrize("name", sorted(NAMES))
def test_signatures_and_documentation_are_those_of_the_functions(name: str) -> None:
    function = inspect.signature(getattr(wa, name))
    first, *others = function.parameters
    if "texts" in others:  # the accessor's data are the pages
        others = [other for other in others if other not in ("texts", "language")]
    frame = inspect.signature(getattr(pd.DataFrame({"a": []}).web, name))
    series = inspect.signature(getattr(pd.Series([], dtype=object).web, name))
    assert list(frame.parameters) == others
    assert list(series.parameters) == [other for other in others if other != "column"]
    assert all(frame.parameters[other] == function.parameters[other] for other in others)
    written = pydoc.render_doc(getattr(pd.Series.web, name), renderer=pydoc.plaintext)
    assert getattr(wa, name).__doc__.split("\n")[0] in written
    assert f"`webanalytics.{name}`" in written
    assert "Returns" in written
    assert f"\n    {first} :" not in written
    assert "column :" not in written
    assert ">>>" not in written


def test_a_chart_has_its_documentation() -> None:
    written = pydoc.render_doc(pd.DataFrame().web.plot.keyword_heatmap, renderer=pydoc.plaintext)
    assert "max_pages : int" in written
    assert "frame : DataFrame" not in written


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame(),
        pd.DataFrame({1: [2]}),
        pd.DataFrame([[1, 2]], columns=pd.MultiIndex.from_tuples([("a", 1), ("a", 2)])),
    ],
)
def test_any_frame_has_the_accessor_and_errors_come_from_the_methods(frame: pd.DataFrame) -> None:
    assert repr(frame.web).startswith("<web accessor of a DataFrame of length ")
    with pytest.raises(ParameterError, match="`averageGradeLevel`"):
        frame.web.plot.readability()


def test_the_data_cannot_be_given_twice() -> None:
    with pytest.raises(ParameterError, match="`numbers` parameter must be left out"):
        pd.Series(["+12085813945"]).web.phones(numbers=["x"])
    with pytest.raises(ParameterError, match="`column` parameter must be left out"):
        pd.Series(["+12085813945"]).web.phones(column="x")
    with pytest.raises(TypeError):
        pd.Series(["+12085813945"]).web.phones(["x"])


def test_a_secret_is_in_no_traceback() -> None:
    with pytest.raises(ParameterError) as caught:
        pd.Series(["x"]).web.hmac(secret="correct horse", algorithm="rot13")
    shown = "".join(traceback.TracebackException.from_exception(caught.value, capture_locals=True).format())
    ours = shown[shown.index("in method") :]
    assert "correct horse" not in ours


def test_loading_the_module_again_neither_warns_nor_stacks() -> None:
    before = pd.DataFrame._accessors.copy()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        importlib.reload(accessors)
        accessors.register()
    assert pd.DataFrame._accessors == before
    assert pd.Series(["+12085813945"]).web.phones(details=False)["status"].tolist() == ["ok"]


def test_an_accessor_of_somebody_else_is_not_replaced_in_silence() -> None:
    code = (
        "import warnings, pandas as pd\n"
        "pd.api.extensions.register_dataframe_accessor('web')(type('Other', (), {}))\n"
        "with warnings.catch_warnings(record=True) as caught:\n"
        "    warnings.simplefilter('always')\n"
        "    import webanalytics.notebook.accessors\n"
        "print(len(caught), 'web' in str(caught[0].message))"
    )
    assert printed(code).split() == ["1", "True"]


def test_matplotlib_waits_until_a_chart_is_wanted() -> None:
    code = "import sys, webanalytics.notebook.accessors; sys.exit('matplotlib' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
