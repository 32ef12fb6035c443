"""Pages saved as they were received, and judged again: the same rows, offline, whatever ended the run."""

from __future__ import annotations

import gzip
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import brotli
import numpy as np
import pandas as pd
import pytest

import webanalytics as wa
from tests.answers import rows_of
from tests.effort import BUSY_SECONDS
from tests.fetching.archives.files import chunked, page, title, write
from tests.runs.hosted.running import equal
from webanalytics.cli import main
from webanalytics.errors import WriteError
from webanalytics.fetching.archives.sources import pages as read
from webanalytics.fetching.testing import Reply, SiteServer, crawl_site

TIMES = {"elapsed", "fetched_at"}
HTML = {"Content-Type": "text/html; charset=utf-8"}
LONG = b"<title>Long</title>" + b"<p>A cup of tea. " * 40_000
ODD: dict[str, bytes | Reply] = {
    "/robots.txt": b"User-agent: *\nDisallow: /private\n",
    "/": title("Home"),
    "/gzip": Reply(headers={**HTML, "Content-Encoding": "gzip"}, body=gzip.compress(title("Gzip"))),
    "/br": Reply(headers={**HTML, "Content-Encoding": "br"}, body=brotli.compress(title("Brotli"))),
    "/chunks": Reply(headers={**HTML, "Transfer-Encoding": "chunked"}, body=chunked(title("Chunks"))),
    "/both": Reply(
        headers={**HTML, "Transfer-Encoding": "chunked", "Content-Encoding": "gzip"},
        body=chunked(gzip.compress(title("Both"))),
    ),
    "/lies": Reply(headers={**HTML, "Content-Encoding": "gzip"}, body=title("Lies")),
    "/1": Reply(301, {"Location": "/2"}),
    "/2": Reply(302, {"Location": "{{origin}}/gzip"}),
    "/loop": Reply(302, {"Location": "/loop"}),
    "/away": Reply(302, {"Location": "http://127.0.0.1:1/"}),
    "/nowhere": Reply(302, {"Location": "ftp://a.example/"}),
    "/gone": Reply(404, {**HTML, "Content-Encoding": "gzip"}, gzip.compress(title("Gone"))),
    "/long-error": Reply(500, HTML, LONG),
    "/large": Reply(200, HTML, LONG * 2),
    "/picture": Reply(200, {"Content-Type": "image/png"}, b"\x89PNG"),
    "/binary": Reply(200, {"Content-Type": ""}, b"\x00\x01\x02"),
    "/latin": Reply(
        200, {"Content-Type": "text/html; charset=iso-8859-1"}, "<title>Caf\xe9".encode("latin-1")
    ),
    "/text": Reply(200, {"Content-Type": "text/plain"}, b"Only text"),
    "/empty": Reply(200, HTML, b""),
    "/headers": Reply(
        200,
        {**HTML, "X-Robots-Tag": "noindex", "Set-Cookie": "session=sesame", "X-Note": "caf\xe9"},
        title("Headers"),
    ),
    "/private": title("Private"),
    "/busy": Reply(503, HTML, title("Busy")),
    "/slow": Reply(200, HTML, title("Slow"), delay=float("inf")),
}


@pytest.fixture(scope="module")
def site() -> Iterator[SiteServer]:
    with SiteServer(ODD) as server:
        yield server


def asked(site: SiteServer) -> list[str]:
    found = [f"{site.url}{path}" for path in ODD if path != "/robots.txt"]
    return [*found, f"{site.url}/missing", "no address", "http://127.0.0.1:1/", "http://localhost.invalid/"]


OPTIONS: dict[str, Any] = {"allow_private": True, "timeout": 2.0, "max_download": 1_000_000, "retries": 0}


def differing(one: Any, other: Any) -> dict[str, list[tuple[Any, Any]]]:
    """Cells that differ, by column; times are left out."""
    one, other = rows_of(one), rows_of(other)
    assert list(one.columns) == list(other.columns)
    assert one.dtypes.astype(str).to_dict() == other.dtypes.astype(str).to_dict()
    found = {}
    for name in one.columns.difference(list(TIMES)):
        pairs = zip(map(plain, one[name]), map(plain, other[name]), strict=True)
        if wrong := [(a, b) for a, b in pairs if repr(a) != repr(b)]:
            found[name] = wrong
    return found


def plain(cell: Any) -> Any:
    return cell.tolist() if isinstance(cell, np.ndarray) else cell


