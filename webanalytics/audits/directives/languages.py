"""Codes of languages and regions that pages declare."""

from __future__ import annotations

import re
from typing import Literal

_LANGUAGES = """
aa ab ae af ak am an ar as av ay az ba be bg bi bm bn bo br bs ca ce ch co cr cs cu cv cy da de dv
dz ee el en eo es et eu fa ff fi fj fo fr fy ga gd gl gn gu gv ha he hi ho hr ht hu hy hz ia id ie
ig ii ik io is it iu ja jv ka kg ki kj kk kl km kn ko kr ks ku kv kw ky la lb lg li ln lo lt lu lv
mg mh mi mk ml mn mr ms mt my na nb nd ne ng nl nn no nr nv ny oc oj om or os pa pi pl ps pt qu rm
rn ro ru rw sa sc sd se sg si sk sl sm sn so sq sr ss st su sv sw ta te tg th ti tk tl tn to tr ts
tt tw ty ug uk ur uz ve vi vo wa wo xh yi yo za zh zu
"""
LANGUAGES = frozenset(_LANGUAGES.split())
"""The 183 codes of ISO 639-1, in lower case."""

_REGIONS = """
AD AE AF AG AI AL AM AO AQ AR AS AT AU AW AX AZ BA BB BD BE BF BG BH BI BJ BL BM BN BO BQ BR BS BT
BV BW BY BZ CA CC CD CF CG CH CI CK CL CM CN CO CR CU CV CW CX CY CZ DE DJ DK DM DO DZ EC EE EG EH
ER ES ET FI FJ FK FM FO FR GA GB GD GE GF GG GH GI GL GM GN GP GQ GR GS GT GU GW GY HK HM HN HR HT
HU ID IE IL IM IN IO IQ IR IS IT JE JM JO JP KE KG KH KI KM KN KP KR KW KY KZ LA LB LC LI LK LR LS
LT LU LV LY MA MC MD ME MF MG MH MK ML MM MN MO MP MQ MR MS MT MU MV MW MX MY MZ NA NC NE NF NG NI
NL NO NP NR NU NZ OM PA PE PF PG PH PK PL PM PN PR PS PT PW PY QA RE RO RS RU RW SA SB SC SD SE SG
SH SI SJ SK SL SM SN SO SR SS ST SV SX SY SZ TC TD TF TG TH TJ TK TL TM TN TO TR TT TV TW TZ UA UG
UM US UY UZ VA VC VE VG VI VN VU WF WS YE YT ZA ZM ZW
"""
REGIONS = frozenset(_REGIONS.split())
"""The 249 codes of ISO 3166-1 alpha-2, in upper case."""

_WITHDRAWN = {"in": "id", "iw": "he", "ji": "yi", "jw": "jv", "mo": "ro", "sh": "hr"}
"""Languages of two letters that the registry keeps although they were withdrawn, and what they are now."""

# Withdrawn codes, and languages so close to each other that a detector mixes them up.
_SAME = {
    **_WITHDRAWN,
    **dict.fromkeys(("nb", "nn", "no"), "no"),
    **dict.fromkeys(("bs", "hr", "sr"), "hr"),
    **{"ms": "id", "fil": "tl"},
}

_SCRIPT = re.compile("[A-Za-z]{4}")  # ISO 15924


def primary(code: object) -> str:
    """Return the language of a code with or without a region, in lower case."""
    return str(code or "").strip().lower().replace("_", "-").partition("-")[0]


def hreflang_problem(code: str) -> Literal["", "language", "region"]:
    """Return which part of an hreflang value is invalid, '' if it is valid; case is ignored.

    Notes
    -----
    "Tell Google about localized versions of your page" (developers.google.com/search/docs/specialty/
    international/localized-versions): a language of ISO 639-1, with a script of ISO 15924 or without, with
    a region of ISO 3166-1 alpha-2 or without; or ``x-default``. A region alone is not valid, and reserved
    codes such as EU and UK are not regions.

    Examples
    --------
    >>> [hreflang_problem(code) for code in ("en-GB", "zh-Hant-TW", "x-default", "en-UK", "en_GB", "jp")]
    ['', '', '', 'region', 'language', 'language']
    """
    if code.lower() == "x-default":
        return ""
    language, *rest = code.split("-")
    if language.lower() not in LANGUAGES:
        return "language"
    if rest and _SCRIPT.fullmatch(rest[0]):
        rest = rest[1:]
    if not rest or (len(rest) == 1 and rest[0].upper() in REGIONS):
        return ""
    return "region"


def is_language(tag: str) -> bool:
    """Return whether a language tag starts with a language that may be registered.

    Notes
    -----
    The registry of BCP 47 (RFC 5646 section 2.2.1) has all languages of ISO 639-1, several thousand of three
    letters, which are not checked one by one, and none of four letters or more; ``i`` and ``x`` start
    grandfathered and private tags.

    Examples
    --------
    >>> [is_language(tag) for tag in ("en-GB", "iw", "haw", "x-klingon", "xx", "english")]
    [True, True, True, True, False, False]
    """
    first = tag.strip().lower().split("-")[0]
    if first in ("i", "x") or len(first) == 3:
        return True
    return first in LANGUAGES or first in _WITHDRAWN


def same_language(declared: str, detected: str) -> bool:
    """Return whether two codes in lower case mean one language, as far as a detector can tell.

    Examples
    --------
    >>> same_language("nb", "no"), same_language("hr", "sr"), same_language("de", "nl")
    (True, True, False)
    """
    return _SAME.get(declared, declared) == _SAME.get(detected, detected)
