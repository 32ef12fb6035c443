"""What the tests see of an archive that is read."""

from __future__ import annotations

from webanalytics.fetching.archives.sources import pages


def told(file: str, **settings: object) -> list[tuple[str, str | None]]:
    """The last part of each address, and the title or the kind of error."""
    return [
        (entry.url.rpartition("/")[2], entry.error_type or entry.html[7:].partition("<")[0])
        for entry in pages(file, **settings)  # type: ignore[arg-type]
    ]