@pytest.mark.parametrize("name", ["site.warc.gz", "site.warc"])
def test_an_audit_is_judged_again_from_its_archive(site: SiteServer, tmp_path: Path, name: str) -> None:
    file = str(tmp_path / name)
    live = wa.audit(asked(site), archive=file, **OPTIONS)
    before = len(site.requests)
    again = wa.audit(file, max_download=1_000_000)
    assert len(site.requests) == before  # nothing was asked for
    assert len(live) == len(ODD) + 3
    assert Counter(live.raw["error_type"].dropna()).keys() >= {
        "http",
        "connection",
        "too_large",
        "not_html",
        "robots",
    }
    assert differing(live, again) == {}
    equal(live.issues, again.issues)
    equal(live.summary(), again.summary())
    assert live.score == again.score
    assert live.origin.robots_files == again.origin.robots_files
    assert live.raw.attrs["webanalytics"].get("lacking") == again.raw.attrs["webanalytics"].get("lacking")


@pytest.mark.parametrize("function", ["metadata", "text", "readability", "keywords"])
def test_every_function_over_pages_reads_what_it_saved(
    site: SiteServer, tmp_path: Path, function: str
) -> None:
    file, call = str(tmp_path / "site.warc.gz"), getattr(wa, function)
    live = call(asked(site), archive=file, **OPTIONS)
    assert differing(live, call(file, max_download=1_000_000)) == {}


def test_a_crawl_is_judged_again_from_its_archive(tmp_path: Path) -> None:
    file = str(tmp_path / "site.warc.gz")
    with crawl_site() as server:
        live = wa.crawl(str(server.url), allow_private=True, archive=file, sitemap=None)
    again = wa.audit(file)
    assert len(live) > 100
    shared = [name for name in live.raw.columns if name in again.raw.columns]
    assert differing(live.raw[shared], again.raw[shared]) == {}
    assert list(again.raw.columns) == [name for name in live.raw.columns if name in again.raw.columns]
    found = [set(zip(made.issues["url"], made.issues["rule"], strict=True)) for made in (live, again)]
    missing = {url for url, rule in found[0] if rule == "soft_404"}  # an archive cannot be asked for such
    assert missing
    assert {rule for url, rule in found[1] - found[0] if url not in missing} <= {
        "no_inlinks"
    }  # frames and refreshes are links of crawls


def test_a_host_without_a_scheme_is_one_row(site: SiteServer, tmp_path: Path) -> None:
    file = str(tmp_path / "site.warc.gz")
    host = str(site.url).removeprefix("http://")
    live = wa.audit([host, f"{host}/gzip"], archive=file, allow_private=True, retries=0)
    assert live.raw["title"].tolist() == ["Home", "Gzip"]
    assert differing(live, wa.audit(file)) == {}


def test_a_later_run_is_appended_and_wins(tmp_path: Path) -> None:
    file = str(tmp_path / "site.warc.gz")
    pages: dict[str, Any] = {"/": [title("Old"), title("New")], "/x": title("X")}
    with SiteServer(pages) as server:
        urls = [f"{server.url}/", f"{server.url}/x"]
        wa.metadata(urls, archive=file, allow_private=True)
        wa.metadata(urls[:1], archive=file, allow_private=True)
    assert sorted(wa.metadata(file)["title"]) == ["New", "X"]
    every = wa.metadata(read(file, duplicates="all"))
    assert every["title"].tolist() == ["Old", "X", "New"]


def test_a_checkpoint_and_an_archive_go_on_together(tmp_path: Path) -> None:
    file, folder = str(tmp_path / "site.warc.gz"), tmp_path / "kept"
    with SiteServer({f"/{number}": title(str(number)) for number in range(6)}) as server:
        urls = [f"{server.url}/{number}" for number in range(6)]
        options: dict[str, Any] = {"allow_private": True, "store": folder, "archive": file}
        wa.metadata(urls[:3], **options)
        wa.metadata(urls, **options)
        assert Counter(request.target for request in server.requests)["/0"] == 1
    assert sorted(wa.metadata(file)["title"]) == list("012345")


# ---------------------------------------------------------------- other readers of the same file


@pytest.fixture(scope="module")
def archive(site: SiteServer, tmp_path_factory: pytest.TempPathFactory) -> str:
    file = str(tmp_path_factory.mktemp("archive") / "site.warc.gz")
    wa.audit(asked(site), archive=file, **OPTIONS)
    return file


