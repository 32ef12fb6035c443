"""The sample site: pages of a small lantern maker in ten languages, some of them with faults."""

from __future__ import annotations

import gzip
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from webanalytics.fetching.testing.server import Answer, Reply, SiteServer, site_folder


class SampleSite(SiteServer):
    """The sample site, as `sample_site` serves it.

    ``pages`` are the addresses in the order of the ``manifest`` (``path``, ``language``, ``charset`` and
    ``faults`` of each), those that redirect, are missing or are forbidden by robots.txt too; ``sitemap`` is
    that of the sitemap index.
    """

    def __init__(self, host: str = "127.0.0.1", port: int = 0, delay: float = 0.0) -> None:
        folder = site_folder("site")
        contents = json.loads((folder / "site.json").read_text("utf-8"))
        entries = contents["pages"] + contents["resources"]
        replies = {entry["path"]: _reply(entry, folder) for entry in entries}
        missing = Reply(404, {"Content-Type": "text/html; charset=utf-8"}, (folder / "404.html").read_bytes())
        super().__init__(replies, host=host, port=port, delay=delay, not_found=missing)
        self.manifest: list[dict[str, Any]] = contents["pages"]
        self.pages: list[str] = []
        self.sitemap = ""

    def start(self) -> None:
        """Listen and answer until `stop`; ``pages`` and ``sitemap`` are filled when this returns."""
        super().start()
        self.pages = [self.url + entry["path"] for entry in self.manifest]
        self.sitemap = self.url + "/sitemap.xml"

    def _lay_out(self) -> None:
        super()._lay_out()
        for answers in self._answers.values():
            for place, (head, body, delay) in enumerate(answers):
                if b"\r\nContent-Type: application/gzip\r\n" in head:
                    # A .gz file is stored as plain text, as the origin goes into it
                    packed = gzip.compress(body, mtime=0)
                    old, new = (f"Content-Length: {len(content)}".encode() for content in (body, packed))
                    answers[place] = Answer(head.replace(old, new), packed, delay)


def _reply(entry: Mapping[str, Any], folder: Path) -> Reply:
    """Return the answer that one entry of the manifest describes."""
    headers = {"Content-Type": entry["type"]} if "type" in entry else {}
    if "location" in entry:
        headers["Location"] = entry["location"]
    body = (folder / entry["file"]).read_bytes() if "file" in entry else b""
    return Reply(entry.get("status", 200), headers, body, entry.get("delay", 0.0))


def sample_site(host: str = "127.0.0.1", port: int = 0, delay: float = 0.0) -> SampleSite:
    """Return a context manager that serves the sample site from a background thread.

    Parameters
    ----------
    host : str
        Address to listen on.
    port : int
        Port to listen on; 0 lets the system choose.
    delay : float
        Seconds to wait before every answer, as from a distant site.

    Returns
    -------
    SampleSite
        With ``url``, ``pages`` and ``sitemap`` once entered.

    Raises
    ------
    OSError
        When the port is in use.

    Examples
    --------
    >>> from urllib.request import urlopen
    >>> with sample_site() as site:
    ...     b"Sitemap: " + site.sitemap.encode() in urlopen(site.url + "/robots.txt").read()
    True
    """
    return SampleSite(host, port, delay)
