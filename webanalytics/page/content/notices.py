"""Notices that are no content of any page: on cookies, and on whose its texts are, in many languages."""

from __future__ import annotations

import re
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from webanalytics.page.content.features import Numbers, node_sums
from webanalytics.page.content.names import BIT
from webanalytics.page.visible_text import Blocks

SURE_NOT = 0.02
"""Probability of content up to which nobody asks what a block says."""
LONGEST_RIGHTS = 200
"""Characters up to which a text may say whose the page is."""
MOST_READ = 600
"""Characters in which it is looked for what a text says of cookies."""
LEAST_PURPOSES = 3
"""Of what is said of the purposes of data, from how many on it is a dialog that asks for consent."""
SHARE = 0.4
"""Share of an element from which on all of it is a notice, where that speaks of cookies."""

COOKIES = ("cookie", "クッキー", "คุกกี้", "쿠키", "куки", "ملفات تعريف الارتباط")
PURPOSES = (
    *("information on a device", "device characteristics", "precise geolocation", "legitimate interest"),
    *("activity on this service", "our partners process", "advertising performance", "content performance"),
)
"""What dialogs after the Transparency and Consent Framework say of the purposes of data."""
RIGHTS = (
    *("©", "(c) 19", "(c) 20", "copyright 19", "copyright 20", "all rights reserved", "tous droits réserv"),
    *("alle rechte vorbehalten", "todos los derechos", "todos os direitos", "tutti i diritti", "все права"),
    *("wszelkie prawa", "版权所有", "版權所有", "無断転載", "الحقوق محفوظة", "สงวนลิขสิทธิ์"),
)
_IN_USE = re.compile(
    r"\b(?:we|our|these|this|those|necessary|optional|all)"
    r" (?:and .{3,60} |(?:web)?(?:site|page) |also |may |only )?(?:use|cookie|store|process|value)"
    r"|\bcookies? (?:polic|preferenc|setting|consent|are (?:necessary|used)|that are|may be set)"
    r"|(?:by|if you) (?:using|click|continu|accept|visit)|\byour consent|wir (?:verwenden|nutzen|setzen)"
    r"|verwende[nt] (?:diese|wir|cookies)|(?:nous|ce site) utilis|utilizamos|utilizziamo|usiamo"
    r"|(?:este sitio|este site|questo sito|noi) (?:utili[sz]|usa)|gebruik(?:en|t)|używamy|korzystamy"
    r"|wykorzystuje|använder|bruger|käytämme|использу|使用|同意|利用|نستخدم|ใช้|사용"
)


def page_notices(
    chances: Numbers, weights: Numbers, blocks: Blocks, column: Mapping[str, Numbers]
) -> NDArray[np.bool_]:
    """Return which blocks tell of cookies on this site or whose its texts are, or ask for consent."""
    found, asked = np.zeros((2, len(chances)), dtype=bool)
    likely = np.flatnonzero(chances > SURE_NOT).tolist()
    said = "\n".join([blocks.texts[number][:MOST_READ] for number in likely]).lower()
    cookies, signs, asks = ([word for word in words if word in said] for words in (COOKIES, RIGHTS, PURPOSES))
    if len(asks) < LEAST_PURPOSES:
        asks = []
    lines = dict(zip(likely, said.split("\n"), strict=True)) if cookies or signs or asks else {}
    of_cookies, of_rights, of_purposes = (
        {number for word in words for number, lower in lines.items() if word in lower}
        for words in (cookies, signs, asks)
    )
    for number in of_cookies:
        if column["is_title"][number]:
            return np.zeros_like(found)  # that is what the page is about
        found[number] = _IN_USE.search(lines[number]) is not None
    for number in of_purposes:
        dialog = _dialog(blocks, number)
        asked[dialog] = not column["is_h1"][dialog].any()
    rights = [number for number in of_rights - of_cookies if len(lines[number]) < LONGEST_RIGHTS]
    if found.any():
        chars = column["chars"]
        starts, ends = np.array(blocks.starts), np.array(blocks.ends)
        size, of_it = (node_sums(values, starts, ends) for values in (chars, chars * found))
        around = (of_it > 0) & (of_it >= SHARE * size) & (2 * size < chars.sum(dtype=float))
        for node in np.flatnonzero(around).tolist():
            found[starts[node] : ends[node]] |= blocks.nodes[node].tag != "main"
    found[rights] = True
    expected = np.where(asked, 0, chances * weights)
    found &= bool(2 * expected[found].sum() < expected.sum())
    return found | asked


def _dialog(blocks: Blocks, number: int) -> slice:
    """Return the blocks of the outermost element around one that is named as a dialog, if any."""
    inside, node = slice(0), blocks.hosts[number]
    while node >= 0:
        if blocks.names[node] & BIT["popup"] and blocks.nodes[node].tag not in ("html", "body"):
            inside = slice(blocks.starts[node], blocks.ends[node])
        node = blocks.parents[node]
    return inside
