"""Maps of redirects in the servers that read them: nginx, Apache and Caddy, asked by `check_redirects`."""

from __future__ import annotations

import shutil
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlsplit
from xml.etree import ElementTree

import pandas as pd
import pytest

import webanalytics as wa
from webanalytics.audits.moves import server_files
from webanalytics.audits.moves.plan import RedirectMap

OLD, NEW = "https://old.example", "https://new.example"
PAIRS = {
    "/plain": "/fresh",
    "/with space/ü.html": "/umlaut/ü",
    "/page?id=7": "/seven",
    "/page?id=8&x=%22q%22": "/eight?y=1&z=2",
    "/a+b(c)[d].*$": "/regex",
    '/quote"s': "/quotes",
    "/back\\slash": "/backslash",
    "/{brace}": "/brace",
    "/100%25": "/percent%25",
    "/~tilde": "/tilde$1",
    "/default": "/word",
    "/folder/": "/folder",
}
UNTOUCHED = ("/plainer", "/plain/more", "/page", "/page?id=77", "/aab(c)[d].x")


def plan(new_site: str = NEW) -> RedirectMap:
    return wa.redirect_map([OLD + old for old in PAIRS], [new_site + new for new in PAIRS.values()]).fix(
        {OLD + old: new_site + new for old, new in PAIRS.items()}
    )


def _free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


@contextmanager
def running(command: list[str], port: int, folder: Path) -> Iterator[str]:
    log = folder / "log"
    with log.open("w") as file:
        process = subprocess.Popen(command, cwd=folder, stdout=file, stderr=subprocess.STDOUT)
    try:
        for _ in range(600):
            if process.poll() is not None:
                pytest.fail(f"{command[0]} ended: {log.read_text()}")
            with suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
                break
            time.sleep(0.1)
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(30)


@contextmanager
def nginx(made: RedirectMap, folder: Path) -> Iterator[str]:
    port = _free_port()
    made.write(folder / "moved.map")
    places = " ".join(
        f"{name}_temp_path {folder}/{name};" for name in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    )
    folder.joinpath("nginx.conf").write_text(
        f"""daemon off; pid {folder}/pid; error_log stderr; events {{}}
        http {{ access_log off; {places} include {folder}/moved.map;
        server {{ listen 127.0.0.1:{port};
            if ($moved_query) {{ return 301 $moved_query; }}
            if ($moved) {{ return 301 $moved; }}
            location / {{ return 404; }} }} }}"""
    )
    with running(["nginx", "-p", str(folder), "-c", str(folder / "nginx.conf")], port, folder) as url:
        yield url


@contextmanager
def apache(made: RedirectMap, folder: Path) -> Iterator[str]:
    port = _free_port()
    root = folder / "root"
    root.mkdir()
    made.write(root / ".htaccess")
    modules = "/usr/lib/apache2/modules"
    folder.joinpath("apache.conf").write_text(
        f"""ServerName localhost
        Listen 127.0.0.1:{port}
        PidFile {folder}/pid
        ErrorLog {folder}/errors
        LoadModule mpm_event_module {modules}/mod_mpm_event.so
        LoadModule authz_core_module {modules}/mod_authz_core.so
        LoadModule rewrite_module {modules}/mod_rewrite.so
        DocumentRoot {root}
        <Directory {root}>
            AllowOverride All
            Require all granted
        </Directory>"""
    )
    for place in (folder, root):
        place.chmod(0o755)
    command = ["apache2", "-f", str(folder / "apache.conf"), "-D", "FOREGROUND"]
    with running(command, port, folder) as url:
        yield url


@contextmanager
def caddy(made: RedirectMap, folder: Path) -> Iterator[str]:
    port = _free_port()
    made.write(folder / "moved.caddy")
    folder.joinpath("Caddyfile").write_text(
        f"{{\n admin off\n auto_https off\n}}\nhttp://127.0.0.1:{port} {{\n import moved.caddy\n respond 404\n}}\n"
    )
    command = ["caddy", "run", "--config", str(folder / "Caddyfile"), "--adapter", "caddyfile"]
    with running(command, port, folder) as url:
        yield url


SERVERS: dict[str, Callable[[RedirectMap, Path], object]] = {
    "nginx": nginx,
    "apache2": apache,
    "caddy": caddy,
}


def asked(url: str, target: str, host: str = "") -> tuple[int, str]:
    """What a server answers, asked without any library's idea of addresses."""
    place, port = url.removeprefix("http://").split(":")
    connection = HTTPConnection(place, int(port), timeout=60)
    connection.request("GET", target, headers={"Host": host} if host else {})
    answer = connection.getresponse()
    answer.read()
    connection.close()
    return answer.status, answer.getheader("Location") or ""


