"""One contract for every backend: the same rows, order, index, columns and dtypes as on this machine."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from pandas.testing import assert_frame_equal, assert_series_equal

import webanalytics as wa
from tests.answers import rows_of
from tests.runs.hosted import cluster
from tests.runs.hosted.contract import CASES, ODD_PAGES, Case, Material
from tests.served import served
from tests.service.live import Server
from webanalytics.fetching.testing import SampleSite, SiteServer

BACKENDS: dict[str, Callable[[Server, str], Any]] = {
    "local": lambda server, key: None,
    "hosted": lambda server, key: wa.Hosted(server.base, key, concurrency=3),
    "dask": lambda server, key: cluster.dask_backend(),
}
"""What a further backend joins by."""

KNOWN_WHERE_FETCHED: dict[str, tuple[str, ...]] = {
    "hosted": (
        *("http_status", "elapsed", "bytes", "redirects", "density", "note", "content_type", "x_robots_tag"),
        *("page_type", "content_confidence", "content_note", "comments", "authors", "headline"),
        *("redirect_kinds", "headers"),
        *("readability_scale", "readability_note", "wiener_sachtextformel"),
        *("distinctiveness", "in_title", "in_h1", "in_description", "in_first_paragraph"),
        *("kept", "quality", "lossless", "ssim"),
    )
}
"""Columns by backend that are null there: only who fetches and counts by itself knows them."""

JUDGED = ("audience", "readability_score")
"""Columns that are derived from a service's answer where it has a grade or a reading ease."""

LANGUAGE_KNOWN = ("text", "audit")
"""Functions whose answers from a service name the language of the text."""

ON_A_SERVICE = {"convert": ("id", "expires", "downloadURL")}
"""Columns that only a service fills."""

VARYING = ("elapsed", "fetched_at")
"""Columns that differ from run to run of one backend."""

OPTIONS = {"allow_private": True, "retries": 0, "progress": False}


@pytest.fixture(scope="module", autouse=True)
def ending() -> Iterator[None]:
    yield
    cluster.close()


@pytest.fixture(scope="module")
def material(site: SampleSite, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Material]:
    with SiteServer(ODD_PAGES) as odd:
        yield Material(site, odd, tmp_path_factory.mktemp("pictures"))


@pytest.fixture(scope="module")
def locally(material: Material) -> Callable[[Case], pd.DataFrame]:
    """Make the frame of a case on this machine, once."""
    made: dict[str, pd.DataFrame] = {}

    def make(case: Case) -> pd.DataFrame:
        if str(case) not in made:
            made[str(case)] = called(case, material)
        return made[str(case)]

    return make


@pytest.fixture(scope="module")
def table() -> Iterator[pd.DataFrame]:
    """Collect how many cases of each function are equal on each backend, and print it at the end."""
    functions = dict.fromkeys(case.function for case in CASES)
    counts = pd.DataFrame(0, index=pd.Index(functions, name="operation"), columns=list(BACKENDS))
    yield counts
    cases = pd.Series([case.function for case in CASES]).value_counts()
    shown = counts.apply(lambda column: [f"{equal} of {cases[name]} equal" for name, equal in column.items()])
    print(f"\n{shown.to_string()}")


def called(case: Case, material: Material, backend: Any = None, **options: Any) -> pd.DataFrame:
    function = getattr(wa, case.function)
    given = served(function, {**OPTIONS, "backend": backend, **case.settings, **options})
    return rows_of(function(case.inputs(material), **given))


def assert_same(got: pd.DataFrame, wanted: pd.DataFrame, function: str, name: str) -> None:
    """Compare all that the backend can know, and see that the rest is null and of the same dtypes."""
    assert list(got.columns) == list(wanted.columns)
    assert got.dtypes.to_dict() == wanted.dtypes.to_dict()
    assert got.attrs["webanalytics"]["operation"] == wanted.attrs["webanalytics"]["operation"]
    unknown = [column for column in KNOWN_WHERE_FETCHED.get(name, ()) if column in wanted]
    if name == "hosted" and "language" in wanted and function not in LANGUAGE_KNOWN:
        unknown.append("language")
    for column in unknown:
        assert _is_null(got[column]), column
    left_out = {*VARYING, *unknown}
    if unknown:
        left_out |= {"final_url"}
        _assert_final_url(got, wanted, function)
    if name == "hosted" and function == "audit":
        got, wanted = _without_error_pages(got, wanted)
    if name == "hosted":
        left_out |= set(ON_A_SERVICE.get(function, ()))
        left_out |= _assert_judged(got, wanted)
    kept = [column for column in wanted if column not in left_out]
    assert_frame_equal(got[kept], wanted[kept], check_exact=True, check_flags=False)


