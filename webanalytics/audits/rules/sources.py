"""What rules rest on: standards with their sections, and pages of documentation, each with its address."""

from __future__ import annotations


def _google(about: str, path: str) -> str:
    return f"Google Search Central on {about}: https://developers.google.com/search/docs/{path}"


def _html(section: str, place: str) -> str:
    return f"HTML Standard, {section}: https://html.spec.whatwg.org/multipage/{place}"


def rfc(number: int, section: str) -> str:
    """Return a section of an RFC.

    Examples
    --------
    >>> rfc(9110, "15.4 (redirects)")
    'RFC 9110, section 15.4 (redirects): https://www.rfc-editor.org/rfc/rfc9110'
    """
    return f"RFC {number}, section {section}: https://www.rfc-editor.org/rfc/rfc{number}"


def wcag(*criteria: str) -> str:
    """Return criteria of the Web Content Accessibility Guidelines.

    Examples
    --------
    >>> wcag("1.3.1", "4.1.2")
    'WCAG 2.2, criteria 1.3.1 and 4.1.2: https://www.w3.org/TR/WCAG22/'
    """
    *first, last = criteria
    named = f"criteria {', '.join(first)} and {last}" if first else f"criterion {last}"
    return f"WCAG 2.2, {named}: https://www.w3.org/TR/WCAG22/"


def both(*sources: str) -> str:
    """Return several sources as one."""
    return "; ".join(sources)


TITLE_LINKS = _google("title links", "appearance/title-link")
SNIPPETS = _google("snippets", "appearance/snippet")
FAVICONS = _google("favicons", "appearance/favicon-in-search")
IMAGES = _google("images", "appearance/google-images")
STRUCTURED_DATA = _google("structured data", "appearance/structured-data/sd-policies")
CANONICALS = _google("canonical addresses", "crawling-indexing/consolidate-duplicate-urls")
CANONICALIZATION = _google("canonicalization", "crawling-indexing/canonicalization")
ROBOTS_META = _google("robots meta tags and headers", "crawling-indexing/robots-meta-tag")
NOINDEX = _google("noindex", "crawling-indexing/block-indexing")
ROBOTS_TXT = _google("robots.txt", "crawling-indexing/robots/robots_txt")
LINKS = _google("links that can be crawled", "crawling-indexing/links-crawlable")
NOFOLLOW = _google("links to qualify", "crawling-indexing/qualify-outbound-links")
URLS = _google("the structure of addresses", "crawling-indexing/url-structure")
REDIRECTS = _google("redirects", "crawling-indexing/301-redirects")
HTTP_ERRORS = _google("HTTP statuses and network errors", "crawling-indexing/http-network-errors")
GOOGLEBOT = _google("Googlebot", "crawling-indexing/googlebot")
SITEMAPS = _google("sitemaps", "crawling-indexing/sitemaps/build-sitemap")
VIDEO_SITEMAPS = _google("video sitemaps", "crawling-indexing/sitemaps/video-sitemaps")
SCRIPTS = _google("JavaScript", "crawling-indexing/javascript/javascript-seo-basics")
HEAD_METADATA = _google("valid metadata in the head", "crawling-indexing/valid-page-metadata")
LANGUAGES = _google("localized versions", "specialty/international/localized-versions")
STARTER_GUIDE = _google("the basics of SEO", "fundamentals/seo-starter-guide")
HELPFUL = _google("helpful content", "fundamentals/creating-helpful-content")
SPAM = _google("spam policies", "essentials/spam-policies")

TITLE = _html("the title element", "semantics.html#the-title-element")
HEAD = _html("the head element", "semantics.html#the-head-element")
HEAD_PARSING = _html('the "in head" insertion mode', "parsing.html#parsing-main-inhead")
DESCRIPTION = _html("standard metadata names", "semantics.html#standard-metadata-names")
REFRESH = _html("the refresh state", "semantics.html#attr-meta-http-equiv-refresh")
CHARSET = _html("the character encoding of a document", "semantics.html#charset")
LANG = _html("the lang attribute", "dom.html#the-lang-and-xml:lang-attributes")
ID = _html("the id attribute", "dom.html#the-id-attribute")
HEADINGS = _html("headings and outlines", "sections.html#headings-and-outlines-2")
DOCTYPE = _html("the DOCTYPE", "syntax.html#the-doctype")
ALT = _html("alternative texts of images", "images.html#alt")
ICON = _html("the link type icon", "links.html#rel-icon")