@pytest.mark.parametrize("name", SERVERS)
def test_a_server_reads_its_map(name: str, tmp_path: Path) -> None:
    if shutil.which(name) is None:
        pytest.skip(f"{name} is not installed")
    made = plan()
    with SERVERS[name](made, tmp_path) as url:  # type: ignore[attr-defined]
        found = {old: asked(url, old.removeprefix(OLD)) for old in made.table["old"]}
        if name == "nginx":  # has no way to write a dollar
            found = {old: (status, new.replace("%24", "$")) for old, (status, new) in found.items()}
        assert found == {
            old: (301, new) for old, new in zip(made.table["old"], made.table["new"], strict=True)
        }
        assert {target: asked(url, target)[0] for target in UNTOUCHED} == dict.fromkeys(UNTOUCHED, 404)


@pytest.mark.parametrize("name", SERVERS)
def test_a_server_is_asked_whether_it_does_as_planned(name: str, tmp_path: Path) -> None:
    if shutil.which(name) is None:
        pytest.skip(f"{name} is not installed")
    pages = {
        urlsplit(new)._replace(scheme="", netloc="").geturl(): b"<title>A page</title>"
        for new in plan().table["new"]
    }
    with wa.testing.SiteServer(pages) as target:
        made = plan(target.url)
        with SERVERS[name](made, tmp_path) as url:  # type: ignore[attr-defined]
            found = wa.check_redirects(
                made, site=url, old=[f"{OLD}/plainer"], allow_private=True, progress=False
            )
    verdicts = dict(zip(found["old"], found["verdict"], strict=True))
    assert verdicts.pop(f"{OLD}/plainer") == "not in the plan"
    assert verdicts == dict.fromkeys(made.table["old"], "as planned")
    assert found["kinds"].map(tuple).value_counts().to_dict() == {("301",): len(PAIRS), (): 1}


HOSTILE = {  # none of these may lead another address anywhere, or keep a server from starting
    "/%0a": "/break",
    "/%00": "/nothing",
    "/%0aRewriteRule%20.*%20http://evil.example/%20[R]": "/rule",
    "/%22;%20return%20200;%20%23": "/words",
    '/"} server { listen 1; }': "/block",
    "/a\nredir http://evil.example/": "/line",
    "/${HOME}": "/dollar",
    "/{env.HOME}": "/brace",
    "/{$HOME}": "/{$HOME}%{HTTP_HOST}${HOME}",
    "/<<EOF": "/heredoc",
    "/*": "/star",
    "/:any": "/colon",
    "/?id=:id": "/query",
    "/%ff": "/byte",
    "/Tea": "/capital",
    "/tea": "/small",
    "/t%65a": "/twice",
    "/q?a": "/once",
    "/q?A": "/else",
    "/" + "x" * 200: "/long",
    "/" + "x" * 5000: "/longer",
    "/?" + "y" * 300: "/query-long",
}


@pytest.mark.parametrize("name", SERVERS)
def test_hostile_addresses_in_a_map_lead_nothing_else_anywhere(name: str, tmp_path: Path) -> None:
    if shutil.which(name) is None:
        pytest.skip(f"{name} is not installed")

    class Written:
        def write(self, path: Path) -> Path:
            pairs = [(OLD + old, NEW + new) for old, new in HOSTILE.items()]
            return server_files.write(pairs, path, str(server_files.form_of(path)))

    with SERVERS[name](Written(), tmp_path) as url:  # type: ignore[attr-defined, arg-type]
        others = ["/", "/other", "/x", "/?id=7", "/etc", "/EOF", "/home"]
        assert {target: asked(url, target) for target in others} == dict.fromkeys(others, (404, ""))
        assert [asked(url, path)[1] for path in ("/Tea", "/tea")] == [f"{NEW}/capital", f"{NEW}/small"]
        assert asked(url, "/" + "x" * 200) == (301, f"{NEW}/long")
        assert asked(url, "/q?a") == (301, f"{NEW}/once")
        assert asked(url, "/%22;%20return%20200;%20%23") == (301, f"{NEW}/words")


TURNS = {  # on one site; what the new address answers is no redirect
    "/Tea.html": "/tea.html",
    "/Old": "/fresh",
    "/x": "/old",
    "/caf%c3%a9": "/caf%C3%A9",
    "/%7Eann": "/~ann",
    "/list": "/list?page=1",
    "/list?b=2&a=1?": "/list?a=1&b=2",
    "/?p=12": "/",
}


