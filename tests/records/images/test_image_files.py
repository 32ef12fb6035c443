"""Folders and patterns as inputs of conversions, and settings that are for this machine alone."""

from __future__ import annotations

import os
from pathlib import Path

import pandas as pd
import pytest
from PIL import Image

import webanalytics as wa
from webanalytics.records.images.function import with_files

OPTIONS = {"progress": False}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("a.png", "b.JPG", "deep/er/c.webp", "deep/a.gif", ".hidden.png", ".git/d.png"):
        path = tmp_path / "in" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.linear_gradient("L").convert("RGB").resize((40, 30)).save(path)
    (tmp_path / "in" / "notes.txt").write_text("no image")
    return tmp_path / "in"


def names(frame: pd.DataFrame, folder: Path) -> list[str]:
    return [Path(image).relative_to(folder).as_posix() for image in frame["image"]]


def test_a_folder_stands_for_all_images_below_it(folder: Path) -> None:
    for given in (folder, str(folder), [folder]):
        frame = wa.convert(given, "webp", **OPTIONS)
        assert names(frame, folder) == ["a.png", "b.JPG", "deep/a.gif", "deep/er/c.webp"]
        assert frame["status"].eq("ok").all()
    assert frame.index.equals(pd.RangeIndex(4))


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no named pipes")
def test_a_pipe_in_a_folder_is_not_waited_for(folder: Path) -> None:
    os.mkfifo(folder / "never.png")
    assert folder / "never.png" not in with_files(folder)


def test_patterns(folder: Path) -> None:
    assert names(wa.convert(f"{folder}/*.png", "webp", **OPTIONS), folder) == [".hidden.png", "a.png"]
    assert names(wa.convert(f"{folder}/**/*.webp", "png", **OPTIONS), folder) == ["deep/er/c.webp"]
    assert names(wa.convert(f"{folder}/*", "webp", **OPTIONS), folder) == ["a.png", "b.JPG"]
    frame = wa.convert([f"{folder}/deep/*.gif", folder / "a.png"], "webp", **OPTIONS)
    assert names(frame, folder) == ["deep/a.gif", "a.png"]


def test_relative_patterns(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(folder)
    assert wa.convert("deep/**/*.webp", "png", **OPTIONS)["image"].tolist() == [str(Path("deep/er/c.webp"))]


def test_a_name_with_special_signs_is_a_file_where_it_is_one(folder: Path) -> None:
    odd = folder / "a[1]?.png"
    (folder / "a.png").rename(odd)
    assert names(wa.convert([str(odd)], "webp", **OPTIONS), folder) == [odd.name]


def test_what_was_written_is_not_read_again(folder: Path) -> None:
    for _ in range(2):
        frame = wa.convert(folder, "webp", save_to=folder / "out", **OPTIONS)
        assert len(frame) == 4


def test_nothing_found_is_a_wrong_call(folder: Path) -> None:
    (folder / "empty").mkdir()
    for given in (folder / "empty", f"{folder}/*.tiff"):
        with pytest.raises(wa.ParameterError, match="`images` parameter must lead to an image") as caught:
            wa.convert(given, "webp", **OPTIONS)
        assert caught.value.parameter == "images"


def test_rows_of_a_series_stay_rows(folder: Path) -> None:
    frame = wa.convert(pd.Series([str(folder), str(folder / "a.png")], index=[7, 8]), "webp", **OPTIONS)
    assert frame.index.tolist() == [7, 8]
    assert frame["status"].tolist() == ["error", "ok"]


def test_kept_files_are_saved_under_their_own_format(folder: Path, tmp_path: Path) -> None:
    frame = wa.convert(folder / "deep/er/c.webp", "tiff", save_to=tmp_path / "out", **OPTIONS)
    row = frame.iloc[0]
    assert (row["kept"], row["outputFormat"], row["saved"], Path(row["path"]).name) == (
        True,
        "webp",
        0,
        "c.webp",
    )
    assert Path(row["path"]).read_bytes() == (folder / "deep/er/c.webp").read_bytes()
    assert row["note"].startswith("Kept: as tiff it would have ")
    frame = wa.convert(folder / "deep/er/c.webp", "tiff", keep_smaller=False, **OPTIONS)
    assert (frame["kept"][0], frame["outputFormat"][0]) == (False, "tiff")


def test_target_ssim(folder: Path) -> None:
    frame = wa.convert(folder / "a.png", "jpg", target="ssim", keep_smaller=False, **OPTIONS)
    equal = wa.convert(folder / "a.png", "jpg", min_ssim=0.95, keep_smaller=False, **OPTIONS)
    assert frame["ssim"][0] >= 0.95
    assert frame["quality"].tolist() == equal["quality"].tolist()
    smaller = wa.convert(folder / "a.png", "jpg", max_bytes=int(frame["outputSize"][0]), **OPTIONS)
    assert smaller["outputSize"][0] <= frame["outputSize"][0]


@pytest.mark.parametrize(
    ("settings", "parameter"),
    [
        ({"target": "psnr"}, "target"),
        ({"min_ssim": 1.5}, "min_ssim"),
        ({"min_ssim": "high"}, "min_ssim"),
        ({"max_bytes": 0}, "max_bytes"),
        ({"target": "ssim", "max_bytes": 10}, "max_bytes"),
        ({"lossless": "yes"}, "lossless"),
        ({"keep_smaller": "yes"}, "keep_smaller"),
        ({"quality": 0}, "quality"),
    ],
)
def test_wrong_calls_are_refused_before_any_work(settings: dict[str, object], parameter: str) -> None:
    with pytest.raises(wa.ParameterError) as caught:
        wa.convert(["/no/such/file.png"], "webp", **settings)
    assert caught.value.parameter == parameter


def test_the_known_formats_are_named() -> None:
    with pytest.raises(wa.ParameterError, match="one of: png, jpg, webp, gif, tiff, avif, jxl"):
        wa.convert([b"x"], "bmp")


@pytest.mark.parametrize(
    "settings", [{"lossless": True}, {"min_ssim": 0.9}, {"max_bytes": 10}, {"target": "ssim"}]
)
def test_a_hosted_backend_refuses_what_a_service_does_not_know(settings: dict[str, object]) -> None:
    backend = wa.Hosted("https://api.example", "22bce1bb-4929-4c08-a13f-6061b2c16adc")
    with pytest.raises(wa.ParameterError, match="must be left out with a hosted backend"):
        wa.convert([b"x"], "webp", backend=backend, **settings)


def test_a_hosted_backend_has_five_formats() -> None:
    backend = wa.Hosted("https://api.example", "22bce1bb-4929-4c08-a13f-6061b2c16adc")
    with pytest.raises(
        wa.ParameterError, match="must be one of: png, jpg, webp, gif, tiff with a hosted backend"
    ):
        wa.convert([b"x"], "avif", backend=backend)