HTTPS_SIGNAL = "Google Search Central on https: https://developers.google.com/search/blog/2014/08/https-as-ranking-signal"
DIRECTORIES_CLOSED = (
    "Google Search Central on snippets without directories: "
    "https://developers.google.com/search/blog/2017/06/better-snippets-for-your-users"
)
SITE_MOVES = _google("site moves", "crawling-indexing/site-move-with-url-changes")
FRAME_OPTIONS = _html("the X-Frame-Options header", "document-lifecycle.html#the-x-frame-options-header")
SCRIPT = _html("the script element", "scripting.html#the-script-element")
STYLE_SHEET = _html("the link type stylesheet", "links.html#link-type-stylesheet")
LAZY_LOADING = _html("lazy loading attributes", "urls-and-fetching.html#lazy-loading-attributes")
SRCSET = _html("the srcset attribute", "images.html#srcset-attributes")
NOSNIFF = (
    "Fetch Standard, X-Content-Type-Options: https://fetch.spec.whatwg.org/#x-content-type-options-header"
)
CSP = "Content Security Policy Level 3: https://www.w3.org/TR/CSP3/"
REFERRER_POLICY = "W3C Referrer Policy: https://www.w3.org/TR/referrer-policy/"
HSTS_PRELOAD = "HSTS preload list, requirements: https://hstspreload.org/"
BACK_FORWARD = "web.dev on the back/forward cache: https://web.dev/articles/bfcache"
LAZY_IMAGES = "web.dev on lazy loading: https://web.dev/articles/browser-level-image-lazy-loading"
_INSIGHTS = "https://developer.chrome.com/docs/performance/insights/"
DOM_SIZE = f"Lighthouse on the size of the DOM: {_INSIGHTS}dom-size"
RENDER_BLOCKING = f"Lighthouse on render-blocking requests: {_INSIGHTS}render-blocking"
DOCUMENT_LATENCY = f"Lighthouse on the request of the document: {_INSIGHTS}document-latency"
RESPONSIVE_IMAGES = (
    "Lighthouse on properly sized images: "
    "https://developer.chrome.com/docs/lighthouse/performance/uses-responsive-images"
)
_AMP = "https://amp.dev/documentation/guides-and-tutorials/"
AMP = f"AMP HTML Specification, required markup: {_AMP}learn/spec/amphtml"
AMP_DISCOVERY = f"AMP on discovery: {_AMP}optimize-and-measure/discovery"

SITEMAP_PROTOCOL = "Sitemaps protocol: https://www.sitemaps.org/protocol.html"
CONTENT_SIGNALS = "Content Signals: https://contentsignals.org/"
AIPREF = "IETF draft on preferences of AI: https://datatracker.ietf.org/doc/draft-ietf-aipref-attach/"
BING_ROBOTS_TXT = (
    "Bing Webmaster Tools on robots.txt: "
    "https://www.bing.com/webmasters/help/how-to-create-a-robots-txt-file-cb7c31ec"
)
OPEN_GRAPH = "The Open Graph protocol, basic metadata: https://ogp.me/"
CARDS = "X on the tags of cards: https://developer.x.com/cards/markup"
MIXED_CONTENT = "W3C Mixed Content: https://www.w3.org/TR/mixed-content/"
WAI_HEADINGS = "W3C tutorial on headings: https://www.w3.org/WAI/tutorials/page-structure/headings/"
WAI_IMAGES = "W3C tutorial on images: https://www.w3.org/WAI/tutorials/images/"
LAYOUT_SHIFT = "web.dev on layout shifts: https://web.dev/articles/optimize-cls"
WEBP = "web.dev on WebP images: https://web.dev/articles/serve-images-webp"
FIRST_BYTE = "web.dev on the time to the first byte: https://web.dev/articles/optimize-ttfb"
VIEWPORT = (
    "MDN on the viewport: "
    "https://developer.mozilla.org/en-US/docs/Web/HTML/Reference/Elements/meta/name/viewport"
)
ROBOTS_NAMES = (
    "MDN on robots directives: "
    "https://developer.mozilla.org/en-US/docs/Web/HTML/Reference/Elements/meta/name/robots"
)
ZOOM = "W3C ACT rule on zooming: https://www.w3.org/WAI/standards-guidelines/act/rules/b4f0c3/proposed/"
FLESCH = (
    "R. Flesch, A new readability yardstick, Journal of Applied Psychology 32, 1948: "
    "https://doi.org/10.1037/h0057532"
)
LINK_TEXT = "Lighthouse on link texts: https://developer.chrome.com/docs/lighthouse/seo/link-text"
SCHEMA_ORG = "schema.org, the vocabulary: https://schema.org/docs/schemas.html"
