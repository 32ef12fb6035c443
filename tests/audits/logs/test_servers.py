"""Logs that nginx, Apache and Caddy write, of requests that are known: every line is read, as it was sent."""

from __future__ import annotations

import gzip
import shutil
import socket
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

import webanalytics as wa
from tests.audits.moves.test_servers import _free_port, running

GOOGLE = "Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)"
ASKED = [
    ("/plain", GOOGLE),
    ("/plain", "GPTBot/1.2"),
    ("/a?b=1&c=%22q%22", GOOGLE),
    ('/quote"s', 'Mozilla/5.0 (X11; evil "quoted" \\ agent)'),
    ("/back\\slash", "tab\there ü"),
    ("/%C3%BC?x=[1]", ""),
    ("/[24/Nov/2026:00:00:00", 'bingbot/2.0" 200 1 "'),
    ("/ümlaut", "Mozilla/5.0 (Windows NT 10.0)"),
]


def expected() -> Counter[tuple[str, str]]:
    """What was sent, with what no address holds as escapes."""
    names = ["Googlebot", "GPTBot", "Googlebot", "", "tab", "", "Bingbot", ""]
    paths = ["/plain", "/plain", "/a?b=1&c=%22q%22", "/quote%22s", "/back\\slash", "/%C3%BC?x=[1]"]
    paths += ["/[24/Nov/2026:00:00:00", "/%C3%BCmlaut"]
    return Counter(zip(paths, names, strict=True))


def ask(port: int, log: Path) -> None:
    """Send requests that no client library would."""
    for path, agent in ASKED:
        with socket.create_connection(("127.0.0.1", port), timeout=60) as connection:
            head = f"GET {path} HTTP/1.1\r\nHost: shop.example\r\nUser-Agent: {agent}\r\nConnection: close\r\n\r\n"
            connection.sendall(head.encode())
            while connection.recv(65536):
                pass
    for _ in range(600):
        if log.exists() and log.read_bytes().count(b"\n") >= len(ASKED):
            return
        time.sleep(0.1)
    pytest.fail("the server did not write its log")


@contextmanager
def nginx(folder: Path, form: str) -> Iterator[Path]:
    port, log = _free_port(), folder / "access.log"
    places = " ".join(
        f"{name}_temp_path {folder}/{name};" for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    own = "" if form == "combined" else f"log_format own {form};"
    folder.joinpath("nginx.conf").write_text(
        f"""daemon off; pid {folder}/pid; error_log stderr; events {{}}
        http {{ {own} access_log {log} {"own" if own else "combined"}; {places}
        server {{ listen 127.0.0.1:{port}; location / {{ return 200 "tea"; }} }} }}"""
    )
    with running(["nginx", "-p", str(folder), "-c", str(folder / "nginx.conf")], port, folder):
        ask(port, log)
        yield log


@contextmanager
def apache(folder: Path, form: str) -> Iterator[Path]:
    port, log = _free_port(), folder / "access.log"
    modules = "/usr/lib/apache2/modules"
    folder.joinpath("index.html").write_text("tea")
    folder.joinpath("apache.conf").write_text(
        f"""ServerName localhost
        Listen 127.0.0.1:{port}
        PidFile {folder}/pid
        ErrorLog {folder}/errors
        HttpProtocolOptions Unsafe
        LoadModule mpm_event_module {modules}/mod_mpm_event.so
        LoadModule authz_core_module {modules}/mod_authz_core.so
        LogFormat "{form}" own
        CustomLog {log} own
        DocumentRoot {folder}"""
    )
    command = ["apache2", "-f", str(folder / "apache.conf"), "-D", "FOREGROUND"]
    with running(command, port, folder):
        ask(port, log)
        yield log


@contextmanager
def caddy(folder: Path, form: str) -> Iterator[Path]:
    port, log = _free_port(), folder / "access.log"
    folder.joinpath("Caddyfile").write_text(
        f"{{\n admin off\n auto_https off\n}}\nhttp://:{port} {{\n respond tea\n"
        f" log {{\n output file {log}\n format {form}\n }}\n}}\n"
    )
    command = ["caddy", "run", "--config", str(folder / "Caddyfile"), "--adapter", "caddyfile"]
    with running(command, port, folder):
        ask(port, log)
        yield log


COMBINED = '%h %l %u %t \\"%r\\" %>s %O \\"%{Referer}i\\" \\"%{User-Agent}i\\"'
JSON = (
    """'{"time_local":"$time_local","remote_addr":"$remote_addr","request":"$request","status":"$status","""
)
JSON += """"body_bytes_sent":"$body_bytes_sent","request_time":"$request_time","http_user_agent":"$http_user_agent"}'"""
OWN = '$host|$msec|$request_method $request_uri|$status|$request_time|"$http_user_agent"'
CASES: dict[str, tuple[Callable[[Path, str], object], str, str | None, bool]] = {
    "nginx combined": (nginx, "combined", None, False),
    "nginx json": (nginx, f"escape=json {JSON}", None, False),
    "nginx json without its escapes": (nginx, JSON, None, False),
    "nginx own": (nginx, f"'{OWN}'", OWN.replace("$request_method $request_uri", "$request"), True),
    "apache2 combined": (apache, COMBINED, None, False),
    "apache2 vhost": (apache, f"%V:80 {COMBINED}", None, True),
    "apache2 own": (
        apache,
        '%t %D %h \\"%r\\" %>s \\"%{User-agent}i\\" %b',
        '%t %D %h "%r" %s "%{User-Agent}i" %b',
        False,
    ),
    "caddy": (caddy, "json", None, True),
    "caddy with days": (caddy, "json {\n time_format wall\n }", None, True),
}


@pytest.mark.slow
@pytest.mark.parametrize("case", CASES)
def test_a_server_s_log_is_read(case: str, tmp_path: Path) -> None:
    server, written, asked, hosts = CASES[case]
    if shutil.which(case.split()[0]) is None:
        pytest.skip(f"{case.split()[0]} is not installed")
    tmp_path.chmod(0o755)
    with server(tmp_path, written) as log:  # type: ignore[attr-defined]
        lines = log.read_bytes()
    packed = tmp_path / "access.log.1.gz"
    packed.write_bytes(gzip.compress(lines))
    for file in (log, packed):
        read = wa.logs(file, format=asked)
        assert read.unread.empty, (read.unread.values.tolist(), lines.decode())
        assert read.lines == lines.count(b"\n") == len(ASKED)
        urls = read.hits["url"]
        if hosts:
            top = "https://" if case.startswith(("nginx", "caddy")) else "http://"
            refused = read.hits["status"] == 400  # of those a server knows no host
            assert (urls.str.startswith(f"{top}shop.example/") | refused).all()
            urls = urls.str.replace(r"^https?://[^/]*", "", regex=True)
        found = Counter[tuple[str, str]]()
        for url, crawler, hits in zip(urls, read.hits["crawler"], read.hits["hits"], strict=True):
            found[url, crawler] += hits
        assert found == expected(), lines.decode()
