"""The HMAC signer: a message, a secret, and the signature; the secret is kept out of the notebook.

ipywidgets' own password field holds what is typed as state of the widget, in the browser too, and
JupyterLab saves the state of widgets with the notebook, sometimes automatically. So the secret has its own
kind of field here: what is typed goes to the kernel as a message and is never part of any state.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import anywidget
import ipywidgets as w
import traitlets
from markupsafe import Markup

from webanalytics import aio
from webanalytics.core.operations.secret import Secret
from webanalytics.errors import ParameterError
from webanalytics.notebook.widgets.parts import (
    OneAnswer,
    as_text,
    button,
    code,
    facts,
    first_row,
    labelled,
    row,
    text_area,
)
from webanalytics.operations import HMAC

_OLD = frozenset({"sha1", "md5"})


class SecretField(anywidget.AnyWidget):
    """A password field whose content is not widget state: it is in no saved notebook, log or repr."""

    _esm = Path(__file__).with_name("secret-field.js").read_text("utf-8")
    _css = Path(__file__).with_name("secret-field.css").read_text("utf-8")
    is_set = traitlets.Bool(False).tag(sync=True)
    label = traitlets.Unicode("Secret").tag(sync=True)

    def __init__(self, label: str = "Secret") -> None:
        self.secret: Secret | None = None
        super().__init__(label=label)
        self.on_msg(self._on_message)

    def _on_message(self, _widget: Any, content: Any, _buffers: Any) -> None:
        if isinstance(content, dict) and isinstance(content.get("secret"), str):
            self.keep(content["secret"])

    def keep(self, text: str) -> None:
        """Keep a secret, or clear it if the text is empty."""
        try:
            self.secret = Secret(text) if text else None
        except ParameterError:  # text that UTF-8 cannot encode
            self.secret = None
        self.is_set = self.secret is not None

    def forget(self) -> None:
        """Forget the secret, in the browser too."""
        self.keep("")
        self.send({"forget": True})

    def __repr__(self) -> str:
        return f"SecretField(is_set={self.is_set})"


class HmacSigner(OneAnswer):
    """A form that signs a message with a secret key."""

    def __init__(self, backend: Any = None) -> None:
        self.text = text_area(4)
        self.secret = SecretField()
        algorithm = HMAC.parameter("algorithm")
        named = [(f"{name} (old systems only)" if name in _OLD else name, name) for name in algorithm.choices]
        self.algorithm = w.Dropdown(options=named, value=algorithm.default, layout=w.Layout(width="190px"))
        self.encoding = w.Dropdown(
            options=list(HMAC.parameter("encoding").choices), layout=w.Layout(width="110px")
        )
        start = button("Sign")
        start.on_click(lambda _: self.sign())
        self.forget = w.Button(description="Forget the secret", layout=w.Layout(width="auto"))
        self.forget.on_click(lambda _: self._forget())
        fields = row(
            labelled("Secret", self.secret),
            labelled("Algorithm", self.algorithm),
            labelled("Encoding", self.encoding),
        )
        super().__init__(
            "HMAC signer",
            "signs a message with a secret key, which is never saved.",
            [labelled("Message", self.text), fields, row(start, self.forget)],
            start,
            w.HTML(),
            backend,
        )

    def sign(self) -> None:
        """Sign the message in the form."""
        self.start(self._sign)

    @property
    def signature(self) -> str | None:
        """The signature of the last message signed."""
        return None if self.answer is None else str(self.answer["hmac"])

    def _forget(self) -> None:
        self.secret.forget()
        self.say("The secret is forgotten.")

    async def _sign(self) -> None:
        secret = self.secret.secret
        if secret is None:
            self.say("Type a secret first.", "bad")
            return
        chosen = {"algorithm": self.algorithm.value, "encoding": self.encoding.value}
        frame = await aio.hmac([self.text.value], secret=secret, **chosen, **self.options)  # type: ignore[arg-type]
        self.show(first_row(frame), _shown)


def _shown(answer: Mapping[str, Any]) -> Markup:
    made_with = as_text(f"HMAC-{answer['algorithm']}")
    return facts([("Signature", code(answer["hmac"])), ("Made with", made_with)])


def hmac_signer(backend: Any = None) -> HmacSigner:
    """Return a form that signs a message with a secret key.

    Parameters
    ----------
    backend : Hosted, optional
        Where the message is signed; None for the session's, which is this machine where it was not set.
        A hosted API receives the secret.

    Returns
    -------
    HmacSigner
        A widget; a notebook shows it when it ends a cell.

    Notes
    -----
    The secret is not part of the widget's state, so it is in no saved notebook. The kernel keeps it until
    "Forget the secret" is pressed or the kernel ends.

    Examples
    --------
    >>> signer = hmac_signer()
    >>> signer.text.value = "what do ya want for nothing?"
    >>> signer.secret.keep("Jefe")
    >>> signer.sign()
    >>> signer.signature
    '5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843'
    """
    return HmacSigner(backend)
