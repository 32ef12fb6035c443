"""A site on this machine that differs from night to night, and a watch over it."""

from __future__ import annotations

import json
import socket
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from webanalytics.cli.watch import watch
from webanalytics.fetching.testing import Reply, SiteServer

FIRST = datetime(2026, 11, 1, 2, tzinfo=UTC)
PATHS = [f"/shop/p{number}" for number in range(1, 13)] + [f"/blog/b{number}" for number in range(1, 6)]
FAST = "[options]\nallow_private = true\nretries = 0\nrobots = true\nconnect_timeout = 2.0\ntimeout = 5.0\n"


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


def page(
    path: str, *, title: str | None = None, description: str = "Lamps of brass.", robots: str = ""
) -> bytes:
    name = path.rsplit("/", 1)[-1]
    title = f"Lamp {name}" if title is None else title
    head = f'<meta name="robots" content="{robots}">' if robots else ""
    head += f'<meta name="description" content="{description} {name}">' if description else ""
    return (
        f"<!doctype html><html lang=en><title>{title}</title>{head}<h1>{name}</h1><p>Text of {name}.".encode()
    )


def site(changes: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """The pages of the site; what differs tonight takes the place of what is usual."""
    home = "<!doctype html><html lang=en><title>Home</title><h1>Home</h1>" + "".join(
        f'<a href="{path}">{path}</a> ' for path in PATHS
    )
    usual: dict[str, Any] = {"/": home.encode(), "/robots.txt": b"User-agent: *\nDisallow: /private\n"}
    usual |= {path: page(path) for path in PATHS}
    # noise: another title whenever it is asked
    usual["/shop/p12"] = [page("/shop/p12", title=f"Lamp p12, {visits} visits") for visits in range(7, 9)]
    return usual | dict(changes or {})


class Watch:
    """A configuration, and runs of it, a night each."""

    def __init__(
        self, folder: Path, alerts: str, source: str = 'start = "{url}/"', to: str = "", more: str = ""
    ) -> None:
        self.folder, self.port, self.night = folder, free_port(), 0
        self.url = f"http://127.0.0.1:{self.port}"
        self.config = folder / "site.toml"
        recipients = '[[to]]\nkind = "file"\npath = "told.jsonl"\n' + to
        self.config.write_text(
            f'name = "Lamps"\nhistory = "history"\n{source.format(url=self.url)}\n{more}\n{FAST}{alerts}\n{recipients}'
        )

    def run(self, pages: Mapping[str, Any] | None) -> tuple[int, list[str]]:
        """One night with these pages, None for none at all: the exit status and what was told."""
        told = self.folder / "told.jsonl"
        before = len(told.read_text().splitlines()) if told.exists() else 0
        now, self.night = FIRST + timedelta(days=self.night), self.night + 1
        if pages is None:
            status = watch(self.config, now)
        else:
            with SiteServer(
                pages, port=self.port, not_found=Reply(404, {"Content-Type": "text/html"}, b"<title>No")
            ):
                status = watch(self.config, now)
        lines = told.read_text().splitlines()[before:] if told.exists() else []
        return status, [said for line in lines for said in short(json.loads(line), self.url)]

    @property
    def state(self) -> dict[str, Any]:
        content: dict[str, Any] = json.loads((self.folder / "history" / ".watch.json").read_text())
        return content


def short(message: Mapping[str, Any], url: str) -> list[str]:
    """A message as lines such as ``new noindex 2 /shop/* 2``."""
    made = []
    for word, groups in (("new", message["alerts"]), ("resolved", message["resolved"])):
        for group in groups:
            where = ", ".join(f"{name} {count}" for name, count in sorted(group["templates"].items()))
            made.append(
                f"{word} {group['what']} {group['count']} ({where.replace(url.partition('//')[2], 'host')})"
            )
    return made
