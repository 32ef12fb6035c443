"""A first call: its worker begins before all else is imported, and only where this machine analyses."""

from __future__ import annotations

import importlib
import inspect
import pickle
import pydoc
from pathlib import Path
from typing import Any

import pytest

import webanalytics as wa
from tests.fresh import printed
from webanalytics import sync
from webanalytics.operations import OPERATIONS
from webanalytics.runs.functions import plain
from webanalytics.runs.functions.analyses import ANALYSES
from webanalytics.runs.functions.homes import BLOCKING, HOMES
from webanalytics.runs.workers.template import Template

HOSTED = wa.Hosted("https://api.example.com", "22bce1bb-4929-4c08-a13f-6061b2c16adc")
BEGAN = """
import sys
from webanalytics.runs.workers.template import Template
begin = Template.begin

def begun(self, names):
    print(len(names), *sorted({"pandas", "aiohttp", "webanalytics.operations"} & set(sys.modules)))
    begin(self, names)

Template.begin = begun
import webanalytics as wa
"""


@pytest.mark.parametrize("name", sorted(ANALYSES))
def test_the_worker_begins_before_the_function_is_imported(name: str) -> None:
    call = f"try: wa.{name}(nonsense=1)\nexcept wa.ParameterError as error: print(error)"
    first, *_, last = printed(f"{BEGAN}\n{call}").splitlines()
    assert first == str(len(ANALYSES[name]))
    assert last.startswith("The `nonsense` parameter does not exist")


@pytest.mark.skipif(not Template.works_here(), reason="workers are forked on Linux only")
def test_a_call_after_a_wrong_one_finds_the_worker_that_began(tmp_path: Path) -> None:
    page = tmp_path / "tea.html"
    page.write_text("<title>Tea</title>")
    code = f"""
import webanalytics as wa
from webanalytics.runs.workers.template import TEMPLATE
try: wa.metadata({str(page)!r}, perhost=2)
except wa.ParameterError: pass
began = TEMPLATE._process
frame = wa.metadata({str(page)!r}, progress=False)
print(began is not None and TEMPLATE._process is began, frame["title"].tolist())
"""
    assert printed(code).strip() == "True ['Tea']"


@pytest.fixture
def began(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, ...]]:
    found: list[tuple[str, ...]] = []
    monkeypatch.setattr(plain.TEMPLATE, "begin", found.append)
    return found


def test_no_worker_begins_where_another_machine_analyses(began: list[tuple[str, ...]]) -> None:
    class Lazy:
        """A frame of Dask, to those who do not import it."""

    Lazy.__module__ = "dask.dataframe"
    for inputs, options in ((["a"], {"backend": HOSTED}), (Lazy(), {})):
        with pytest.raises(wa.ParameterError, match="`nonsense`"):
            wa.audit(inputs, nonsense=1, **options)
    with wa.option_context(backend=HOSTED), pytest.raises(wa.ParameterError, match="`nonsense`"):
        wa.text(["a"], nonsense=1)
    assert wa.hmac(["a"], secret="b")["status"].tolist() == ["ok"]
    assert began == []
    with wa.option_context(backend=HOSTED), pytest.raises(wa.ParameterError, match="`nonsense`"):
        wa.text(["a"], nonsense=1, backend=None)
    assert began == [ANALYSES["text"]]


def test_nothing_begins_on_systems_without_fork(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Template, "works_here", staticmethod(lambda: False))
    template = Template()
    template.begin(ANALYSES["text"])
    assert template._process is None


def test_every_function_is_at_home_where_it_is_looked_for() -> None:
    for name, home in HOMES.items():
        assert inspect.iscoroutinefunction(getattr(importlib.import_module(home), name)), name
    for name, home in BLOCKING.items():
        assert getattr(importlib.import_module(home), name) is getattr(wa, name)
    for home in set(HOMES.values()):
        assert {name for name in importlib.import_module(home).__all__ if name[0].islower()} == {
            name for name, other in HOMES.items() if other == home
        }
    assert {item.function for item in OPERATIONS.own.values()} <= set(HOMES)
    assert sync.__all__ == sorted({*HOMES, *BLOCKING})


@pytest.mark.parametrize("name", sorted(HOMES))
def test_help_is_that_of_the_async_function(name: str) -> None:
    function, twin = getattr(wa, name), getattr(importlib.import_module(HOMES[name]), name)
    assert inspect.isroutine(function)
    assert not inspect.iscoroutinefunction(function)
    assert inspect.signature(function) == inspect.signature(twin)
    assert inspect.getdoc(function) == inspect.getdoc(twin)
    assert function.__annotations__ == twin.__annotations__
    written = pydoc.render_doc(function, renderer=pydoc.plaintext)
    assert f"\n{name}({next(iter(inspect.signature(twin).parameters))}" in written
    assert twin.__doc__.split("\n")[0] in written