@pytest.mark.parametrize("name", SERVERS)
def test_no_new_address_is_led_away_on_its_own_site(name: str, tmp_path: Path) -> None:
    if shutil.which(name) is None:
        pytest.skip(f"{name} is not installed")

    class Written:
        def write(self, path: Path) -> Path:
            pairs = [(OLD + old, OLD + new) for old, new in TURNS.items()]
            return server_files.write(pairs, path, str(server_files.form_of(path)))

    with SERVERS[name](Written(), tmp_path) as url:  # type: ignore[attr-defined, arg-type]
        assert {new: asked(url, new)[0] for new in TURNS.values()} == dict.fromkeys(TURNS.values(), 404)
        same = ("/caf%c3%a9", "/%7Eann")  # RFC 3986 section 6.2.2: the new address, written otherwise
        moved = {old: new for old, new in TURNS.items() if old not in same}
        assert {old: asked(url, old) for old in moved} == {
            old: (301, OLD + new) for old, new in moved.items()
        }


def test_iis_leads_no_address_to_itself_in_other_letters(tmp_path: Path) -> None:
    pairs = [(OLD + old, OLD + new) for old, new in TURNS.items()]
    with pytest.raises(wa.ParameterError, match=r"/x to .*/old beside .*/Old to"):
        server_files.write(pairs, tmp_path / "web.config", "iis")
    pairs.remove((f"{OLD}/x", f"{OLD}/old"))
    tree = ElementTree.parse(server_files.write(pairs, tmp_path / "web.config", "iis"))
    keys = {str(item.get("key")) for item in tree.iter("add") if item.get("key")}
    assert keys == {*TURNS} - {"/Tea.html", "/caf%c3%a9", "/%7Eann", "/x"}


@pytest.mark.parametrize("form", server_files.FORMS)
@pytest.mark.parametrize(
    "paths",
    [
        {"/a": "/b", "/b": "/a"},
        {"/a": "/b", "/b": "/c"},
        {"/a": "/b", "/b": "/c", "/c": "/a"},
        {"/a": "/b?x=1", "/b?x=1": "/c"},
        {"/a": "/caf%C3%A9", "/caf%c3%a9": "/c"},
    ],
)
def test_no_file_leads_a_new_address_on(form: str, paths: dict[str, str], tmp_path: Path) -> None:
    swap = [(OLD + old, OLD + new) for old, new in paths.items()]
    with pytest.raises(wa.ParameterError, match=r"`path` .* beside .* \.fix"):
        server_files.write(swap, tmp_path / "file", form)
    assert not (tmp_path / "file").exists()
    server_files.write([(OLD + old, NEW + new) for old, new in paths.items()], tmp_path / "file", form)


def test_corrections_that_lead_in_a_circle_are_no_file(tmp_path: Path) -> None:
    urls = [f"{OLD}/a", f"{OLD}/b"]
    made = wa.redirect_map(urls, urls).fix(dict(zip(urls, urls[::-1], strict=True)))
    with pytest.raises(wa.ParameterError, match=r"\.fix"):
        made.write(tmp_path / "moved.map")
    made.fix({urls[1]: None}).write(tmp_path / "moved.map")


def test_static_hosts_lead_no_address_to_itself(tmp_path: Path) -> None:
    """Netlify takes /tea and /tea/ for one path, any query where none is named, and knows no scheme."""
    paths = {"/tea/": "/tea", "/list": "/list?page=1", "/?p=1": "/", "/old": "/fresh"}
    pairs = [(OLD + old, OLD + new) for old, new in paths.items()]
    pairs += [(f"{OLD}/x".replace("https", "http"), f"{OLD}/x")]
    lines = server_files.write(pairs, tmp_path / "_redirects", "redirects").read_text().splitlines()
    assert sorted(lines) == [f"/ p=1 {OLD}/ 301!", f"/old {OLD}/fresh 301!"]


@pytest.mark.parametrize("name", ["nginx", "caddy"])
def test_a_server_of_both_schemes_leads_no_page_to_itself(name: str, tmp_path: Path) -> None:
    if shutil.which(name) is None:
        pytest.skip(f"{name} is not installed")

    class Written:
        def write(self, path: Path) -> Path:
            pairs = [
                ("http://a.example/x", "https://a.example/x"),
                ("http://a.example/y", "https://a.example/z"),
            ]
            return server_files.write(pairs, path, str(server_files.form_of(path)))

    with SERVERS[name](Written(), tmp_path) as url:  # type: ignore[attr-defined, arg-type]
        assert asked(url, "/y") == (301, "https://a.example/z")
        assert asked(url, "/x") == asked(url, "/z") == (404, "")


