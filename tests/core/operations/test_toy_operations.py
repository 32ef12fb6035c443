"""A ninth and a tenth operation, registered at run time: each way to an answer is there from the declaration alone."""

from __future__ import annotations

import asyncio
import inspect
import json
import pickle
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import webanalytics as wa
from tests.core.operations.toys import OUTLINE, SHOUT
from tests.runs.hosted.running import equal
from tests.service.live import Server, call
from webanalytics.cli import main
from webanalytics.errors import ParameterError
from webanalytics.fetching.testing import SiteServer
from webanalytics.notebook import accessors
from webanalytics.operations import DECLARED, OPERATIONS, register
from webanalytics.runs.backends import local

PAGE = b"<h1>Tides</h1><h2>Ebb</h2><h2>Flow</h2><a href=/moon>Moon</a>"
ROOT = str(Path(__file__).parents[3])
LOCAL = {"allow_private": True, "progress": False, "workers": 1}


@pytest.fixture(scope="module", autouse=True)
def toys() -> Iterator[None]:
    """Both operations for as long as this module's tests run; worker processes find them on the path."""
    with pytest.MonkeyPatch.context() as patch, register(SHOUT), register(OUTLINE):
        patch.syspath_prepend(ROOT)
        yield


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A real service that has both operations."""
    folder = tmp_path_factory.mktemp("toys")
    with Server(folder, environment={"PYTHONPATH": ROOT}, module="tests.core.operations.toys") as running:
        yield running


@pytest.fixture(scope="module")
def key(server: Server) -> str:
    return server.key(plan="pro")


@pytest.fixture(scope="module")
def site() -> Iterator[SiteServer]:
    with SiteServer({"/": PAGE, "/empty": b"<p>nothing"}) as running:
        yield running


def assert_same(got: pd.DataFrame, wanted: pd.DataFrame) -> None:
    fetched = [
        name for name in ("final_url", "redirects", "http_status", "elapsed", "bytes") if name in wanted
    ]
    equal(got.drop(columns=fetched), wanted.drop(columns=fetched))


def test_the_function_over_records() -> None:
    frame = wa.shouts(["hi", "", "hi", None], mark="?", how_often=2, progress=False)
    assert list(frame.columns) == ["phrase", "status", "shouted", "length", "mark", "error", "error_type"]
    assert frame["shouted"].tolist()[0:3:2] == ["HI??", "HI??"]
    assert frame["length"].dtype == "Int64"
    assert frame["error"].tolist()[1] == "The `phrase` parameter must be a phrase with letters."
    with pytest.raises(ParameterError) as caught:
        wa.shouts(["hi"], how_often=6)
    assert caught.value.parameter == "how_often"


def test_the_function_over_pages(site: SiteServer) -> None:
    frame = wa.outline([f"{site.url}/", f"{site.url}/empty", f"{site.url}/none"], **LOCAL)
    assert frame["status"].tolist() == ["ok", "ok", "error"]
    assert frame["levels"].tolist()[:2] == [{"h1": 1, "h2": 2}, {}]
    assert frame.loc[0, ["first", "links", "http_status"]].tolist() == ["Tides", 1, 200]
    saved = pd.DataFrame({"url": ["https://a.example/"], "html": [PAGE]})
    assert wa.outline(saved, deepest=1, progress=False).loc[0, "levels"] == {"h1": 1}


@pytest.mark.parametrize(("operation", "required"), [(SHOUT, "phrases"), (OUTLINE, "urls")])
def test_signature_and_documentation(operation: Any, required: str) -> None:
    function = getattr(wa, operation.function)
    parameters = inspect.signature(function).parameters
    assert next(iter(parameters)) == required
    for item in operation.settings:
        assert parameters[item.keyword].default == item.default
        assert f"\n{item.keyword} : " in inspect.getdoc(function)
        assert item.meaning in inspect.getdoc(function)
    assert all(f"\n{title}\n---" in inspect.getdoc(function) for title in ("Parameters", "Returns", "Raises"))
    assert operation.function in dir(wa)
    assert operation.function in dir(wa.aio)


def test_the_column_of_a_frame_is_found(site: SiteServer) -> None:
    assert wa.shouts(pd.DataFrame({"id": [1], "Phrases": ["a"]}), progress=False).loc[0, "shouted"] == "A!"
    frame = pd.DataFrame({"id": [1], "somewhere": [f"{site.url}/"]}, index=["x"])
    assert wa.outline(frame, **LOCAL).loc["x", "first"] == "Tides"
    with pytest.raises(ParameterError, match="must name the column") as caught:
        wa.shouts(pd.DataFrame({"a": ["x"], "b": ["y"]}))
    assert caught.value.parameter == "column"


def test_the_asynchronous_function(site: SiteServer) -> None:
    async def both() -> list[pd.DataFrame]:
        return await asyncio.gather(
            wa.aio.shouts("a", progress=False), wa.aio.outline(f"{site.url}/", **LOCAL)
        )

    shouted, outlined = asyncio.run(both())
    assert (shouted.loc[0, "shouted"], outlined.loc[0, "first"]) == ("A!", "Tides")
    assert inspect.iscoroutinefunction(wa.aio.shouts)


def test_the_accessors() -> None:
    frame = pd.DataFrame({"phrase": ["a"], "url": ["https://a.example/"], "html": [PAGE]})
    assert frame.web.shouts(column="phrase").loc[0, "shouted"] == "A!"
    assert frame.web.outline(progress=False).loc[0, "first"] == "Tides"
    assert frame["phrase"].web.shouts(mark="?").loc[0, "shouted"] == "A?"
    assert "shouts" in repr(frame.web)
    assert "column" not in inspect.signature(frame["phrase"].web.shouts).parameters
    with pytest.raises(AttributeError):
        _ = frame.web.whispers


def test_the_command_line(site: SiteServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["shouts", "a", "b.csv", "--mark", "?", "--how-often", "2", "-f", "jsonl"]) == 0
    rows = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [row["shouted"] for row in rows] == ["A??", "B.CSV??"]
    table = tmp_path / "pages.csv"
    table.write_text(f"n,link\n1,{site.url}/\n")
    assert main(["outline", str(table), "--allow-private", "--deepest", "1", "-f", "json"]) == 0
    assert json.loads(capsys.readouterr().out)[0]["levels"] == {"h1": 1}
    assert main(["shouts", "a", "-f", "table"]) == 0
    assert capsys.readouterr().out.split("\n")[0].split("  ") == ["phrase", "said loudly"]
    with pytest.raises(SystemExit):
        main(["shouts", "--help"])
    assert all(operation.summary in capsys.readouterr().out for operation in (SHOUT,))


def test_http(server: Server, key: str, site: SiteServer) -> None:
    assert server.post("/v1/phraseshouter", key, phrase="hi", howOften=3).data == {
        "shouted": "HI!!!", "length": 5, "mark": "!",
    }  # fmt: skip
    assert server.post("/v1/pageoutline", key, url=f"{site.url}/").data == {
        "url": f"{site.url}/", "levels": {"h1": 1, "h2": 2}, "first": "Tides", "links": 1,
    }  # fmt: skip
    wrong = server.post("/v1/phraseshouter", key, phrase="hi", howOften=9)
    assert (wrong.status, wrong.error) == (400, "The `howOften` parameter must be an integer from 1 to 5.")
    free = server.post("/v1/phraseshouter", server.key(plan="free"), phrase="hi").data
    assert free == {"shouted": "HI!", "length": 3}
    as_csv = call(server.base, "POST", "/v1/phraseshouter?format=csv", key=key, phrase="a")
    assert b"shouted,A!" in as_csv.body
    xml = call(server.base, "POST", "/v1/pageoutline?format=xml", key=key, url=f"{site.url}/")
    assert b'<item key="h1">1</item>' in xml.body


def test_http_batch(server: Server, key: str, site: SiteServer) -> None:
    found = server.post("/v1/phraseshouter/batch", key, inputs=[{"phrase": "a"}, {"phrase": " "}]).data
    assert (found["succeeded"], found["failed"]) == (1, 1)
    assert found["results"][0]["data"]["shouted"] == "A!"
    found = server.post("/v1/pageoutline/batch", key, inputs=[{"url": f"{site.url}/"}]).data
    assert found["results"][0]["data"]["levels"] == {"h1": 1, "h2": 2}


def test_graphql(server: Server, key: str, site: SiteServer) -> None:
    query = (
        '{ phraseshouter(input: {phrase: "a", howOften: 2}) { shouted length } '
        f'pageoutline(input: {{url: "{site.url}/"}}) {{ first levels }} }}'
    )
    assert server.post("/v1/graphql", key, query=query).json["data"] == {
        "phraseshouter": {"shouted": "A!!", "length": 3},
        "pageoutline": {"first": "Tides", "levels": {"h1": 1, "h2": 2}},
    }


def test_the_documentation_of_the_service(server: Server) -> None:
    from openapi_spec_validator import OpenAPIV31SpecValidator  # seconds that each test process would wait

    document = server.call("GET", "/v1/openapi.json").json
    assert list(OpenAPIV31SpecValidator(document).iter_errors()) == []
    shouted = document["paths"]["/v1/phraseshouter"]["post"]
    assert (shouted["summary"], shouted["x-credits"]) == (SHOUT.summary, 3)
    assert shouted["requestBody"]["content"]["application/json"]["example"] == SHOUT.example["parameters"]
    assert list(document["components"]["schemas"]["OutlineParameters"]["properties"]) == ["url"]
    page = server.call("GET", "/docs").body.decode()
    assert all(f'id="operation-{name}"' in page for name in ("shout", "outline"))
    assert "HELLO!!" in page


def test_a_hosted_api(server: Server, key: str, site: SiteServer) -> None:
    backend = wa.Hosted(server.base, key)
    phrases = pd.Series(["a", "", None, "b", "a"], index=list("vwxyz"))
    got = wa.shouts(phrases, how_often=2, backend=backend, progress=False)
    assert_same(got, wa.shouts(phrases, how_often=2, progress=False))
    assert got.attrs["credits"]["used"] == 2 * 3
    urls = [f"{site.url}/", f"{site.url}/empty"]
    assert_same(wa.outline(urls, backend=backend, progress=False), wa.outline(urls, **LOCAL))
    assert wa.estimate("shouts", ["a", "b", "b"], backend).credits == 6
    with pytest.raises(ParameterError) as caught:
        wa.outline(urls, deepest=2, backend=backend)
    assert caught.value.parameter == "deepest"


def test_a_checkpoint_gives_the_rows_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with SiteServer({"/": PAGE}) as site:
        url = f"{site.url}/"
        outlined = wa.outline([url], store=tmp_path / "pages", **LOCAL)
    assert outlined["status"].tolist() == ["ok"]
    equal(wa.outline([url], store=tmp_path / "pages", **LOCAL), outlined)
    shouted = wa.shouts(["a", "b"], store=tmp_path / "phrases", progress=False)

    def unwanted(path: str) -> None:
        raise AssertionError(f"{path} was asked again")

    monkeypatch.setattr(local, "analysis_function", unwanted)
    again = wa.shouts(["a", "b"], store=tmp_path / "phrases", progress=False)
    equal(again, shouted)


@pytest.mark.parametrize(
    "operation", [*DECLARED.values(), SHOUT, OUTLINE], ids=lambda operation: operation.name
)
def test_a_declaration_can_be_pickled_after_use(operation: Any) -> None:
    for item in operation.parameters:
        with pytest.raises(ParameterError):
            item.check(object())
    assert all(not item.holds(object()) for item in operation.fields if item.shape.kind != "json")
    assert operation.looks_like_input("") is None
    assert pickle.loads(pickle.dumps(operation)) == operation


def test_what_is_taken_is_refused_and_what_is_gone_is_gone() -> None:
    with pytest.raises(ValueError, match="shout"), register(SHOUT):
        pass
    assert OPERATIONS["shout"] is SHOUT


def test_an_operation_is_gone_with_its_context() -> None:
    from dataclasses import replace

    whisper = replace(SHOUT, name="whisper", function="whispers", path="whisper")
    with ExitStack() as stack:
        stack.enter_context(register(whisper))
        assert wa.whispers("a", progress=False).loc[0, "status"] == "ok"
        assert hasattr(pd.Series(["a"]).web, "whispers")
    assert "whispers" not in dir(wa)
    assert not hasattr(wa, "whispers")
    assert not hasattr(wa.aio, "whispers")
    assert "whispers" not in dir(accessors.WebFrame(pd.DataFrame()))
    with pytest.raises(SystemExit):
        main(["whispers", "a"])
