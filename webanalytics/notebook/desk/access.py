"""The desk's fields for what opens a host, and for a proxy; no secret of them is saved with the notebook."""

from __future__ import annotations

from typing import Any

import ipywidgets as w

from webanalytics.core.access import Access
from webanalytics.core.proxy import Proxy
from webanalytics.errors import ParameterError
from webanalytics.notebook.widgets.parts import labelled, row
from webanalytics.records.hmac.widget import SecretField
from webanalytics.urls import address


class AccessFields:
    """The fields, and the options that they set."""

    def __init__(self) -> None:
        def text(placeholder: str, tooltip: str) -> w.Text:
            return w.Text(placeholder=placeholder, tooltip=tooltip, layout=w.Layout(width="220px"))

        self.host = text("that of the site", "Host that is opened, or *. and a domain")
        self.user = text("", "User name")
        self.secret = SecretField("Password, or token")
        self.cookies = text("cookies.txt", "File with cookies: cookies.txt, or a browser's export in JSON")
        self.proxy = text("env or http://user@proxy:3128", "Proxy; env is that of the environment")
        self.proxy_secret = SecretField("Password of the proxy")
        self.box = row(
            labelled("Host that is opened", self.host),
            labelled("User name", self.user),
            labelled("Password, or a token where there is no user name", self.secret),
            labelled("File with cookies", self.cookies),
            labelled("Proxy", self.proxy),
            labelled("Password of the proxy", self.proxy_secret),
        )

    def options(self, site: str) -> dict[str, Any]:
        """Return the options of a run over a site; raises `ParameterError` where none can carry them."""
        chosen: dict[str, Any] = {}
        if self.proxy.value.strip():
            chosen["proxy"] = Proxy.with_password(self.proxy.value.strip(), _typed(self.proxy_secret))
        user, secret = self.user.value.strip(), _typed(self.secret)
        given: dict[str, Any] = {"user": user, "password": secret} if user else {"token": secret or None}
        given["cookies"] = self.cookies.value.strip() or None
        if user or any(given.values()):
            found = address(site if "://" in site else f"https://{site}")
            host = self.host.value.strip() or (found.host if found else "")
            if not host:
                raise ParameterError.about("access", "must name the host that is opened")
            chosen["access"] = {host: Access(**given)}
        return chosen


def _typed(field: SecretField) -> str:
    return "" if field.secret is None else field.secret.reveal().decode()
