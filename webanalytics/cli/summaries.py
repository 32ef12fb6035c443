"""What each sub-command does: written by ``python -m webanalytics.generate`` from the command line itself."""

from __future__ import annotations

SUMMARIES = {
    "audit": "Metadata, text, readability and keywords of pages, and their issues.",
    "compare": "Say what changed between two saved audits.",
    "redirect-map": "Say which page of a new site takes the place of each page of an old one.",
    "check-redirects": "Ask each old address where it leads now, beside the plan.",
    "write-sitemap": "Write the sitemap that a site should have, and say what was left out and why.",
    "link-ideas": "List words in the text of pages that name another page and lead nowhere yet.",
    "prune": "Say what to do with each page: keep, improve, merge, redirect, noindex or remove.",
    "search-issues": "List what an audit and an export of a search engine know only together.",
    "logs": "Say which crawlers asked a server for what, by its access logs.",
    "crawl": "Audit the pages of a site, found by following links.",
    "metadata": "Fetch a web page and return its meta tags, headings, images, favicons and related data.",
    "text": "Fetch a web page and return its readable text with title, description and language.",
    "readability": "Fetch a page and score the readability of its text with several indices.",
    "keywords": "Fetch a web page and return its keywords with the frequency of each.",
    "dane": "Parse and validate a DANE/TLSA record and assess its security level.",
    "hmac": "Compute an HMAC of a message with a secret, output as hex or base64.",
    "convert": "Convert an image between WebP, PNG, JPG, GIF and TIFF.",
    "phones": "Check whether a phone number belongs to a disposable-number service.",
    "sitemap": "Read a sitemap, or an index of them, into a list of URLs.",
    "ai-crawlers": "List the crawlers of search engines and AI services that audits know.",
    "demo": "Serve the sample site, audit it and write tables and charts.",
    "site": "Serve the sample site on this machine until Ctrl-C.",
    "serve": "Run the hosted API.",
    "keys": "Create, list, rotate, revoke and restrict the API keys of the hosted API, and change plans.",
}
