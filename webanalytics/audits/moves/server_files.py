"""Redirects in the forms that servers read: nginx, Apache, `_redirects`, Caddy and IIS."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final
from urllib.parse import SplitResult, quote, unquote, urlsplit
from xml.sax.saxutils import quoteattr

from markupsafe import Markup

from webanalytics.core.strings import encodable, for_xml
from webanalytics.core.templates import render
from webanalytics.errors import ParameterError, choice
from webanalytics.runs.frames.output_files import new_file

Pair = tuple[str, str]
"""Old address, new address."""

_NGINX_WORD: Final = 2_000  # bytes of a key; nginx reads 4,096 of a word, and some double
_SAFE: Final = "/:?#[]@!$&()*+,;=%-._~"


def form_of(path: Path) -> str | None:
    """Return the form that the name of a file tells, None for a table.

    Examples
    --------
    >>> [form_of(Path(name)) for name in ("moved.map", ".htaccess", "_redirects", "web.config", "plan.csv")]
    ['nginx', 'apache', 'redirects', 'iis', None]
    """
    name = path.name.lower()
    named = {".htaccess": "apache", "_redirects": "redirects", "caddyfile": "caddy", "web.config": "iis"}
    suffixes = {".map": "nginx", ".caddy": "caddy", ".htaccess": "apache"}
    return named.get(name) or suffixes.get(path.suffix.lower())


def write(pairs: Sequence[Pair], path: Path, form: str) -> Path:
    """Write old and new addresses for a server; one that stays, or that it cannot hold, is left out.

    Raises `ParameterError` for a new address that another line leads on: from there no page is reached.
    """
    choice("server", form, FORMS)
    texts = [(encodable(old), encodable(new)) for old, new in pairs]
    moved = [pair for pair in texts if "\0" not in unquote(pair[0]) and not _stays(*pair, form)]
    known: dict[tuple[str, str], Pair] = {}
    for old, new in moved:
        other, target = known.setdefault(_split(old), (old, new))
        if target != new and urlsplit(other).netloc != urlsplit(old).netloc:
            said = f"cannot hold both {other} and {old}, which differ in the host: write a file for each host"
            raise ParameterError.on("path", said)
    rules = {(_seen(old, form)[0], _asked(old, new, form)): (old, new) for old, new in moved}
    for old, new in moved:
        page, query = _seen(new, form)
        if on := rules.get((page, query)) or rules.get((page, None)):
            said = f"cannot hold {old} to {new} beside {on[0]} to {on[1]}: the first would lead on for "
            raise ParameterError.on("path", f"{said}ever, or to another page; change one of them with .fix")
    with new_file(path, "path") as temporary:
        temporary.write_text(FORMS[form](moved), "utf-8", "surrogateescape")
    return path


def _split(old: str) -> tuple[str, str]:
    """Return path and query of an old address, as they are sent."""
    parts = urlsplit(old)
    return parts.path or "/", parts.query


def _seen(url: str, form: str) -> tuple[tuple[str, str], str]:
    """Return what a server compares of an address: site and path, and query; most files know no scheme."""
    scheme, site, path, query, _ = urlsplit(url.lower() if form == "iis" else url)
    path = _decoded(path or "/")
    if form == "redirects":  # docs.netlify.com/manage/routing/redirects/redirect-options, "Trailing slash"
        path = path.rstrip("/") or "/"
    return (f"{scheme if form == 'apache' else ''}//{site}", path), query


def _asked(old: str, new: str, form: str) -> str | None:
    """Return the query that an old address is led on with; None for any, also that of a new one."""
    page, query = _seen(old, form)
    exact = query or form == "iis" or (form != "redirects" and page == _seen(new, form)[0])
    return query if exact else None


def _stays(old: str, new: str, form: str) -> bool:
    """Return whether a server sees one address in both, which would lead to itself for ever."""
    page, query = _seen(new, form)
    return page == _seen(old, form)[0] and _asked(old, new, form) in (None, query)


def _target(new: str) -> str:
    """Return a new address without anything that ends a word or a line in a server's file."""
    return quote(new, safe=_SAFE)


def _decoded(path: str) -> str:
    """Return a path as servers compare it: its bytes, text or not."""
    return unquote(path, errors="surrogateescape")


def _key(old: str, new: str) -> tuple[str, bool]:
    """Return what a map has of an old address: a path, or an address as it is sent, and whether it is one.

    A path takes every query, and so that of a new address with the same path.
    """
    path, query = _split(old)
    exact = _asked(old, new, "nginx") is not None
    return "?".join(filter(None, (path, query))) if exact else _decoded(path), exact


def _quoted(text: str) -> str:
    return '"' + re.sub(r'(["\\])', r"\\\1", text) + '"'


