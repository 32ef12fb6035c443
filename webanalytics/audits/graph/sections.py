"""The nearest section that addresses have in common, and the sections of a site."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import takewhile


def common_section(urls: Sequence[str]) -> str:
    """Return the deepest folder that all addresses lie in; '' if that is a whole site, or they share no host.

    Examples
    --------
    >>> common_section(["https://a.example/docs/api/x", "https://a.example/docs/api/y/z"])
    'https://a.example/docs/api/'
    >>> common_section(["https://a.example/docs/x", "https://a.example/blog/x"])
    ''
    """
    parts = [url.partition("?")[0].split("/")[:-1] for url in urls if url.count("/") > 2]
    if not parts or len(parts) < len(urls):
        return ""
    shared = [one[0] for one in takewhile(lambda names: len(set(names)) == 1, zip(*parts, strict=False))]
    return "/".join(shared) + "/" if len(shared) > 3 else ""
