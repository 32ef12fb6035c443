"""Where the files of the sites are, for the modules that serve them."""

from __future__ import annotations

from pathlib import Path


def site_folder(name: str) -> Path:
    """Return the folder of a site: in the installed package, or next to it in the checkout."""
    package = Path(__file__).resolve().parents[2]
    for folder in (package / "_data" / name, package.parent / "data" / name):
        if folder.is_dir():
            return folder
    raise FileNotFoundError(f"the folder {name} is not part of this installation of webanalytics")
