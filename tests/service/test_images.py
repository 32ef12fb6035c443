"""The store of converted images: expiry by name, nothing outside the folder, failures without harm."""

from __future__ import annotations

import asyncio
import os
import stat
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any
from urllib.parse import quote, unquote
from uuid import UUID, uuid4

import aiohttp
import pytest
from aiohttp import web
from hypothesis import given, settings
from hypothesis import strategies as st

from webanalytics.errors import ParameterError
from webanalytics.service.images import FileContent, ImageStore, StoredImage
from webanalytics.service.results import Problem

OPENED = "The `images` parameter must be a folder or URL that fsspec can open; "
TOKEN = "0123456789abcdef0123456789abcdef"


class Clock:
    def __init__(self, now: float = 1_800_000_000.0) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now


@pytest.fixture(params=["local", "memory"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    return str(tmp_path / "deep" / "images") if request.param == "local" else f"memory://{uuid4().hex}/images"


def left(folder: Path) -> list[Path]:
    return list(folder.iterdir())


def run(url: str, test: Callable[[ImageStore, Clock], Awaitable[None]], **changes: Any) -> None:
    async def main() -> None:
        clock = Clock()
        async with ImageStore(url, 3600, clock, **({"keep_free": 0} | changes)) as images:
            await test(images, clock)

    asyncio.run(main())


def test_an_image_can_be_had_until_it_expires(url: str) -> None:
    async def test(images: ImageStore, clock: Clock) -> None:
        stored = await images.save(b"content", "webp")
        assert stored.expires == 1_800_003_600
        assert UUID(stored.id).version == 4
        assert stored.name == f"{stored.expires}-{UUID(stored.id).hex}.webp"
        assert await images.open(stored.name) == (b"content", "image/webp")
        clock.now += 3599.9
        assert await images.open(stored.name) is not None
        clock.now += 0.1
        assert await images.open(stored.name) is None

    run(url, test)


@pytest.mark.parametrize(
    ("extension", "mime_type"),
    [
        ("webp", "image/webp"),
        ("png", "image/png"),
        ("jpg", "image/jpeg"),
        ("gif", "image/gif"),
        ("tiff", "image/tiff"),
    ],
)
def test_each_format_has_its_type(extension: str, mime_type: str) -> None:
    async def test(images: ImageStore, clock: Clock) -> None:
        stored = await images.save(b"x", extension)
        assert await images.open(stored.name) == (b"x", mime_type)

    run(f"memory://{uuid4().hex}", test)


@pytest.mark.parametrize("extension", ["svg", "", "png/..", "../png", "html", "png\n", "PNG"])
def test_no_other_extension_is_stored(extension: str) -> None:
    async def test(images: ImageStore, clock: Clock) -> None:
        with pytest.raises(ValueError, match="extension"):
            await images.save(b"x", extension)

    run(f"memory://{uuid4().hex}", test)


def test_a_new_process_finds_what_an_earlier_one_stored(url: str) -> None:
    kept: list[StoredImage] = []

    async def store(images: ImageStore, clock: Clock) -> None:
        kept.append(await images.save(b"content", "png"))

    async def read(images: ImageStore, clock: Clock) -> None:
        assert await images.open(kept[0].name) == (b"content", "image/png")

    run(url, store)
    run(url, read)


def test_a_large_image_is_read_in_pieces(url: str) -> None:
    content = os.urandom(100_001)

    async def test(images: ImageStore, clock: Clock) -> None:
        stored = await images.save(content, "tiff")
        found = await images.open(stored.name)
        assert found is not None
        assert isinstance(found.content, FileContent)
        assert found.content.size == len(content)
        pieces = [piece async for piece in found.content]
        assert b"".join(pieces) == content
        assert max(map(len, pieces)) <= 10_000
        async for _ in found.content:
            break  # a reader may leave in the middle

    run(url, test, whole=40_000)


def test_a_large_image_is_the_body_of_a_response(url: str) -> None:
    content = os.urandom(300_001)

    async def test(images: ImageStore, clock: Clock) -> None:
        stored = await images.save(content, "tiff")

        async def handle(request: web.BaseRequest) -> web.Response:
            found = await images.open(stored.name)
            assert found is not None
            return web.Response(body=found.content, content_type=found.mime_type)

        runner = web.ServerRunner(web.Server(handle))
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        try:
            async with aiohttp.ClientSession() as session:
                async with session.get(f"http://127.0.0.1:{runner.addresses[0][1]}/") as response:
                    assert response.content_type == "image/tiff"
                    assert await response.read() == content
                async with session.get(f"http://127.0.0.1:{runner.addresses[0][1]}/") as response:
                    await response.content.read(10)  # and leave
        finally:
            await runner.cleanup()

    run(url, test, whole=40_000)


VALID = f"1900000000-{TOKEN}.png"
HOSTILE = [
    "",
    ".",
    "..",
    "/",
    "secret.png",
    "../secret.png",
    "..%2fsecret.png",
    "%2e%2e/secret.png",
    "..\\secret.png",
    "/etc/passwd",
    "//etc/passwd",
    "file:///etc/passwd",
    f"../images/{VALID}",
    f"./{VALID}",
    f"/{VALID}",
    f"{VALID}/",
    f"{VALID}/.",
    f"{VALID}\n",
    f"{VALID}\0",
    f"{VALID}\0.png",
    f"{VALID}.part",
    f"\n{VALID}",
    f" {VALID}",
    f"{VALID} ",
    f"{VALID}?",
    f"{VALID}#a",
    f"{VALID}::{VALID}",
    VALID.upper(),
    VALID.replace("-", "\u2010"),
    VALID.replace("1900000000", "\u0661\u0669\u0660\u0660\u0660\u0660\u0660\u0660\u0660\u0660"),
    VALID.replace("1900000000", "\uff11\uff19\uff10\uff10\uff10\uff10\uff10\uff10\uff10\uff10"),
    VALID.replace("1900000000", "01900000000"),
    VALID.replace("1900000000", "+1900000000"),
    VALID.replace("1900000000", "-1900000000"),
    VALID.replace("1900000000", "1900000000.0"),
    VALID.replace("1900000000", "1e12"),
    VALID.replace("1900000000", "9" * 5000),
    VALID.replace(".png", ""),
    VALID.replace(".png", ".svg"),
    VALID.replace(".png", ".png.html"),
    VALID.replace(TOKEN, TOKEN[:-1]),
    VALID.replace(TOKEN, TOKEN + "0"),
    VALID.replace(TOKEN, TOKEN[:-1] + "g"),
    VALID.replace(TOKEN, "../../../../../../../etc/passwd."),
    VALID.replace(".", "\u3002"),
    "\ud800",
    "*",
    "*.png",
    f"1900000000-{'?' * 32}.png",
    f"1900000000-[0-9a-f]{TOKEN[5:]}.png",
]


@pytest.mark.parametrize("encode", [str, quote, unquote], ids=["as it is", "quoted", "unquoted"])
def test_no_other_name_opens_anything(tmp_path: Path, encode: Callable[[str], str]) -> None:
    folder = tmp_path / "images"
    folder.mkdir()
    (tmp_path / "secret.png").write_bytes(b"secret")
    (folder / "secret.png").write_bytes(b"secret")
    (folder / VALID).write_bytes(b"image")
    (folder / f"{VALID}.part").write_bytes(b"secret")
    opened: list[str] = []

    async def test(images: ImageStore, clock: Clock) -> None:
        real = images._folder.size
        images._folder.size = lambda name: opened.append(name) or real(name)  # type: ignore[assignment, func-returns-value]
        for name in HOSTILE:
            if name == "\ud800" and encode is quote:
                continue  # it cannot be quoted at all
            assert await images.open(encode(name)) is None, name
        assert opened == []
        assert await images.open(VALID) == (b"image", "image/png")

    run(str(folder), test)


@settings(max_examples=100)
@given(
    st.one_of(
        st.text(max_size=60),
        st.from_regex(r"[0-9./%\\-]{1,20}[-/][0-9a-f./%]{32}\.(png|gif|\.\.)", fullmatch=True),
    )
)
def test_whatever_is_opened_is_a_plain_file_name(name: str) -> None:
    async def test(images: ImageStore, clock: Clock) -> None:
        opened: list[str] = []
        images._folder.size = lambda name: opened.append(name)  # type: ignore[assignment, return-value]
        await images.open(name)
        assert all(set(name) <= set("0123456789abcdefghijklmnopqrstuvwxyz.-") for name in opened)
        assert all(".." not in name and not name.startswith(".") for name in opened)

    run("memory://names", test)


def test_links_and_folders_are_no_images(tmp_path: Path) -> None:
    folder = tmp_path / "images"
    folder.mkdir()
    (tmp_path / "secret").write_bytes(b"secret")
    (folder / VALID).symlink_to(tmp_path / "secret")
    other = VALID.replace("png", "gif")
    (folder / other).mkdir()

    async def test(images: ImageStore, clock: Clock) -> None:
        assert await images.open(VALID) is None
        assert await images.open(other) is None

    run(str(folder), test)


def test_a_local_folder_is_closed_to_other_users(tmp_path: Path) -> None:
    old = os.umask(0)
    try:
        folder = tmp_path / "images"

        async def test(images: ImageStore, clock: Clock) -> None:
            stored = await images.save(b"content", "png")
            assert stat.S_IMODE(folder.stat().st_mode) == 0o700
            assert stat.S_IMODE((folder / stored.name).stat().st_mode) == 0o600

        run(str(folder), test)
    finally:
        os.umask(old)


def test_the_sweeper_removes_what_is_over_and_nothing_else(url: str) -> None:
    async def test(images: ImageStore, clock: Clock) -> None:
        files, root = images._folder._files, images._folder._root
        old = [f"{int(clock.now) - 1}-{TOKEN}.png", f"{int(clock.now)}-{TOKEN}.gif"]
        unfinished = f"{int(clock.now) - 3601}-{TOKEN}.part"
        staying = [
            f"{int(clock.now) + 1}-{TOKEN}.png",
            f"{int(clock.now) - 3599}-{TOKEN}.part",
            "webanalytics.db",
            "1-2.png",
            f"1-{TOKEN}.svg",
            f"1-{TOKEN}.png.bak",
            f"1-{TOKEN.upper()}.png",
            f"01-{TOKEN}.png",
        ]
        for name in [*old, unfinished, *staying]:
            files.pipe_file(f"{root}/{name}", b"x")
        await images.sweep()
        there = sorted(path.rpartition("/")[2] for path in files.ls(root, detail=False))
        assert there == sorted(staying)
        assert await images.sweep() == 0

    run(url, test)


def test_the_sweeper_runs_by_itself_and_survives_a_failure(url: str) -> None:
    async def test(images: ImageStore, clock: Clock) -> None:
        stored = await images.save(b"x", "png")
        real, failures = images._folder.names, [OSError("away"), OSError("away")]

        def names() -> list[str]:
            if failures:
                raise failures.pop()
            return real()

        images._folder.names = names  # type: ignore[method-assign]
        clock.now += 3600
        for _ in range(200):
            await asyncio.sleep(0.01)
            if not images._folder._files.exists(f"{images._folder._root}/{stored.name}"):
                break
        else:
            pytest.fail("the expired image is still there")

    run(url, test, interval=0.01)


def test_a_folder_that_does_not_exist_yet_is_empty() -> None:
    async def test(images: ImageStore, clock: Clock) -> None:
        assert await images.sweep() == 0
        assert await images.open(VALID) is None

    run(f"memory://{uuid4().hex}", test)


@pytest.mark.parametrize("failing", ["pipe_file", "mv"])
def test_an_image_is_there_whole_or_not_at_all(failing: str) -> None:
    async def test(images: ImageStore, clock: Clock) -> None:
        files = images._folder._files

        def fail(*arguments: Any, **_: Any) -> None:
            if failing == "pipe_file":
                type(files).pipe_file(files, arguments[0], b"half")
            raise OSError(28, "No space left on device")

        setattr(files, failing, fail)
        try:
            with pytest.raises(Problem) as caught:
                await images.save(b"content", "png")
        finally:
            delattr(files, failing)
        assert caught.value.status == 503
        assert caught.value.retry_after
        assert images._folder.names() == []

    run(f"memory://{uuid4().hex}", test)


def test_a_disk_that_is_nearly_full_is_left_alone(tmp_path: Path) -> None:
    async def test(images: ImageStore, clock: Clock) -> None:
        with pytest.raises(Problem) as caught:
            await images.save(b"content", "png")
        assert caught.value.status == 503
        assert left(tmp_path) == []

    run(str(tmp_path), test, keep_free=10**18)


def test_a_local_write_that_fails_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(descriptor: int) -> None:
        raise OSError(5, "Input/output error")

    async def test(images: ImageStore, clock: Clock) -> None:
        monkeypatch.setattr(os, "fsync", fail)
        with pytest.raises(Problem):
            await images.save(b"content", "png")
        assert left(tmp_path) == []
        monkeypatch.undo()
        await images.save(b"content", "png")

    run(str(tmp_path), test)


def test_a_store_that_cannot_be_written_to_is_a_503(tmp_path: Path) -> None:
    blocked = tmp_path / "file"
    blocked.write_bytes(b"")

    async def test(images: ImageStore, clock: Clock) -> None:
        with pytest.raises(Problem) as caught:
            await images.save(b"content", "png")
        assert caught.value.status == 503
        assert str(tmp_path) not in caught.value.sentence

    run(str(blocked / "images"), test)


def test_a_store_that_does_not_answer_is_a_503() -> None:
    import threading

    release = threading.Event()

    async def test(images: ImageStore, clock: Clock) -> None:
        images._folder.write = images._folder.size = lambda *_: release.wait(10)  # type: ignore[method-assign, assignment]
        try:
            for call in (images.save(b"content", "png"), images.open(VALID)):
                with pytest.raises(Problem) as caught:
                    await call
                assert caught.value.status == 503
        finally:
            release.set()

    run(f"memory://{uuid4().hex}", test, timeout=0.05)


def test_a_folder_that_goes_away_is_made_again(tmp_path: Path) -> None:
    import shutil

    async def test(images: ImageStore, clock: Clock) -> None:
        shutil.rmtree(tmp_path / "images")
        stored = await images.save(b"content", "png")
        assert await images.open(stored.name) == (b"content", "image/png")

    run(str(tmp_path / "images"), test)


@pytest.mark.parametrize(
    ("url", "sentence"),
    [
        ("zz://user:hunter2@host/images", OPENED + "zz is unknown."),
        ("zip://images::/none/a.zip", OPENED + "zip failed (FileNotFoundError)."),
    ],
)
def test_a_folder_that_cannot_be_one_is_told(url: str, sentence: str) -> None:
    with pytest.raises(ParameterError) as raised:
        ImageStore(url, 60)
    assert str(raised.value) == sentence
    assert raised.value.parameter == "images"


def test_the_package_that_a_store_needs_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "gcsfs", None)  # no other test opens this kind, which fsspec would keep
    with pytest.raises(ParameterError, match=r"The `images` parameter .*; gs: .*[Ii]nstall gcsfs to access"):
        ImageStore("gs://bucket/images", 60)
