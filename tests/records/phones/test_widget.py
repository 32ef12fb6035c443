"""The phone checker by its Python state."""

from __future__ import annotations

import pytest

from webanalytics.errors import BackendError
from webanalytics.notebook import widgets
from webanalytics.records.phones import widget as phone
from webanalytics.records.phones.widget import PhoneChecker, phone_checker


def checked(number: str, region: str | None = None) -> PhoneChecker:
    checker = phone_checker()
    checker.number.value, checker.region.value = number, region
    checker.button.click()
    return checker


@pytest.mark.parametrize(("number", "region"), [("+1 208-581-3945", None), ("(208) 581-3945", "US")])
def test_a_disposable_number(number: str, region: str | None) -> None:
    shown = checked(number, region).results.value
    assert "Disposable" in shown
    assert "2024-01-30" in shown  # the list's own date for this number
    assert "+12085813945" in shown


def test_a_number_that_is_not_on_the_list() -> None:
    # 0701740605 to 0701740699 are set aside for fiction by the Swedish authority
    shown = checked("070 174 06 05", "SE").results.value
    for words in ("Not known as disposable", "+46701740605", ">SE<", "mobile"):
        assert words in shown
    assert "First seen" not in shown


@pytest.mark.parametrize(
    ("number", "sentence"),
    [
        ("070 174 06 05", "or in national format with `region`."),
        ("<script>", "must be a valid phone number in E.164 format."),
        ("", "Type a phone number first."),
        ("5" * 5000, "must be a valid phone number in E.164 format"),
    ],
)
def test_what_is_no_number_gives_the_sentence(number: str, sentence: str) -> None:
    checker = checked(number)
    assert sentence in checker.message
    assert checker.results.value == ""
    assert "<script>" not in checker.status.value


class Fails:
    """Stands for the functions of the package, and cannot be reached."""

    def __init__(self, error: Exception) -> None:
        self.error = error
        self.options: dict[str, object] = {}

    async def phones(self, numbers: list[str], **options: object) -> None:
        self.options = options
        raise self.error


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (BackendError("The service at <there> does not answer."), "The service at <there> does not answer."),
        (RuntimeError("/home/me/secret.txt"), "This could not be done (RuntimeError)."),
    ],
)
def test_failures_are_sentences(error: Exception, sentence: str, monkeypatch: pytest.MonkeyPatch) -> None:
    fails = Fails(error)
    monkeypatch.setattr(phone, "aio", fails)
    backend = object()
    checker = phone_checker(backend=backend)
    checker.number.value = "+12085813945"
    checker.button.click()
    assert checker.message == sentence
    assert not checker.button.disabled
    assert "<there>" not in checker.status.value
    assert fails.options["backend"] is backend


@pytest.mark.parametrize("name", ["hmac_signer", "image_converter", "phone_checker", "tlsa_checker"])
def test_every_tool_hands_its_backend_on(name: str) -> None:
    backend = object()
    make = getattr(widgets, name)
    assert make(backend=backend).options == {"backend": backend, "progress": False}
    assert make().options == {"progress": False}
