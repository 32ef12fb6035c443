"""Languages that a model confuses, told apart by letters and short words that one of them alone has."""

from __future__ import annotations

import re
from collections.abc import Mapping

_TIMES, _PRIOR = 4.0, 0.05
"""How many times as probable each sign makes a language, and what a language with any sign has at least."""

# Of languages close to each other: letters that tell one of them, and words that the others write otherwise.
_GROUPS: tuple[dict[str, tuple[str, str]], ...] = (
    {
        "hr": (
            "čćđ",
            "tko svatko netko nitko što tijekom također opće općina uporaba vijeće tisuća obitelj "
            "europa europski uvjeti vrijeme mjesto lijepo gdje uvijek ovdje prije poslije riječ djeca "
            "čovjek čovjeka cijeli dvije nije svijet svijeta njegov",
        ),
        "sr": (
            "",
            "ko svako neko niko šta tokom takođe opšte opština hiljada savet evropa evropski uslovi "
            "vreme mesto lepo gde uvek ovde pre posle reč deca čovek čoveka celi dve svet sveta",
        ),
        "bs": (
            "",
            "svako neko niko općina opće također takođe hiljada vijeće historija lahko evropa sedmica",
        ),
        "sl": (
            "",
            "in ki za se kot tudi lahko ali biti sta vsak vsakdo pri oziroma svojega pravico brez ter "
            "vsi več že",
        ),
    },
    {
        "ms": (
            "",
            "kerana ialah boleh awak wang kereta negeri hendaklah adalah manakala sahaja ataupun tiap "
            "daripada mestilah dahulu tempoh maklumat syarikat kerajaan pejabat kualiti televisyen "
            "muzik beliau mana-mana tiap-tiap kepadanya adakah bagi "
            "sebarang sesiapa segi kanak-kanak pelajaran supaya pihak sentiasa mahkamah samarata "
            "apabila apa-apa perlu",
        ),
        "id": (
            "",
            "karena bisa kamu mobil harus bahwa hanya tetapi anda serta maupun adanya perusahaan "
            "pemerintah kantor universitas kualitas televisi musik informasi terhadap pun sebagaimana "
            "saja dapat negara",
        ),
    },
    {
        "af": (
            "",
            "'n nie het sy vir hy elkeen deur hulle word sal geen enige reg ook wees met nog ander "
            "indien sonder vryheid teen uit kry sê dié onderwys die wat is en ly baie",
        ),
        "nl": (
            "",
            "een het van zijn niet wordt hij zij voor dat deze heeft zich ieder worden aan door recht "
            "mogen moet bij naar zonder vrijheid haar tegen met de en",
        ),
    },
    {
        "gl": (
            "",
            "unha un dos das non ten tódalas toda persoa dereito á súa súas polo pola polos pois máis "
            "moi ou cunha dunha nunha liberdade así onde hai ningún lle ó ao os as do da na no e o a "
            "é",
        ),
        "pt": (
            "ãõç",
            "uma um dos das não tem pessoa direito à sua suas pelo pela mais muito ou numa liberdade "
            "são sem lhe também já os as do da na no ao e o a é todo",
        ),
        "es": ("¿¡", "el la los las una un del en y tiene persona derecho sus por muy sin es hay al lo se"),
        "ca": ("", "els les una un amb té dret seva seu més molt és hi ha als dels llurs i per"),
    },
    {
        "no": ("", "av ha rett seg ut uten noen etter mot blitt bli mellom frihet slik nå språk opp"),
        "da": ("", "af ret sig ud uden nogen efter imod blevet blive mellem frihed således nu sprog op at"),
        "sv": ("äö", "och är inte att från utan någon varje rätt"),
        "is": ("þð", "og að í á sem eða hver ekki við"),
    },
    {
        "sk": (
            "ľĺŕôä",
            "sa že sú každý alebo pri právo aby podľa nie nikto medzi aj ktoré ktorý všetky čo je má na",
        ),
        "cs": (
            "řěů",
            "se že jsou každý nebo při právo aby podle ne nikdo mezi i které který všechny co je má na",
        ),
    },
    {
        "ru": ("ыэё", "и в что он она каждый или быть имеет с для это от"),
        "uk": ("їєґ", "і в та що він вона кожна або бути має з для це від"),
        "be": ("ў", "і што ён яна кожны або быць мае з для гэта ад"),
        "bg": ("ъ", "и в на че той всеки или има право с по за това от се ще е при със"),
        "mk": ("ѓќѕ", "и во на дека тој секој или има право со по за тоа од се ќе е при"),
        "sr": ("ћђ", "и у на да он свако или има право са по за то од се ће је при су"),
    },
)

# Letters that a language does not have: a text in it may hold one name with them.
_STRANGE = {
    "ru": "іїєґўјљњћђџѓќѕ",
    "uk": "ыэёўъјљњћђџѓќѕ",
    "be": "иїєґъщјљњћђџѓќѕ",
    "bg": "ыэёіїєґўјљњћђџѓќѕ",
    "mk": "ыэёіїєґўйщъьюяћђ",
    "sr": "ыэёіїєґўйщъьюяѓќѕ",
    "gl": "ãõç",
    "es": "ãõçà",
    "pt": "ñ",
    "ca": "ãõñ",
    "sl": "ćđ",
    "cs": "ľĺŕôä",
    "sk": "řěů",
    "no": "äö",
    "da": "äö",
    "sv": "æø",
}
_WORD = re.compile(r"'?[^\W\d_]+(?:-[^\W\d_]+)?")
_Group = dict[str, tuple[frozenset[str], frozenset[str]]]
_SIGNS: list[_Group] = [
    {code: (frozenset(letters), frozenset(words.split())) for code, (letters, words) in group.items()}
    for group in _GROUPS
]
_CLOSE = {code: [group for group in _SIGNS if code in group] for group in _SIGNS for code in group}


def told_apart(text: str, found: Mapping[str, float]) -> dict[str, float]:
    """Return the probabilities of a text's languages, shared anew among those close to the most probable one.

    Examples
    --------
    >>> told_apart("ialah bahasa yang boleh", {"id": 0.6, "ms": 0.3, "jv": 0.1})["ms"] > 0.6
    True
    """
    best = next(iter(found), "")
    if best not in _CLOSE:
        return dict(found)
    lower = text.lower()
    letters, words = set(lower), set(_WORD.findall(lower))
    latin = any("a" <= letter <= "z" for letter in letters)
    weights: dict[str, float] = {}
    for group in _CLOSE[best]:
        if latin == ("ru" in group):
            continue
        for code, (own, short) in group.items():
            signs = (
                len(own & letters)
                + len(short & words)
                - 2 * len(letters.intersection(_STRANGE.get(code, "")))
            )
            weights[code] = (found.get(code, 0.0) + _PRIOR * (signs > 0)) * _TIMES**signs
    share = sum(found.get(code, 0.0) for code in weights)
    total = sum(weights.values())
    shared = {code: share * weight / total for code, weight in weights.items()}
    return dict(sorted({**found, **shared}.items(), key=lambda item: -item[1]))