def test_warcio_reads_every_record_and_finds_every_digest_right(archive: str) -> None:
    from warcio.archiveiterator import ArchiveIterator

    kinds: Counter[str] = Counter()
    bodies = {}
    with Path(archive).open("rb") as file:
        for record in ArchiveIterator(file, check_digests="raise"):
            kinds[record.rec_type] += 1
            if record.http_headers and record.http_headers.get_header("content-encoding") == "br":
                assert record.raw_stream.read() == brotli.compress(title("Brotli"))  # it cannot decode that
                continue
            content = record.content_stream().read()
            if record.rec_type == "response":
                bodies[record.rec_headers["WARC-Target-URI"].rpartition("/")[2]] = content
    assert kinds["response"] == kinds["request"] > 20
    assert kinds["warcinfo"] == 1
    assert bodies["chunks"] == title("Chunks")
    assert bodies["both"] == title("Both")
    assert bodies["gzip"] == title("Gzip")


def test_fastwarc_reads_every_record(archive: str) -> None:
    from fastwarc.warc import ArchiveIterator

    with Path(archive).open("rb") as file:
        seen = [(str(record.record_type), record.record_id) for record in ArchiveIterator(file)]
    with Path(archive).open("rb") as file:
        from warcio.archiveiterator import ArchiveIterator as Other

        assert len(seen) == sum(1 for _ in Other(file))


def test_a_body_is_kept_as_it_was_received(archive: str) -> None:
    records = gzip.decompress(Path(archive).read_bytes())
    assert gzip.compress(title("Gzip"))[10:] in records  # after the head, which has a time
    assert brotli.compress(title("Brotli")) in records
    assert b"WARC-Type: response" in records
    assert records.count(b"WARC-Truncated: unspecified") > 5  # redirects, whose bodies are not read, and more


def test_no_secret_is_written(site: SiteServer, tmp_path: Path) -> None:
    file = tmp_path / "site.warc"
    url = str(site.url).replace("://", "://user:sesame@")
    frame = wa.metadata([f"{url}/gzip", f"{site.url}/headers"], archive=file, **OPTIONS)
    assert frame["status"].tolist() == ["ok", "ok"]
    content = file.read_bytes()
    assert b"sesame" not in content
    assert b"user:" not in content
    assert not any(name in content.lower() for name in (b"cookie", b"authorization"))
    assert wa.metadata(str(file))["title"].tolist() == frame["title"].tolist()


# ---------------------------------------------------------------- what ends a run


KILLED = """
import sys
import webanalytics as wa
wa.metadata([f"{sys.argv[1]}/{n}" for n in range(2000)], archive=sys.argv[2], allow_private=True, workers=1)
"""


def test_a_killed_run_leaves_an_archive_that_goes_on(tmp_path: Path) -> None:
    file = tmp_path / "site.warc.gz"
    with SiteServer({}, not_found=Reply(200, HTML, title("Tea"))) as server:
        process = subprocess.Popen([sys.executable, "-c", KILLED, str(server.url), str(file)])
        end = time.monotonic() + BUSY_SECONDS
        while (not file.exists() or file.stat().st_size < 40_000) and time.monotonic() < end:
            time.sleep(0.01)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        with file.open("r+b") as broken:  # a write that was cut off
            broken.truncate(file.stat().st_size - 30)
        rows = list(read(str(file)))
        assert len(rows) > 5
        assert [row.error for row in rows if row.error][:-1] == []
        wa.metadata([f"{server.url}/later"], archive=file, allow_private=True)
    after = list(read(str(file)))
    assert [row for row in after if row.error] == []
    assert after[-1].url.endswith("/later")
    from warcio.archiveiterator import ArchiveIterator

    with file.open("rb") as whole:
        assert sum(1 for _ in ArchiveIterator(whole, check_digests="raise")) > 2 * len(after)