def test_a_function_can_be_sent_and_bound_as_any_other() -> None:
    class Signer:
        sign: Any = wa.hmac

    assert pickle.loads(pickle.dumps(wa.hmac))(["a"], secret="b")["status"].tolist() == ["ok"]
    with pytest.raises(TypeError, match="positional"):
        Signer().sign(["a"], secret="b")  # the instance is its first argument
    assert Signer.sign is wa.hmac
    assert repr(wa.hmac) == "<function webanalytics.hmac>"


def test_a_look_at_a_function_imports_nothing() -> None:
    code = "import sys, webanalytics as wa; repr(wa.audit), callable(wa.crawl), wa.text.__name__; print('pandas' in sys.modules)"
    assert printed(code).strip() == "False"


def test_frames_get_their_accessor_without_the_functions() -> None:
    code = (
        "import sys, pandas as pd, webanalytics\n"
        "print('webanalytics.sync' in sys.modules, 'web' in dir(pd.DataFrame()), 'webanalytics.sync' in sys.modules)\n"
        "print(pd.Series(['a']).web.hmac(secret='b')['status'].tolist(), pd.DataFrame.web.__name__)"
    )
    assert printed(code).splitlines() == ["False True False", "['ok'] WebFrame"]


def test_frames_made_after_a_first_call_have_their_accessor() -> None:
    code = (
        "import webanalytics as wa\n"
        "frame = wa.hmac(['a'], secret='b')\n"
        "print(frame.web.hmac(secret='c', column='message')['status'].tolist())"
    )
    assert printed(code).strip() == "['ok']"


def test_the_accessor_of_another_package_is_replaced_with_a_warning() -> None:
    code = (
        "import warnings, pandas as pd\n"
        "pd.api.extensions.register_dataframe_accessor('web')(type('Other', (), {}))\n"
        "with warnings.catch_warnings(record=True) as caught:\n"
        "    warnings.simplefilter('always')\n"
        "    import webanalytics\n"
        "print(len(caught), 'web' in str(caught[0].message), pd.DataFrame.web.__name__)"
    )
    assert printed(code).split() == ["1", "True", "WebFrame"]


FIRST = """
import sys
from webanalytics.operations import AUDIT_PAGES
from webanalytics.runs.workers.worker import prepare
paths = tuple(item.analysis for item in AUDIT_PAGES)
RARE = {"htmldate", "dateparser", "tld"}
prepare(paths, first=True)
print(sorted(RARE & set(sys.modules)))
prepare(paths)
print(sorted(RARE & set(sys.modules)))
"""


def test_what_not_every_page_needs_waits_until_a_worker_is_there() -> None:
    first, whole = printed(FIRST).splitlines()
    assert first == "[]"
    assert whole == "['dateparser', 'htmldate', 'tld']"


LOADED = "[name for name in ('htmldate', 'tld') if name in __import__('sys').modules]"


@pytest.mark.skipif(not Template.works_here(), reason="workers are forked on Linux only")
def test_workers_after_the_first_share_all_that_pages_need() -> None:
    from webanalytics.runs.workers.pool import Worker

    template = Template()
    try:
        template.begin(ANALYSES["audit"])
        workers = [Worker(template.fork(2048, ANALYSES["audit"]), 2048, 0) for _ in range(3)]
        asked = ("call", ("builtins:eval", (LOADED,)))
        found = [worker.exchange(*asked) for worker in workers]
        assert found[1:] == [["htmldate", "tld"]] * 2
        for worker in workers:
            worker.process.close()
    finally:
        template.close()


def test_a_process_that_was_forked_leaves_the_template_of_its_parent_alone(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    template = Template()
    parents: Any = object()
    template._process = parents
    monkeypatch.setattr("os.getpid", lambda: -1)
    template.close()  # would end the parent's
    assert template._process is None


def test_first_calls_in_several_threads_do_not_meet() -> None:
    code = """
import threading, webanalytics as wa
found, gate = {}, threading.Barrier(4)

def call(number):
    gate.wait()
    function = wa.hmac if number % 2 else wa.phones
    given = {"secret": "b"} if number % 2 else {}
    found[number] = function(["+12085813945"], progress=False, **given)["status"].tolist()

threads = [threading.Thread(target=call, args=(number,)) for number in range(4)]
for thread in threads: thread.start()
for thread in threads: thread.join()
print(sorted(found.items()))
"""
    assert printed(code).strip() == str([(number, ["ok"]) for number in range(4)])
