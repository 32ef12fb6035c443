"""Texts of links that say nothing of where they lead, by language.

The idea and the English core are those of Lighthouse's audit "Links do not have descriptive text"
(developer.chrome.com/docs/lighthouse/seo/link-text); the other languages have what their sites write in its
place.
"""

from __future__ import annotations

# fmt: off
GENERIC: dict[str, frozenset[str]] = {
    "en": frozenset({
        "click here", "click this", "go", "here", "learn more", "more", "more info", "more information",
        "read more", "right here", "see more", "this", "this page", "find out more", "view more", "details",
        "more details", "continue", "continue reading", "link", "this link", "show more",
    }),
    "de": frozenset({
        "hier", "hier klicken", "klick hier", "klicken sie hier", "klicke hier", "mehr", "mehr erfahren",
        "mehr lesen", "mehr dazu", "mehr infos", "mehr informationen", "weitere informationen",
        "weiterlesen", "weiter lesen", "weiter", "lesen sie mehr", "erfahren sie mehr", "jetzt lesen",
        "details", "mehr details", "zum artikel", "link", "dieser link", "diese seite", "mehr anzeigen",
        "zur seite", "ansehen", "jetzt ansehen",
    }),
    "fr": frozenset({
        "ici", "cliquez ici", "cliquer ici", "plus", "en savoir plus", "lire la suite", "lire plus",
        "la suite", "suite", "voir plus", "plus d'infos", "plus d'informations", "plus de détails",
        "détails", "savoir plus", "découvrir", "voir", "continuer", "lien", "ce lien", "cette page",
        "lire l'article", "lire",
    }),
    "es": frozenset({
        "aquí", "aqui", "clic aquí", "haz clic aquí", "haga clic aquí", "pincha aquí", "pulse aquí", "más",
        "ver más", "leer más", "saber más", "más información", "más info", "más detalles", "detalles",
        "seguir leyendo", "continuar leyendo", "continuar", "enlace", "este enlace", "esta página", "ver",
        "conoce más",
    }),
    "it": frozenset({
        "qui", "clicca qui", "cliccare qui", "fai clic qui", "più", "leggi di più", "leggi tutto", "leggi",
        "scopri di più", "scopri", "per saperne di più", "maggiori informazioni", "ulteriori informazioni",
        "più informazioni", "dettagli", "continua", "continua a leggere", "vedi", "vedi tutto", "link",
        "questo link", "questa pagina", "altro", "mostra altro",
    }),
    "nl": frozenset({
        "hier", "klik hier", "meer", "lees meer", "lees verder", "verder lezen", "meer lezen", "meer info",
        "meer informatie", "meer weten", "bekijk", "bekijk meer", "toon meer", "details", "verder", "link",
        "deze link", "deze pagina", "ontdek meer",
    }),
    "pt": frozenset({
        "aqui", "clique aqui", "mais", "leia mais", "ler mais", "saiba mais", "saber mais", "veja mais",
        "ver mais", "mais informações", "mais informação", "mais detalhes", "detalhes", "continuar",
        "continuar lendo", "continuar a ler", "continue lendo", "link", "este link", "esta página", "ver",
    }),
    "pl": frozenset({
        "tutaj", "tu", "kliknij", "kliknij tutaj", "kliknij tu", "więcej", "czytaj więcej", "czytaj dalej",
        "dowiedz się więcej", "zobacz", "zobacz więcej", "więcej informacji", "szczegóły", "pokaż więcej",
        "przejdź", "link", "ten link", "ta strona", "czytaj",
    }),
}
# fmt: on

LONGEST = 8 + max(len(text) for texts in GENERIC.values() for text in texts)
"""Characters of the longest such text, with some signs around it."""

_ENDS = " \u00a0.…:;,!?>»›→➔➜▶►«‹←+-–—|()[]*"


def generic_texts(language: str) -> frozenset[str]:
    """Return the texts that say nothing in a page's language or in English, in lower case.

    Examples
    --------
    >>> [bare(text) in generic_texts("de-AT") for text in ("Weiterlesen …", "Read more »", "Lire la suite")]
    [True, True, False]
    """
    return GENERIC["en"] | GENERIC.get(language.replace("_", "-").partition("-")[0].lower(), frozenset())


def bare(text: str) -> str:
    """Return a link's text in lower case, without the signs around it."""
    return text.strip(_ENDS).lower().replace("\u2019", "'")
