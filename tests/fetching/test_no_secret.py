"""What opens hosts is in no file, stream, repr or error of a run, whatever its kind."""

from __future__ import annotations

import base64
import contextlib
import gzip
import hashlib
import io
import logging
import sys
import traceback
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import webanalytics as wa
from tests.fetching.closed_sites import (
    PROXY_PASSWORD,
    Authority,
    ClosedSites,
    DigestLock,
    basic_lock,
    certificate_lock,
    cookie_lock,
    header_lock,
)
from webanalytics.core.access_by_host import AccessByHost

HOSTS = ("basic", "digest", "token", "key", "cookie", "certificate", "address")
NAMES = {word: f"{word}.tea.invalid" for word in HOSTS}


@pytest.fixture
def said() -> Iterator[io.StringIO]:
    """Everything that is logged or printed."""
    text = io.StringIO()
    handler = logging.StreamHandler(text)
    root, level = logging.getLogger(), logging.getLogger().level
    root.addHandler(handler)
    root.setLevel(logging.DEBUG)
    try:
        with contextlib.redirect_stdout(text), contextlib.redirect_stderr(text):
            yield text
    finally:
        root.removeHandler(handler)
        root.setLevel(level)


def content(path: Path) -> bytes:
    """What a file says: unpacked, and cell by cell."""
    if path.suffix == ".gz":
        return gzip.decompress(path.read_bytes())
    if path.suffix == ".parquet":
        return pd.read_parquet(path).to_csv().encode()
    if zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as parts:
            return b"\n".join(map(parts.read, parts.namelist()))
    return path.read_bytes()


def page(word: str) -> dict[str, Any]:
    links = "".join(f"<a href=http://{name}/>x</a>" for name in NAMES.values())
    found = f"<title>Tea of {word}</title>{links}<a href=/gone>g</a><img src=/i.png><p>words".encode()
    return {"/": found, "/i.png": b"x", "/robots.txt": b"Sitemap: /sitemap.xml"}


def test_no_place_has_a_secret(tmp_path: Path, said: io.StringIO, monkeypatch: pytest.MonkeyPatch) -> None:
    keys = tmp_path / "keys"
    keys.mkdir()
    authority = Authority(keys)
    bot = wa.BotKey.create(keys / "bot.pem", "https://bot.example.org")
    (keys / "cookies.json").write_text(
        '[{"name": "session", "value": "c00kie-val", "domain": ".tea.invalid"}]'
    )
    (keys / "netrc").write_text(f"machine {NAMES['basic']} login ann password b4sic-word\n")
    locks: dict[str, Any] = {
        "basic": basic_lock("ann", "b4sic-word"),
        "digest": DigestLock("ann", "d1gest-word"),
        "token": header_lock("authorization", "Bearer t0ken-abc"),
        "key": header_lock("x-key", "he4der-val"),
        "cookie": cookie_lock("session", "c00kie-val"),
        "certificate": certificate_lock,
        "address": basic_lock("ann", "ur1/word"),
    }
    access = {
        NAMES["basic"]: wa.Access.from_netrc(NAMES["basic"], keys / "netrc"),
        NAMES["digest"]: wa.Access(user="ann", password="d1gest-word", digest=True),
        NAMES["token"]: wa.Access(token="t0ken-abc"),
        NAMES["key"]: wa.Access(headers={"X-Key": "he4der-val"}),
        NAMES["cookie"]: wa.Access(cookies=keys / "cookies.json"),
        NAMES["certificate"]: wa.Access(
            certificate=authority.certificate, key=authority.key, ca=authority.ca, token="t0ken-abc"
        ),
    }
    starts = [f"http{'s' * (word == 'certificate')}://{name}/" for word, name in NAMES.items()]
    starts[-1] = starts[-1].replace("://", "://ann:ur1%2Fword@")
    with ClosedSites({NAMES[word]: (lock, page(word)) for word, lock in locks.items()}, authority) as sites:
        options: dict[str, Any] = {
            "access": access, "proxy": sites.proxy, "bot_key": bot, "progress": True, "retries": 0,
        }  # fmt: skip
        for name, call in (("audit", wa.audit), ("crawl", wa.crawl)):
            more = {"image_sizes": True} if name == "audit" else {"external": "check"}
            found = call(
                starts,
                resources="check",
                store=tmp_path / name / "store",
                archive=tmp_path / f"{name}.warc.gz",
                **more,
                **options,
            )
            titles = set(found.pages["title"].dropna())
            assert titles == {f"Tea of {word}" for word in HOSTS}
            found.report(tmp_path / f"{name}.html")
            found.save(tmp_path / f"{name}.audit")
            found.to_excel(tmp_path / f"{name}.xlsx")
            wa.explore(found)
            print(repr(found), found._repr_html_(), found.pages.to_csv(), found.origin, found.raw.attrs)
            print(
                *(
                    getattr(found, part).to_csv()
                    for part in ("issues", "links", "skipped")[: 1 if name == "audit" else 3]
                )
            )
        print(
            wa.sitemap(
                starts[-1] + "robots.txt", **{key: options[key] for key in ("access", "proxy", "bot_key")}
            )
        )
        with wa.option_context(**options):
            print(repr(wa.options), access, AccessByHost.of(access))
    hosted = wa.Hosted("http://127.0.0.1:1", "k")
    for given in ({"access": access}, {"proxy": sites.proxy}, {"bot_key": bot}, {}):
        said_so = (
            "must be left out with a hosted" if given else "`urls` parameter must hold no password where"
        )
        with pytest.raises(wa.ParameterError, match=said_so) as caught:
            wa.text(["https://a.example/"] if given else starts[-1:], backend=hosted, **given)
        print("".join(traceback.format_exception(caught.value)))
    places = {
        str(path.relative_to(tmp_path)): content(path)
        for path in tmp_path.rglob("*")
        if path.is_file() and keys not in path.parents
    }
    places["streams"] = said.getvalue().encode()
    assert {"audit.warc.gz", "crawl.warc.gz", "audit.html", "crawl.html", "audit.xlsx"} <= set(places)
    assert b"GET / HTTP" in places["audit.warc.gz"]
    assert b"401" not in places["audit.warc.gz"].split(b"\r\n")[0]
    words = ["b4sic-word", "d1gest-word", "t0ken-abc", "he4der-val", "c00kie-val", "ur1/word", "ur1%2Fword"]
    words += [PROXY_PASSWORD, "Proxy-Authorization: ", "Authorization: "]
    pairs = [("ann", "b4sic-word"), ("ann", "d1gest-word"), ("ann", "ur1/word"), ("pia", PROXY_PASSWORD)]
    words += [base64.b64encode(f"{user}:{password}".encode()).decode() for user, password in pairs]
    words += [hashlib.sha256(b'ann:tea, \\"green\\":d1gest-word').hexdigest()]
    for file in (authority.key, keys / "bot.pem"):
        words += [line for line in file.read_text().splitlines() if len(line) > 20 and line[0] not in "-a"]
    assert len(words) > 15
    leaks = [(name, word) for name, text in places.items() for word in words if word.encode() in text]
    assert leaks == []
    print(len(places), "places", sorted({Path(name).suffix for name in places}), file=sys.__stderr__)