def test_what_apache_asks_of_itself_is_no_old_address(tmp_path: Path) -> None:
    """A program behind all pages, and a page for errors, are asked for by Apache too."""
    if shutil.which("apache2") is None:
        pytest.skip("apache2 is not installed")

    class Written:
        def write(self, path: Path) -> Path:
            pairs = [(f"{OLD}/index.php", f"{OLD}/"), (f"{OLD}/404.html", f"{OLD}/")]
            server_files.write(pairs, path, "apache")
            path.with_name("index.php").write_text("The program")
            path.with_name("404.html").write_text("The error")
            with path.open("a", encoding="utf-8") as file:
                file.write("ErrorDocument 404 /404.html\nRewriteRule ^none - [R=404,L]\n")
                file.write("RewriteRule ^(?:index\\.php|404\\.html)$ - [L]\nRewriteRule . /index.php [L]\n")
            return path

    with apache(Written(), tmp_path) as url:  # type: ignore[arg-type]
        assert asked(url, "/index.php") == asked(url, "/404.html") == (301, f"{OLD}/")
        assert asked(url, "/about/team") == (200, "")
        assert asked(url, "/none") == (404, "")


def test_two_sites_in_one_folder_of_apache_lead_from_the_old_one_alone(tmp_path: Path) -> None:
    if shutil.which("apache2") is None:
        pytest.skip("apache2 is not installed")
    pairs = [("http://www.a.example/x", "http://a.example/x"), ("http://www.a.example/", "http://a.example/")]
    pairs += [("http://b.example/y", "https://b.example/y")]

    class Written:
        def write(self, path: Path) -> Path:
            return server_files.write(pairs, path, "apache")

    with apache(Written(), tmp_path) as url:  # type: ignore[arg-type]
        for old, new in pairs:
            parts = urlsplit(old)
            assert asked(url, parts.path, parts.netloc) == (301, new)
        assert asked(url, "/x", "a.example") == asked(url, "/x", "A.example") == (404, "")
        assert asked(url, "/", "a.example")[1] == ""


def test_one_file_holds_no_two_hosts_whose_paths_lead_elsewhere(tmp_path: Path) -> None:
    pairs = [("https://b.example/", f"{NEW}/b"), ("https://c.example/", f"{NEW}/c")]
    with pytest.raises(wa.ParameterError, match=r"`path` .* both https://b\.example/ and .* host"):
        server_files.write(pairs, tmp_path / "moved.map", "nginx")
    server_files.write([(old, NEW) for old, _ in pairs], tmp_path / "moved.map", "nginx")


def test_hostile_addresses_in_the_other_forms(tmp_path: Path) -> None:
    pairs = [(OLD + old, NEW + new) for old, new in HOSTILE.items()]
    lines = server_files.write(pairs, tmp_path / "_redirects", "redirects").read_text().splitlines()
    assert {line.split()[0][0] for line in lines} == {"/"}
    assert not {"/*", "/:any"} & {line.split()[0] for line in lines}
    assert "/ id=%3Aid https://new.example/query 301!" in lines
    tree = ElementTree.parse(server_files.write(pairs, tmp_path / "web.config", "iis"))
    keys = [str(item.get("key")).lower() for item in tree.iter("add") if item.get("key")]
    assert len(keys) == len(set(keys)) > 15


def test_the_other_forms(tmp_path: Path) -> None:
    made = plan()
    lines = made.write(tmp_path / "_redirects").read_text().splitlines()
    assert "/plain https://new.example/fresh 301!" in lines
    assert "/page id=7 https://new.example/seven 301!" in lines
    tree = ElementTree.parse(made.write(tmp_path / "web.config"))
    keys = {item.get("key"): item.get("value") for item in tree.iter("add") if item.get("key")}
    assert keys["/page?id=7"] == "https://new.example/seven"
    assert len(keys) == len(PAIRS)
    table = pd.read_csv(made.write(tmp_path / "plan.csv"))
    assert table["new"].tolist() == made.table["new"].tolist()


def test_only_what_is_sure_is_written_unless_asked(tmp_path: Path) -> None:
    old = pd.DataFrame(
        {"url": [f"{OLD}/a", f"{OLD}/b"], "text": ["tea pot " * 30, "tea pot kettle cup " * 9]}
    )
    new = pd.DataFrame({"url": [f"{NEW}/x", f"{NEW}/y"], "text": ["tea pot " * 30, "kettle shop tea " * 12]})
    made = wa.redirect_map(old, new)
    assert made.table["decision"].tolist() == ["sure", "look"]
    assert len(made.write(tmp_path / "_redirects").read_text().splitlines()) == 1
    assert len(made.write(tmp_path / "_redirects", decisions=("sure", "look")).read_text().splitlines()) == 2
    for wrong in ({"decisions": ("gone",)}, {"server": "lighttpd"}, {"path": tmp_path / "x.conf"}):
        with pytest.raises(wa.ParameterError):
            made.write(**{"path": tmp_path / "z", **wrong})  # type: ignore[arg-type]