def _without_error_pages(got: pd.DataFrame, wanted: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Compare the failures of pages that came with HTTP errors, and return the rest.

    A service answers such a page with an error alone; this machine reads its title and links too.
    """
    with_error = (wanted["error_type"] == "http").to_numpy()
    told = ["url", "status", "error", "error_type"]
    assert_frame_equal(got.loc[with_error, told], wanted.loc[with_error, told])
    assert got.loc[with_error, "title"].isna().all()
    got, wanted = got[~with_error].copy(), wanted[~with_error].copy()
    # a service does not say so
    plain = [isinstance(kind, str) and kind.startswith("text/plain") for kind in wanted["content_type"]]
    got.loc[plain, "elements"] = wanted.loc[plain, "elements"]
    return got, wanted


def _assert_judged(got: pd.DataFrame, wanted: pd.DataFrame) -> set[str]:
    """A service's answer has no value on the scales that only this package has; the rest is derived from it."""
    columns = [column for column in JUDGED if column in wanted]
    if columns:
        told = wanted["averageGradeLevel"].notna() | wanted["fleschReadingEase"].notna()
        # French has a scale of its own source here, and the one of the specification in an answer
        french = wanted["language"].eq("fr").fillna(False) & told
        assert got.loc[french, "readability_score"].tolist() == got.loc[french, "fleschReadingEase"].tolist()
        told &= ~french
        assert_frame_equal(got.loc[told, columns], wanted.loc[told, columns], check_exact=True)
        assert got.loc[~told & ~french, columns].isna().all(axis=None)
    return set(columns)


def _is_null(column: pd.Series) -> bool:
    """Tell whether nothing is in a column."""
    return bool(column.isna().all())


def _assert_final_url(got: pd.DataFrame, wanted: pd.DataFrame, function: str) -> None:
    """A page's final address comes with its metadata, and with nothing else."""
    if "final_url" not in wanted:
        return
    if function not in ("metadata", "audit"):
        assert got["final_url"].isna().all()
        return
    good = (got["status"] == "ok").to_numpy()
    assert_series_equal(got["final_url"][good], wanted["final_url"][good])
    assert got["final_url"][~good].isna().all() or function == "audit"


@pytest.mark.parametrize("case", CASES, ids=str)
@pytest.mark.parametrize("name", BACKENDS)
def test_every_backend_answers_the_same(
    name: str,
    case: Case,
    material: Material,
    locally: Callable[[Case], pd.DataFrame],
    server: Server,
    pro: str,
    table: pd.DataFrame,
) -> None:
    got = called(case, material, BACKENDS[name](server, pro))
    assert_same(got, locally(case), case.function, name)
    table.loc[case.function, name] += 1


def named(function: str, name: str) -> Case:
    return next(case for case in CASES if (case.function, case.name) == (function, name))


FUNCTIONS = tuple(dict.fromkeys(case.function for case in CASES))
FIRST = {function: next(case for case in CASES if case.function == function) for function in FUNCTIONS}


@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("name", BACKENDS)
def test_the_async_functions_answer_the_same(
    name: str,
    function: str,
    material: Material,
    locally: Callable[[Case], pd.DataFrame],
    server: Server,
    pro: str,
) -> None:
    case = FIRST[function]
    backend = BACKENDS[name](server, pro)

    async def run() -> pd.DataFrame:
        call = getattr(wa.aio, function)
        given = served(call, {**OPTIONS, **case.settings})
        return rows_of(await call(case.inputs(material), backend=backend, **given))

    assert_same(asyncio.run(run()), locally(case), function, name)


@pytest.mark.parametrize("way", ["use", "option_context"])
@pytest.mark.parametrize("function", FUNCTIONS)
@pytest.mark.parametrize("name", BACKENDS)
def test_a_backend_can_be_set_for_all_calls(
    name: str,
    function: str,
    way: str,
    material: Material,
    locally: Callable[[Case], pd.DataFrame],
    server: Server,
    pro: str,
) -> None:
    case = next(
        case for case in CASES if case.function == function and case.name in ("one", "column", "animation")
    )
    backend = BACKENDS[name](server, pro)
    options = served(getattr(wa, function), {**OPTIONS, **case.settings})
    if way == "use":
        wa.use(backend)
        got = getattr(wa, function)(case.inputs(material), **options)
    else:
        with wa.option_context(backend=backend):
            got = getattr(wa, function)(case.inputs(material), **options)
    got = rows_of(got)
    assert ("backend" in got.attrs["webanalytics"]) == (backend is not None)
    assert_same(got, locally(case), function, name)


@pytest.mark.parametrize("name", BACKENDS)
def test_images_are_saved_under_the_same_names(
    name: str, material: Material, server: Server, pro: str, tmp_path: Path
) -> None:
    case = named("convert", "good and bad")
    folders = {wanted: tmp_path / wanted for wanted in ("here", "there")}
    wanted = called(case, material, save_to=folders["here"])
    got = called(case, material, BACKENDS[name](server, pro), save_to=folders["there"])
    files = {
        key: {path.name: path.read_bytes() for path in folder.iterdir()} for key, folder in folders.items()
    }
    assert len(files["here"]) > 8
    assert {stem.partition("-")[0] for stem in files["there"]} == {
        stem.partition("-")[0] for stem in files["here"]
    }
    assert got["content"].isna().all()
    for path, frame in ((folders["here"], wanted), (folders["there"], got)):
        saved = frame["path"].dropna()
        assert {Path(text).parent for text in saved} == {path}
        assert (
            saved.map(lambda text: Path(text).stat().st_size).tolist()
            == frame["outputSize"].dropna().tolist()
        )
    for mine, theirs in zip(wanted["path"].dropna(), got["path"].dropna(), strict=True):
        assert Path(mine).read_bytes() == Path(theirs).read_bytes()
    assert_same(got.drop(columns="path"), wanted.drop(columns="path"), "convert", name)


@pytest.mark.parametrize("function", ["metadata", "readability", "audit", "dane", "convert"])
def test_what_a_plan_leaves_out_is_null_and_named(
    function: str, material: Material, locally: Callable[[Case], pd.DataFrame], server: Server
) -> None:
    case = next(c for c in CASES if c.function == function and c.name in ("one", "animation"))
    got = called(case, material, wa.Hosted(server.base, server.key(plan="free")))
    wanted = locally(case)
    left_out = got.attrs["webanalytics"]["premium_left_out"]
    operations = wa.operations.AUDIT if function == "audit" else (wa.operations.OPERATIONS[function],)
    premium = {field.name: field for operation in operations for field in operation.fields if field.premium}
    assert left_out == sorted(premium)
    assert got.dtypes.to_dict() == wanted.dtypes.to_dict()
    assert list(got.columns) == list(wanted.columns)
    gone = {field.audit_name if function == "audit" else field.column_name for field in premium.values()}
    for column in gone & set(got.columns):
        assert got[column].isna().all(), column
    assert got["status"].eq("ok").all()


def test_keywords_name_the_text_that_was_counted(material: Material, server: Server, pro: str) -> None:
    urls = [*material.pages("/about", "/docs/"), f"{material.odd.url}/gone"]
    backend = wa.Hosted(server.base, pro)
    here, there = (wa.keywords(urls, backend=where, **OPTIONS) for where in (None, backend))
    whole = wa.keywords(urls, source="page", **OPTIONS)
    for frame, source in ((here, "main"), (there, "page"), (whole, "page")):
        good = frame["status"] == "ok"
        assert set(frame["source"][good]) == {source}
        assert frame["source"][~good].isna().all()
    assert there["keyword"].tolist() == whole["keyword"].tolist() != here["keyword"].tolist()


def test_audits_count_the_main_text_wherever_they_are_made(
    material: Material, server: Server, pro: str
) -> None:
    urls = material.pages("/about", "/docs/", "/ja/tayori")
    here, there = (wa.audit(urls, backend=where, **OPTIONS) for where in (None, wa.Hosted(server.base, pro)))
    assert there.raw["keywords"].tolist() == here.raw["keywords"].tolist()
    assert_frame_equal(there.keywords(), here.keywords())
    whole = wa.keywords(urls, source="page", **OPTIONS)
    assert [*here.raw["keywords"][1]] != whole["keyword"][whole["url"] == urls[1]].tolist()


def test_saved_pages_are_rows_that_say_so(server: Server, pro: str) -> None:
    pages = pd.DataFrame({"url": ["http://a.example/"], "html": ["<p>words"]}, index=["x"])
    frame = wa.text(pages, backend=wa.Hosted(server.base, pro), progress=False)
    assert frame.index.tolist() == ["x"]
    assert frame["error_type"].tolist() == ["invalid"]
    assert "The page is on this machine" in frame["error"]["x"]
