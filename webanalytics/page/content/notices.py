"""Notices that are no content of any page: on cookies, and on whose its texts are, in many languages."""

from __future__ import annotations

import re
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from webanalytics.page.content.features import Numbers
from webanalytics.page.visible_text import Blocks

SURE_NOT = 0.02
"""Probability of content up to which nobody asks what a block says."""
LONGEST_RIGHTS = 200
"""Characters up to which a text may say whose the page is."""
MOST_READ = 600
"""Characters in which it is looked for what a text says of cookies."""
SHARE = 0.4
"""Share of an element from which on all of it is a notice, where that speaks of cookies."""

COOKIES = ("cookie", "クッキー", "คุกกี้", "쿠키", "куки", "ملفات تعريف الارتباط")
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


def page_notices(chances: Numbers, blocks: Blocks, column: Mapping[str, Numbers]) -> NDArray[np.bool_]:
    """Return which blocks tell of cookies on this site or whose its texts are."""
    found = np.zeros(len(chances), dtype=bool)
    lowered = {n: blocks.texts[n][:MOST_READ].lower() for n in np.flatnonzero(chances > SURE_NOT).tolist()}
    said = "\n".join(lowered.values())
    cookies, signs = ([word for word in words if word in said] for words in (COOKIES, RIGHTS))
    rights: list[int] = []
    for number, lower in lowered.items() if cookies or signs else ():
        if any(word in lower for word in cookies):
            if column["is_title"][number]:
                return np.zeros_like(found)  # that is what the page is about
            found[number] = _IN_USE.search(lower) is not None
        elif len(lower) < LONGEST_RIGHTS and any(word in lower for word in signs):
            rights.append(number)
    if found.any():
        chars = column["chars"]
        sums, told = np.cumsum([0, *chars]), np.cumsum([0, *(chars * found)])
        starts, ends = np.array(blocks.starts), np.array(blocks.ends)
        size, of_it = sums[ends] - sums[starts], told[ends] - told[starts]
        around = (of_it > 0) & (of_it >= SHARE * size) & (2 * size < sums[-1])
        for node in np.flatnonzero(around).tolist():
            found[starts[node] : ends[node]] |= blocks.nodes[node].tag != "main"
    found[rights] = True
    return found
