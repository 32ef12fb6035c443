"""Fixtures of the tests of conversion."""

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from types import ModuleType

import pytest
from PIL import Image

from tests.records.images.pictures import DATA


@pytest.fixture(scope="module")
def builder() -> ModuleType:
    """The script that draws the sample images."""
    specification = importlib.util.spec_from_file_location("build_images", DATA / "build_images.py")
    assert specification
    assert specification.loader
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


@pytest.fixture
def large_images_can_be_made(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", None)
    yield
    assert Image.MAX_IMAGE_PIXELS is None
