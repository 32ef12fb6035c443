"""Redirects in the forms that servers read: nginx, Apache, `_redirects`, Caddy and IIS."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final
from urllib.parse import quote, unquote, urlsplit
from xml.sax.saxutils import quoteattr

from webanalytics.errors import ParameterError
from webanalytics.runs.frames.output_files import new_file

Pair = tuple[str, str]
"""Old address, new address."""

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
    """Write old and new addresses for a server; an address that stays is left out."""
    if form not in FORMS:
        raise ParameterError.one_of("server", tuple(FORMS))
    moved = [(old, new) for old, new in pairs if old != new]
    with new_file(path, "path") as temporary:
        temporary.write_text(FORMS[form](moved), "utf-8")
    return path


def _split(old: str) -> tuple[str, str]:
    """Return path and query of an old address, as they are sent."""
    parts = urlsplit(old)
    return parts.path or "/", parts.query


def _target(new: str) -> str:
    """Return a new address without anything that ends a word or a line in a server's file."""
    return quote(new, safe=_SAFE)


def _quoted(text: str) -> str:
    return '"' + re.sub(r'(["\\])', r"\\\1", text) + '"'


def _nginx(pairs: Sequence[Pair]) -> str:
    """Return maps for nginx: of decoded paths, and of addresses with a query as they are sent."""

    def key(text: str) -> str:  # a map's key is plain but for ~, which begins a pattern, and its own words
        special = text[:1] == "~" or text in ("default", "hostnames", "include", "volatile")
        return _quoted("\\" + text if special else text)

    plain: list[str] = []
    queries: list[str] = []
    for old, new in pairs:
        path, query = _split(old)
        target = _quoted(_target(new).replace("$", "%24"))
        (queries if query else plain).append(
            f"    {key(f'{path}?{query}' if query else unquote(path))} {target};"
        )
    lines = [
        "# In the http block: include this file. In the server block of the old host:",
        "#     if ($moved_query) { return 301 $moved_query; }",
        "#     if ($moved) { return 301 $moved; }",
        "map $uri $moved {",
        '    default "";',
        *plain,
        "}",
        "map $request_uri $moved_query {",
        '    default "";',
        *queries,
        "}",
    ]
    return "\n".join(lines) + "\n"


def _apache(pairs: Sequence[Pair]) -> str:
    """Return rules of mod_rewrite, which see paths decoded and queries as they are sent."""
    lines = ["RewriteEngine On"]
    # Those with a query first: a rule without one takes every query.
    for old, new in sorted(pairs, key=lambda pair: not urlsplit(pair[0]).query):
        path, query = _split(old)
        pattern = re.escape(unquote(path).removeprefix("/"))
        pattern = pattern.replace("\\ ", "\\x20").replace('"', "\\x22")
        target = re.sub(r"([%$\\])", r"\\\1", _target(new))
        if query:
            condition = re.escape(query).replace('"', "\\x22")
            lines.append(f'RewriteCond "%{{QUERY_STRING}}" "^{condition}$"')
        lines.append(f'RewriteRule "^/?{pattern}$" "{target}" [R=301,L,NE{",QSD" if query else ""}]')
    return "\n".join(lines) + "\n"


def _redirects(pairs: Sequence[Pair]) -> str:
    """Return lines of a ``_redirects`` file: old path, conditions on the query, new address, status."""
    lines = []
    for old, new in sorted(pairs, key=lambda pair: not urlsplit(pair[0]).query):
        path, query = _split(old)
        conditions = "".join(f" {part if '=' in part else part + '='}" for part in query.split("&") if part)
        lines.append(f"{_target(path)}{conditions} {_target(new)} 301!")
    return "\n".join(lines) + "\n"


def _caddy(pairs: Sequence[Pair]) -> str:
    """Return maps for a site's block of a Caddyfile."""
    plain: list[str] = []
    queries: list[str] = []
    for old, new in pairs:
        path, query = _split(old)
        line = f"    {_quoted(f'{path}?{query}' if query else unquote(path))} {_quoted(_target(new))}"
        (queries if query else plain).append(line.replace("{", "\\{"))
    lines = ["# In the block of the old host: import this file."]
    for name, source, rows in (("moved_query", "{uri}", queries), ("moved", "{path}", plain)):
        if rows:
            lines += [f"map {source} {{{name}}} {{", *rows, '    default ""', "}"]
            lines += [f'@{name} not vars {{{name}}} ""', f"redir @{name} {{{name}}} 301"]
    return "\n".join(lines) + "\n"


def _iis(pairs: Sequence[Pair]) -> str:
    """Return a ``web.config`` with a rewrite map of what stands behind the host."""
    rows = []
    for old, new in pairs:
        path, query = _split(old)
        key = f"{path}?{query}" if query else path
        rows.append(f"          <add key={quoteattr(key)} value={quoteattr(_target(new))} />")
    body = "\n".join(rows)
    return f"""<?xml version="1.0" encoding="UTF-8"?>
<configuration>
  <system.webServer>
    <rewrite>
      <rewriteMaps>
        <rewriteMap name="Moved">
{body}
        </rewriteMap>
      </rewriteMaps>
      <rules>
        <rule name="Moved" stopProcessing="true">
          <match url=".*" />
          <conditions>
            <add input="{{Moved:{{UNENCODED_URL}}}}" pattern="(.+)" />
          </conditions>
          <action type="Redirect" url="{{C:1}}" appendQueryString="false" redirectType="Permanent" />
        </rule>
      </rules>
    </rewrite>
  </system.webServer>
</configuration>
"""


FORMS: Final[dict[str, Callable[[Sequence[Pair]], str]]] = {
    "nginx": _nginx,
    "apache": _apache,
    "redirects": _redirects,
    "caddy": _caddy,
    "iis": _iis,
}
