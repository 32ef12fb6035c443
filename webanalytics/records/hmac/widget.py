"""The HMAC signer: a message, a secret, and the signature; the secret is kept out of the notebook.

ipywidgets' own password field holds what is typed as state of the widget, in the browser too, and
JupyterLab saves the state of widgets with the notebook, sometimes automatically. So the secret has its own
kind of field here: what is typed goes to the kernel as a message and is never part of any state.
"""

from __future__ import annotations

from typing import Any

import anywidget
import ipywidgets as w
import traitlets

from webanalytics import aio
from webanalytics.core.operations.secret import Secret
from webanalytics.errors import ParameterError
from webanalytics.notebook.widgets.parts import (
    Tool,
    as_text,
    button,
    code,
    facts,
    first_row,
    labelled,
    panel,
    row,
    text_area,
)
from webanalytics.operations import HMAC

_OLD = frozenset({"sha1", "md5"})

_SCRIPT = """
function render({ model, el }) {
  const input = document.createElement("input");
  input.type = "password";
  input.autocomplete = "off";
  input.spellcheck = false;
  input.setAttribute("aria-label", "Secret");
  input.className = "webanalytics-secret";
  const send = () => model.send({ secret: input.value });
  const hint = () => {
    input.placeholder = model.get("is_set") ? "kept in the kernel; type to replace it" : "never saved";
  };
  const forget = message => {
    if (message.forget) input.value = "";
  };
  input.addEventListener("change", send);
  model.on("change:is_set", hint);
  model.on("msg:custom", forget);
  hint();
  el.appendChild(input);
  return () => {
    model.off("change:is_set", hint);
    model.off("msg:custom", forget);
  };
}
export default { render };
"""

_STYLE = """
.webanalytics-secret {
  display: block; box-sizing: border-box; margin: var(--jp-widgets-margin, 2px);
  width: 260px; height: 28px; padding: 4px 8px; font-size: 13px;
  color: var(--jp-ui-font-color1, #222); background: var(--jp-layout-color1, #fff);
  border: 1px solid var(--jp-border-color1, #bdbdbd);
}
.webanalytics-secret:focus { outline: none; border-color: var(--jp-brand-color2, #0072b2); }
"""


class SecretField(anywidget.AnyWidget):
    """A password field whose content is not widget state: it is in no saved notebook, log or repr.

    Attributes
    ----------
    is_set : bool
        Whether there is a secret.
    secret : Secret or None
        What was typed last, masked.
    """

    _esm = _SCRIPT
    _css = _STYLE
    is_set = traitlets.Bool(False).tag(sync=True)

    def __init__(self) -> None:
        self.secret: Secret | None = None
        super().__init__()
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


class HmacSigner(Tool):
    """A form that signs a message with a secret key.

    Attributes
    ----------
    text : ipywidgets.Textarea
        The message, signed as UTF-8.
    secret : SecretField
        The secret key; kept by the kernel until it is forgotten.
    algorithm, encoding : ipywidgets.Dropdown
        Hash algorithm and encoding of the signature.
    signature : str or None
        The signature of the last message signed.
    """

    def __init__(self, backend: Any = None) -> None:
        self.text = text_area(4)
        self.secret = SecretField()
        algorithm = HMAC.parameter("algorithm")
        named = [(f"{name} (old systems only)" if name in _OLD else name, name) for name in algorithm.choices]
        self.algorithm = w.Dropdown(options=named, value=algorithm.default, layout=w.Layout(width="190px"))
        self.encoding = w.Dropdown(
            options=list(HMAC.parameter("encoding").choices), layout=w.Layout(width="110px")
        )
        self.signature: str | None = None
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

    def clear(self) -> None:
        """Remove the last signature."""
        self.signature = None
        self.results.value = ""

    def _forget(self) -> None:
        self.secret.forget()
        self.say("The secret is forgotten.")

    async def _sign(self) -> None:
        secret = self.secret.secret
        if secret is None:
            self.say("Type a secret first.", "bad")
            return
        chosen = {"algorithm": self.algorithm.value, "encoding": self.encoding.value}
        answer = first_row(await aio.hmac([self.text.value], secret=secret, **chosen, **self.options))  # type: ignore[arg-type]
        if answer["status"] != "ok":
            self.say(str(answer["error"]), "bad")
            return
        self.signature = str(answer["hmac"])
        shown = [("Signature", code(self.signature)), ("Made with", as_text(f"HMAC-{answer['algorithm']}"))]
        self.results.value = panel(facts(shown))
        self.say("")


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
