"""Pages of a made-up site, and audits of them, for the tests of what an audit does."""

from __future__ import annotations

import pandas as pd

import webanalytics as wa

HOME = "https://lamps.example/"
HOSTILE = "<script>alert(1)</script>"
PAGES = {
    HOME: "<title>Lamps for every room of the house</title><h1>Lamps</h1><a href='/old'>Old</a>",
    f"{HOME}old": "<title>Old lamps</title><h1>Old</h1><h1>Older</h1>",
    f"{HOME}x?{HOSTILE}": f"<title>&lt;b&gt;{HOSTILE}</title>",
    f"{HOME}formula": "<title>=HYPERLINK(&quot;http://x.example&quot;)</title>",
}


def audit(pages: dict[str, str] | None = None, index: object = None, **arguments: object) -> wa.Audit:
    """Return the audit of pages whose HTML is given."""
    given = PAGES if pages is None else pages
    frame = pd.DataFrame({"url": list(given), "html": list(given.values())}, index=index)
    return wa.audit(frame, progress=False, workers=1, **arguments)
