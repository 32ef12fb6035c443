"""Lines as servers write them, made from their documentation and not with the package's own patterns."""

from __future__ import annotations

# mod_log_config: "non-printable and other special characters in %r, %i and %o are escaped using \xhh sequences [...].
# Exceptions from this rule are " and \, which are escaped by prepending a backslash, and all whitespace characters,
# which are written in their C-style notation (\n, \t, etc)."
_C_STYLE = {
    "\n": "\\n",
    "\r": "\\r",
    "\t": "\\t",
    "\b": "\\b",
    "\v": "\\v",
    "\f": "\\f",
    '"': '\\"',
    "\\": "\\\\",
}


def apache(text: str) -> str:
    written = []
    for byte in text.encode():
        sign = chr(byte)
        written.append(_C_STYLE.get(sign) or (sign if 32 <= byte < 127 else f"\\x{byte:02x}"))
    return "".join(written)


def nginx(text: str) -> str:
    """ngx_http_log_module, escape=default: ", \\ and characters below 32 or above 126 as \\xXX."""
    return "".join(
        chr(byte) if 32 <= byte < 127 and chr(byte) not in '"\\' else f"\\x{byte:02X}"
        for byte in text.encode()
    )


def combined(
    escape: object, path: str, agent: str, *, status: int = 200, time: str = "24/Nov/2026:10:00:00 +0000"
) -> str:
    assert callable(escape)
    return f'192.0.2.7 - - [{time}] "GET {escape(path)} HTTP/1.1" {status} 512 "-" "{escape(agent) or "-"}"\n'


def sent(path: str) -> str:
    """An address as the log's rows have it: what no address holds is escaped as browsers do (RFC 3986)."""
    return "".join(
        chr(byte) if 33 <= byte < 127 and chr(byte) != '"' else f"%{byte:02X}" for byte in path.encode()
    )
