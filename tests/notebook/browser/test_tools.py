"""The small widgets as a reader uses them, in JupyterLab."""

from __future__ import annotations

import io
import shutil
from pathlib import Path

import pytest
from PIL import Image, ImageOps

from tests.notebook.browser.lab import Lab, Notebook

playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
expect = playwright.expect

DATA = Path(__file__).parents[3] / "data"
PHOTOGRAPH = DATA / "images" / "photograph-lying-on-its-side.jpg"
HOSTILE = "<img src=x onerror=\"document.title='owned'\"> $\\alpha^2$"


def upload(notebook: Notebook, *paths: Path) -> None:
    with notebook.page.expect_file_chooser() as chooser:
        notebook.page.locator("button.widget-upload").click()
    chooser.value.set_files([str(path) for path in paths])
    expect(notebook.output().get_by_text(f"{len(paths)} image")).to_contain_text("chosen")


def press(notebook: Notebook, name: str) -> None:
    notebook.output().get_by_role("button", name=name, exact=True).click()


def downloaded(notebook: Notebook, name: str) -> bytes:
    with notebook.page.expect_download() as download:
        notebook.output().get_by_role("link", name=name).click()
    return Path(download.value.path()).read_bytes()


def test_converter(lab: Lab, tmp_path: Path) -> None:
    picture = tmp_path / "evening.png"
    with Image.open(PHOTOGRAPH) as photograph:
        ImageOps.exif_transpose(photograph).resize((720, 480)).save(picture)
    notebook = lab(
        "from webanalytics.notebook.widgets import image_converter",
        "converter = image_converter()\nconverter",
    )
    output = notebook.output()
    expect(output.get_by_role("button", name="Convert", exact=True)).to_be_visible()
    notebook.shot("converter-before")
    upload(notebook, picture)
    maximum = output.get_by_role("spinbutton").first
    maximum.fill("360")
    maximum.blur()
    press(notebook, "Convert")
    expect(output.get_by_text("1 image converted")).to_be_visible()
    expect(output.get_by_text("After: WebP")).to_be_visible()
    expect(output.locator("img")).to_have_count(2)
    sizes = output.locator("img").evaluate_all("all => all.map(one => [one.naturalWidth, one.naturalHeight])")
    assert sizes == [[720, 480], [360, 240]]
    notebook.shot("converter-after")
    with Image.open(io.BytesIO(downloaded(notebook, "Download"))) as result:
        assert (result.format, result.size) == ("WEBP", (360, 240))
    press(notebook, "Convert")  # the images stay for another try
    expect(output.get_by_text("Working")).to_have_count(0)
    expect(output.get_by_text("After: WebP")).to_be_visible()
    upload(notebook, picture)


def test_converter_with_several_images(lab: Lab, tmp_path: Path) -> None:
    notebook = lab("from webanalytics.notebook.widgets import image_converter", "image_converter()")
    hostile = tmp_path / "<b>$x^2$ <img src=x>.jpg"
    shutil.copyfile(PHOTOGRAPH, hostile)
    paths = [hostile, DATA / "images" / "report-three-pages.tiff", DATA / "images" / "really-a-text.png"]
    upload(notebook, *paths)
    press(notebook, "Convert")
    output = notebook.output()
    expect(output.get_by_text("2 images converted")).to_be_visible()
    expect(output.get_by_text("shown as a copy")).to_be_visible()
    expect(
        output.get_by_text("The content is not an image in WebP, PNG, JPG, GIF or TIFF format")
    ).to_be_visible()
    expect(output.get_by_text(hostile.name, exact=True)).to_be_visible()
    assert output.locator("b, mjx-container, .MathJax").count() == 0
    expect(output.locator("img")).to_have_count(4)
    assert downloaded(notebook, "Download converted-images.zip").startswith(b"PK")
    notebook.shot("converter-several")


def test_the_forms(lab: Lab) -> None:
    notebook = lab(
        "from webanalytics.notebook.widgets import hmac_signer, phone_checker, tlsa_checker\ntlsa_checker()",
        "hmac_signer()",
        "phone_checker()",
        height=1600,
    )
    check_record(notebook)
    sign(notebook)
    check_number(notebook)
    assert notebook.page.title() != "owned"
    notebook.theme("JupyterLab Dark")
    notebook.shot("tools-dark", notebook.page.locator(".jp-Notebook"))


def check_record(notebook: Notebook) -> None:
    output = notebook.output(0)
    output.locator("textarea").fill(f"_443._tcp.www.example.com. 3600 IN TLSA 3 1 1 {'ab' * 32}")
    output.get_by_role("button", name="Check").click()
    expect(output.get_by_text("Recommended", exact=True)).to_be_visible()
    expect(output.get_by_text("www.example.com", exact=True)).to_be_visible()
    notebook.shot("tlsa-checker", output)
    output.locator("textarea").fill(HOSTILE)
    output.get_by_role("button", name="Check").click()
    expect(output.get_by_text("must be a TLSA record in the form")).to_be_visible()
    notebook.shot("tlsa-checker-error", output)
    output.locator("textarea").fill(f"_25._tcp.mail.example.com. 3600 IN TLSA 2 0 0 {'30' * 400}")
    output.get_by_role("button", name="Check").click()
    expect(output.get_by_text("Weak", exact=True)).to_be_visible()


def sign(notebook: Notebook) -> None:
    output = notebook.output(1)
    output.locator("textarea").fill("what do ya want for nothing?")
    output.get_by_label("Secret").fill("Jefe")
    output.get_by_role("button", name="Sign").click()
    # RFC 4231, test case 2
    signature = "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
    expect(output.get_by_text(signature)).to_be_visible()
    notebook.shot("hmac-signer", output)
    saved = notebook.save()
    assert signature in saved, "the state of widgets is saved, so that this test can see what is in it"
    assert "Jefe" not in saved


def check_number(notebook: Notebook) -> None:
    output = notebook.output(2)
    output.locator("input[type=text]").fill("208-581-3945")
    output.locator("select").select_option("US")
    output.get_by_role("button", name="Check").click()
    expect(output.get_by_text("2024-01-30")).to_be_visible()
    notebook.shot("phone-checker", output)
