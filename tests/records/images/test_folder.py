"""Converted images in a folder."""

from __future__ import annotations

import io
from pathlib import Path

import pandas as pd
import pytest
from PIL import Image

import webanalytics as wa
from webanalytics.fetching.testing import Reply, SiteServer


def png(colour: str = "navy", size: tuple[int, int] = (40, 30)) -> bytes:
    file = io.BytesIO()
    Image.new("RGB", size, colour).save(file, "png")
    return file.getvalue()


@pytest.fixture
def images(tmp_path: Path) -> list[Path]:
    folder = tmp_path / "in"
    folder.mkdir()
    for name, colour in (("a.png", "navy"), ("b.png", "teal")):
        (folder / name).write_bytes(png(colour))
    (folder / "broken.png").write_bytes(png()[:60])
    return sorted(folder.iterdir())


def test_files_are_written_and_sized(images: list[Path], tmp_path: Path) -> None:
    frame = wa.convert([*images, tmp_path / "none.png"], "webp", save_to=tmp_path / "out" / "deep")
    assert frame["status"].tolist() == ["ok", "ok", "error", "error"]
    assert frame["image"].tolist() == [str(path) for path in [*images, tmp_path / "none.png"]]
    for row, name in enumerate(["a.webp", "b.webp"]):
        path = Path(frame.loc[row, "path"])
        assert path == tmp_path / "out" / "deep" / name
        with Image.open(path) as image:
            assert image.size == (40, 30)
        assert path.stat().st_size == frame.loc[row, "outputSize"]
        assert frame.loc[row, "saved"] == images[row].stat().st_size - path.stat().st_size
        assert frame.loc[row, "saved_share"] == pytest.approx(
            frame.loc[row, "saved"] / images[row].stat().st_size
        )
    assert frame["content"].isna().all()
    assert sorted(path.name for path in (tmp_path / "out" / "deep").iterdir()) == ["a.webp", "b.webp"]


def test_bytes_come_back_without_a_folder(images: list[Path]) -> None:
    frame = wa.convert([images[0], images[2]], "gif")
    assert frame.loc[0, "content"][:4] == b"GIF8"
    assert pd.isna(frame.loc[1, "content"])
    assert frame["path"].isna().all()


def test_a_source_is_never_written_over(images: list[Path]) -> None:
    before = images[0].read_bytes()
    frame = wa.convert(images[:2], "png", max_width=10, save_to=images[0].parent)
    assert images[0].read_bytes() == before
    assert [Path(path).name for path in frame["path"]] == ["a-2.png", "b-2.png"]


def test_equal_names_get_numbers(tmp_path: Path) -> None:
    for folder, colour in (("x", "navy"), ("y", "teal")):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "same.png").write_bytes(png(colour))
    frame = wa.convert(
        [tmp_path / "x/same.png", tmp_path / "y/same.png", png("red")],
        "jpg",
        save_to=tmp_path / "out",
        keep_smaller=False,
    )
    assert sorted(Path(path).name for path in frame["path"]) == ["image-3.jpg", "same-2.jpg", "same.jpg"]


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("/photo.png", "photo.webp"),
        ("/%2e%2e%2f%2e%2e%2fetc%2fpasswd.png", "passwd.webp"),
        ("/..%5C..%5Cwindows%5Cx.png", "windows-x.webp"),
        ("/CON.png", "image-1.webp"),
        ("/.hidden", "hidden.webp"),
        ("/" + "a" * 300 + ".png", "a" * 80 + ".webp"),
        ("/%00%0a.png", "image-1.webp"),
        ("/", "image-1.webp"),
    ],
)
def test_a_url_is_never_a_path(path: str, name: str, tmp_path: Path) -> None:
    from webanalytics.records.images.function import _stem

    assert _stem(f"https://a.example{path}?x=/../y", 0) + ".webp" == name
    assert "/" not in name


def test_images_from_urls(tmp_path: Path) -> None:
    pages = {
        "/a.png": Reply(headers={"Content-Type": "image/png"}, body=png()),
        "/page": b"<title>no image</title>",
    }
    with SiteServer(pages) as server:
        urls = [f"{server.url}/a.png", f"{server.url}/page", f"{server.url}/none.png"]
        frame = wa.convert(urls, "webp", save_to=tmp_path, allow_private=True)
        blocked = wa.convert(urls[0], "webp")
    assert frame["status"].tolist() == ["ok", "error", "error"]
    assert frame["error_type"].tolist()[1:] == ["invalid", "http"]
    assert frame["error"].tolist()[1:] == [
        "The address is that of a web page, not of an image.",
        "The image answered HTTP 404.",
    ]
    assert blocked.loc[0, "error_type"] == "blocked"


def test_a_data_url_is_an_image() -> None:
    import base64

    url = "data:image/png;base64," + base64.b64encode(png()).decode()
    frame = wa.convert([url, "data:image/png;base64,!!!"], "gif")
    assert frame["status"].tolist() == ["ok", "error"]
    assert frame["inputFormat"].tolist()[0] == "png"
    assert len(frame["image"].tolist()[0]) <= 200


def test_a_folder_that_cannot_be_is_a_wrong_call(images: list[Path]) -> None:
    with pytest.raises(wa.ParameterError, match="`save_to`"):
        wa.convert(images, "webp", save_to=images[0])
