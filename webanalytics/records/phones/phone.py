"""The phone operation for one number: whether it is disposable, and what its numbering plan says about it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from webanalytics.errors import ParameterError, RowError
from webanalytics.records.phones import phone_list

if TYPE_CHECKING:
    from phonenumbers import PhoneNumber

E164: Final = re.compile(r"\+[1-9][0-9]{1,14}")
"""Plus sign, country code, subscriber number: at most fifteen digits (ITU-T E.164)."""

_FLOAT: Final = re.compile(r"^\s*(\+?[0-9]{6,15})\.0\s*$")
"""A number that a spreadsheet took for a fraction."""


def analyse(phone: str, details: bool = True, region: str | None = None) -> dict[str, Any]:
    """Return whether a phone number is known as disposable, and what kind of number it is.

    Parameters
    ----------
    phone : str
        A number in E.164 format (``+12085813945``), also with spaces and punctuation; with `region` in
        national format, too.
    details : bool
        Whether to add country, carrier, line type and validity.
    region : str, optional
        ISO 3166 two-letter code of the country whose national format is meant.

    Returns
    -------
    dict
        ``phone`` (E.164), ``isDisposable`` and ``firstSeen`` (``YYYY-MM-DD``, or None when the number is not
        known); with details also ``country`` (ISO 3166), ``carrier`` (in English, where known),
        ``line_type`` and ``valid``.

    Raises
    ------
    RowError
        When there is no phone number in the text.
    ParameterError
        When the region is unknown.

    Notes
    -----
    Text that already has the form of E.164 is accepted unchanged, even if its numbering plan has no such
    number: then ``valid`` is false. So details never decide whether a number is accepted. Any other text
    is read by phonenumbers, which also knows national prefixes.

    Examples
    --------
    >>> analyse("+1 208-581-3945", details=False)
    {'phone': '+12085813945', 'isDisposable': True, 'firstSeen': '2024-01-30'}
    >>> analyse("020 7946 0958", region="GB")["phone"]
    '+442079460958'
    """
    region = check_region(region)
    number = normalise(phone, region)
    answer = {"phone": number, **_lookup(number)}
    return answer | number_details(number) if details else answer


def check_region(region: object) -> str | None:
    """Return a region code in upper case, or raise `ParameterError`."""
    if region is None:
        return None
    if isinstance(region, str) and is_region(region):
        return region.upper()
    sentence = "The `region` parameter must be a two-letter ISO 3166 country code, such as US, GB or SE."
    raise ParameterError(sentence, parameter="region")


def is_region(region: object) -> bool:
    """Return whether a text is a region code.

    Examples
    --------
    >>> is_region("se"), is_region("Sweden")
    (True, False)
    """
    import phonenumbers

    return isinstance(region, str) and region.upper() in phonenumbers.SUPPORTED_REGIONS


def normalise(phone: object, region: str | None = None, limit: int = 250) -> str:
    """Return a number in E.164 format; one in national format is read as a number of `region`.

    An integer stands for its digits.

    Raises
    ------
    RowError
        When there is no phone number in the text; what is neither text nor integer counts as missing.
    """
    if isinstance(phone, int | np.integer) and not isinstance(phone, bool):
        # Digits beyond any number would only cost time to write out.
        phone = str(phone) if abs(int(phone)) < 10**30 else "0"
    elif isinstance(phone, float) and phone.is_integer() and abs(phone) < 10**15:
        phone = str(int(phone))
    if not isinstance(phone, str):
        raise RowError("required", parameter="phone")
    if E164.fullmatch(phone):
        return phone
    phone = _FLOAT.sub(r"\1", phone) if len(phone) <= limit else phone
    number = _read(phone, region) if len(phone) <= limit else None
    if number is None:
        national = region is None and any(map(str.isdigit, phone)) and "+" not in phone
        if national:
            raise RowError("national_phone", parameter="phone", needs="region")
        raise RowError("must_be", parameter="phone", what="a valid phone number in E.164 format")
    return number


def _read(text: str, region: str | None) -> str | None:
    """Return E.164 for a number in any other format."""
    import phonenumbers

    try:
        number = phonenumbers.parse(text, region)
    except phonenumbers.NumberParseException:
        return None
    written = phonenumbers.format_number(number, phonenumbers.PhoneNumberFormat.E164)
    return written if E164.fullmatch(written) else None


def _lookup(number: str) -> dict[str, Any]:
    phones = phone_list.load()
    known, position = phones.find(np.array([int(number[1:])], dtype=np.uint64))
    first_seen = phones.first_seen(position)[0] if known[0] else None
    return {"isDisposable": bool(known[0]), "firstSeen": first_seen}


def number_details(number: str) -> dict[str, Any]:
    """Return country, carrier, line type and validity of a number in E.164 format."""
    import phonenumbers
    from phonenumbers import carrier

    try:
        parsed = phonenumbers.parse(number, None)
    except phonenumbers.NumberParseException:
        return {"country": None, "carrier": None, "line_type": "unknown", "valid": False}
    kind = phonenumbers.PhoneNumberType.to_string(phonenumbers.number_type(parsed))
    written = phonenumbers.format_number(parsed, phonenumbers.PhoneNumberFormat.E164)
    return {
        "country": _country(parsed),
        "carrier": carrier.name_for_number(parsed, "en") or None,
        "line_type": kind.lower(),
        # a number that is right only once a stray national prefix is dropped is not right as given
        "valid": phonenumbers.is_valid_number(parsed) and written == number,
    }


def _country(number: PhoneNumber) -> str | None:
    """Return the country of a number; of a number outside its plan, the only one with its country code."""
    import phonenumbers

    code: str | None = phonenumbers.region_code_for_number(number)
    if code is None:
        shared = phonenumbers.region_codes_for_country_code(number.country_code or 0)
        code = shared[0] if len(shared) == 1 else None
    # "001" stands for codes without a country, such as +800 and satellite networks
    return None if code == "001" else code