def _nginx(pairs: Sequence[Pair]) -> str:
    """Return maps for nginx: of decoded paths, and of addresses with a query as they are sent."""
    maps: list[dict[str, str]] = [{}, {}]
    for old, new in pairs:
        key, exact = _key(old, new)
        if len(key.encode("utf-8", "surrogateescape")) < _NGINX_WORD:
            maps[exact].setdefault(key, _quoted(_target(new).replace("$", "%24")))
    longest = max((len(key.encode("utf-8", "surrogateescape")) for one in maps for key in one), default=0)
    lines = [
        "# In the http block: include this file. In the server block of the old host:",
        "#     if ($moved_query) { return 301 $moved_query; }",
        "#     if ($moved) { return 301 $moved; }",
        f"map_hash_bucket_size {max(64, 1 << (longest + 32).bit_length())};",
    ]
    sites = {urlsplit(old).netloc for old, _ in pairs}
    stay = [_split(new) for _, new in pairs if urlsplit(new).netloc in sites]
    kept = [_decoded(path) for path, _ in stay], ["?".join(filter(None, parts)) for parts in stay]
    heads = "map $uri $moved {", "map $request_uri $moved_query {"
    for one, others, head in zip(maps, kept, heads, strict=True):
        # nginx takes no two keys that differ in capitals alone, and finds one by the other
        alike = Counter(map(str.lower, {*one, *others}))
        rows = [f"    {_nginx_key(key, alike[key.lower()] > 1)} {target};" for key, target in one.items()]
        lines += [head, '    default "";', *rows, "}"]
    return "\n".join(lines) + "\n"


def _nginx_key(text: str, as_pattern: bool) -> str:
    """Return the key of a map: plain but for ~, which begins a pattern, and its own words."""
    if as_pattern:
        return _quoted(f"~^{re.escape(text)}$")
    special = text[:1] == "~" or text in ("default", "hostnames", "include", "volatile")
    return _quoted("\\" + text if special else text)


def _pattern(text: str) -> str:
    """Return what matches a text, on one line and without what ends a word: a backslash would join lines."""
    return re.sub(r'\\?([\0-\x20"\x7f])', lambda sign: f"\\x{ord(sign[1]):02x}", re.escape(text))


def _apache(pairs: Sequence[Pair]) -> str:
    """Return rules of mod_rewrite, which see paths decoded and queries as they are sent."""
    # What Apache asks of itself, for the program behind a page or for an error, is no old address.
    lines = ["RewriteEngine On", 'RewriteCond "%{ENV:REDIRECT_STATUS}" "."']
    lines += [f'RewriteRule "^" "-" [S={len(pairs)}]']
    # Those with a query first: a rule without one takes every query.
    for old, new in sorted(pairs, key=lambda pair: not urlsplit(pair[0]).query):
        path, query = _split(old)
        pattern = _pattern(_decoded(path).removeprefix("/"))
        target = re.sub(r"([%$\\])", r"\\\1", _target(new))
        if _asked(old, new, "apache") is not None:
            lines.append(f'RewriteCond "%{{QUERY_STRING}}" "^{_pattern(query)}$"')
        lines += _elsewhere(urlsplit(old), urlsplit(new))
        lines.append(f'RewriteRule "^/?{pattern}$" "{target}" [R=301,L,NE{",QSD" if query else ""}]')
    return "\n".join(lines) + "\n"


def _elsewhere(old: SplitResult, new: SplitResult) -> list[str]:
    """Return the condition that a rule is not of the new site, which may be in the same folder."""
    if old.netloc != new.netloc:
        return [f'RewriteCond "%{{HTTP_HOST}}" "!^{_pattern(new.netloc)}$" [NC]']
    if old.scheme != new.scheme:
        return [f'RewriteCond "%{{HTTPS}}" "{"!" * (new.scheme == "https")}=on"']
    return []


def _redirects(pairs: Sequence[Pair]) -> str:
    """Return lines of a ``_redirects`` file: old path, conditions on the query, new address, status."""
    lines = []
    for old, new in sorted(pairs, key=lambda pair: not urlsplit(pair[0]).query):
        path, query = _split(old)
        parts = [part if "=" in part else f"{part}=" for part in query.split("&") if part]
        words = [_target(part).replace("*", "%2A").replace(":", "%3A") for part in (path, *parts)]
        lines.append(f"{' '.join(words)} {_target(new)} 301!")  # * and : would stand for anything
    return "\n".join(lines) + "\n"


def _caddy(pairs: Sequence[Pair]) -> str:
    """Return maps for a site's block of a Caddyfile."""
    maps: list[dict[str, str]] = [{}, {}]
    for old, new in pairs:
        text, exact = _key(old, new)
        key = _quoted(text).replace("{", "\\{")
        maps[not exact].setdefault(key, f"    {key} {_quoted(_target(new))}")
    lines = ["# In the block of the old host: import this file."]
    for name, source, rows in zip(("moved_query", "moved"), ("{uri}", "{path}"), maps, strict=True):
        if rows:
            lines += [f"map {source} {{{name}}} {{", *rows.values(), '    default ""', "}"]
            lines += [f'@{name} not vars {{{name}}} ""', f"redir @{name} {{{name}}} 301"]
    return "\n".join(lines) + "\n"


def _iis(pairs: Sequence[Pair]) -> str:
    """Return a ``web.config`` with a rewrite map of what stands behind the host."""
    rows = dict[str, str]()
    for old, new in pairs:
        path, query = _split(old)
        key = for_xml(f"{path}?{query}" if query else path)
        line = f"          <add key={quoteattr(key)} value={quoteattr(_target(new))} />"
        rows.setdefault(key.lower(), line)  # IIS knows no capitals, and takes no two keys alike
    return render("audits/static/iis.xml", rows=Markup("\n".join(rows.values())))  # noqa: S704 - quoted above


FORMS: Final[dict[str, Callable[[Sequence[Pair]], str]]] = {
    "nginx": _nginx,
    "apache": _apache,
    "redirects": _redirects,
    "caddy": _caddy,
    "iis": _iis,
}
