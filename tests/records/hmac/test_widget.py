"""The HMAC signer by its Python state: what it signs, and where the secret is not."""

from __future__ import annotations

import json

import ipywidgets as w
import nbclient
import nbformat
import pytest

from tests.effort import NOTEBOOK_SECONDS
from webanalytics.records.hmac.widget import HmacSigner, hmac_signer

# RFC 4231, test case 2; RFC 2202 for MD5 and SHA-1
JEFE = {
    "sha256": "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843",
    "sha384": "af45d2e376484031617f78d2b58a6b1b9c7ef464f5a01b47e42ec3736322445e8e2240ca5e69e2c78b3239ecfab21649",
    "sha512": "164b7a7bfcf819e2e395fbe73b56e0a387bd64222e831fd610270cd7ea2505549758bf75c05a994a6d034f65f8f0e6fd"
    "caeab1a34d4a6b4b636e070a38bce737",
    "sha1": "effcdf6ae5eb2fa2d27416d5f184df9c259a7c79",
    "md5": "750c783e6ab0b503eaa86e310a5db738",
}
SECRET = "korrekt-häst-batteri"


def signed(secret: str = "Jefe", message: str = "what do ya want for nothing?") -> HmacSigner:
    signer = hmac_signer()
    signer.text.value = message
    type_secret(signer, secret)
    signer.button.click()
    return signer


def type_secret(signer: HmacSigner, secret: str) -> None:
    """Do what the browser does when the field is left."""
    signer.secret._handle_custom_msg({"secret": secret}, [])


@pytest.mark.parametrize(("algorithm", "signature"), JEFE.items())
def test_signatures(algorithm: str, signature: str) -> None:
    signer = signed()
    signer.algorithm.value = algorithm
    signer.button.click()
    assert signer.signature == signature
    assert signature in signer.results.value


def test_base64() -> None:
    signer = signed()
    signer.encoding.value = "base64"
    signer.button.click()
    assert signer.signature == "W9zBRr9gdU5qBCQmCJV1x1oAPwidJzmDnexYuWTsOEM="


def test_the_secret_is_in_no_state_and_no_repr() -> None:
    before = set(_active())
    signer = signed(SECRET)
    assert signer.signature
    own = [widget for key, widget in _active().items() if key not in before]
    states = json.dumps([widget.get_state() for widget in own], default=repr, ensure_ascii=False)
    assert len(own) > 10
    assert signer.signature in states  # so the state that is looked into is the whole
    shown = states + repr(signer) + str(own) + str(vars(signer)) + str(signer._repr_mimebundle_())
    assert SECRET not in shown
    assert "korrekt" not in shown


def _active() -> dict[str, w.Widget]:
    from ipywidgets.widgets.widget import _instances

    return dict(_instances)


def test_the_secret_is_in_no_saved_notebook() -> None:
    cells = [
        "from webanalytics.records.hmac.widget import hmac_signer\nsigner = hmac_signer()\nsigner",
        "signer.text.value = 'a message'\n"
        "typed = bytes.fromhex('" + SECRET.encode().hex() + "').decode()\n"
        "signer.secret._handle_custom_msg({'secret': typed}, [])\n"
        "signer.sign()",
        "await signer.task\nprint(signer.signature)\nprint(signer.secret, vars(signer.secret).get('secret'))",
    ]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    nbclient.NotebookClient(notebook, store_widget_state=True, **NOTEBOOK_SECONDS).execute()
    saved = nbformat.writes(notebook)
    assert "a message" in json.dumps(notebook.metadata["widgets"])  # state is saved with the notebook
    assert "Secret('**********')" in saved or "**********" in saved
    assert SECRET not in saved
    assert "korrekt" not in saved


def test_a_secret_can_be_forgotten() -> None:
    signer = signed()
    assert signer.secret.is_set
    signer.forget.click()
    assert not signer.secret.is_set
    signer.button.click()
    assert (signer.signature, signer.message) == (None, "Type a secret first.")


@pytest.mark.parametrize("secret", ["", "\ud800"])
def test_no_secret_gives_the_sentence(secret: str) -> None:
    assert signed(secret).message == "Type a secret first."


def test_other_messages_to_the_field_are_ignored() -> None:
    signer = hmac_signer()
    for content in ({"secret": 5}, {"other": "x"}, "text", None):
        signer.secret._handle_custom_msg(content, [])
    assert not signer.secret.is_set


@pytest.mark.parametrize("message", ["", "\U0001f600 <b>", "x" * 100_000])
def test_any_message_is_signed(message: str) -> None:
    import hashlib
    import hmac

    signer = signed(SECRET, message)
    assert signer.signature == hmac.new(SECRET.encode(), message.encode(), hashlib.sha256).hexdigest()


def test_a_message_that_is_no_text_gives_a_sentence() -> None:
    signer = signed(message="\ud800")
    assert signer.signature is None
    assert signer.message.startswith("The `message` parameter must be")