def test_a_full_disk_ends_the_run_with_the_finished_rows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file, real = tmp_path / "site.warc.gz", os.write

    def filling(handle: int, content: Any) -> int:
        if file.exists() and os.path.samestat(os.fstat(handle), file.stat()) and file.stat().st_size > 40_000:
            real(handle, bytes(content[:10]))
            raise OSError(28, "No space left on device")
        return real(handle, content)

    monkeypatch.setattr("webanalytics.fetching.archives.warc_writer.os.write", filling)
    with (
        SiteServer({}, not_found=Reply(200, HTML, title("Tea"))) as server,
        pytest.raises(WriteError) as caught,
    ):
        wa.metadata(
            [f"{server.url}/{n}" for n in range(300)], archive=file, allow_private=True, concurrency=1
        )
    assert str(caught.value).startswith(
        "The `archive` parameter must be a file with room for the pages: No space left on device."
    )
    rows = caught.value.rows
    assert rows is not None
    assert 0 < rows < 300
    assert [row.error for row in read(str(file)) if row.error] == []  # nothing half-written


# ---------------------------------------------------------------- wrong calls


@pytest.mark.parametrize("place", ["pages.zip", "", 5, "site.html"])
def test_another_kind_of_file_is_refused(place: Any) -> None:
    with pytest.raises(wa.ParameterError, match="`archive` parameter must be the name of a file that ends"):
        wa.metadata(["http://127.0.0.1:1/"], archive=place)


def test_a_place_that_cannot_be_written_is_refused_before_any_work(tmp_path: Path) -> None:
    strange = tmp_path / "strange.warc"
    strange.write_bytes(b"letters of a grandmother")
    taken = tmp_path / "folder.warc"
    taken.mkdir()
    with SiteServer({"/": title("Tea")}) as server:
        for place, what in (
            (tmp_path / "none" / "a.warc", "a file in an existing folder"),
            (taken, "a file, or a name that is free"),
            (strange, "a new file, or an archive that goes on"),
        ):
            with pytest.raises(wa.ParameterError, match=f"`archive` parameter must be {what}"):
                wa.metadata([str(server.url)], archive=place, allow_private=True)
        assert not server.requests
    assert strange.read_bytes() == b"letters of a grandmother"


def test_two_runs_do_not_write_to_one_archive(tmp_path: Path) -> None:
    from webanalytics.fetching.archives.warc_writer import ArchiveWriter

    writer = ArchiveWriter(tmp_path / "a.warc")
    try:
        with pytest.raises(wa.ParameterError, match="a file that no other run writes to"):
            ArchiveWriter(tmp_path / "a.warc")
    finally:
        writer.close()
    ArchiveWriter(tmp_path / "a.warc").close()


def test_only_pages_fetched_here_are_saved(tmp_path: Path) -> None:
    file = tmp_path / "a.warc"
    with pytest.raises(wa.ParameterError, match="`archive` parameter must be left out of `hmac`"):
        wa.hmac(["a"], secret="k", archive=file)
    hosted = wa.Hosted("http://127.0.0.1:1/", "key")
    with pytest.raises(wa.ParameterError, match="`archive` parameter must be left out with a hosted"):
        wa.metadata(["https://a.example/"], archive=file, backend=hosted)
    with wa.option_context(archive=file):
        assert wa.hmac(["a"], secret="k")["status"].tolist() == ["ok"]
    assert not file.exists()


def test_a_hosted_backend_says_that_archives_are_here(tmp_path: Path) -> None:
    file = write(tmp_path / "a.warc", page("a"))
    frame = wa.metadata(file, backend=wa.Hosted("http://127.0.0.1:1/", "key"))
    assert frame["error"].tolist() == ["The page is on this machine, where a hosted backend cannot read it."]


def test_a_dask_cluster_reads_archives(archive: str) -> None:
    from tests.runs.hosted.cluster import dask_backend

    for function in (wa.metadata, wa.audit):
        here, there = function(archive), function(archive, backend=dask_backend())
        assert differing(here, there) == {}
    with pytest.raises(wa.ParameterError, match="`archive` parameter must be left out with a Dask cluster"):
        wa.metadata(["https://a.example/"], archive="a.warc", backend=dask_backend())


def test_the_command_line_saves_pages_and_reads_them(
    site: SiteServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, out = str(tmp_path / "site.warc.gz"), tmp_path / "again.csv"
    assert main(["metadata", f"{site.url}/", f"{site.url}/gzip", "--allow-private", "--archive", file]) == 0
    assert main(["metadata", file, "-o", str(out)]) == 0
    assert pd.read_csv(out)["title"].tolist() == ["Home", "Gzip"]
    assert main(["audit", str(tmp_path / "*.warc.gz"), "-f", "csv"]) == 0
    assert "Gzip" in capsys.readouterr().out
