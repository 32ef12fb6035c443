"""What an audit reads from a page beyond the four page operations: declared like them, but never served."""

from __future__ import annotations

from webanalytics.core.operations.model import Field
from webanalytics.page.declarations.unserved import unserved

FACTS = unserved(
    "facts",
    "facts.facts",
    "Facts of a page that rules of an audit look at.",
    (
        Field("titles", list[str], "Every title element of the page, white space folded; empty ones too."),
        Field("descriptions", list[str], "Every meta description, white space folded; empty ones too."),
        Field(
            "canonicals",
            list[dict[str, str]],
            "Canonical links: `href` as written, `url` absolute, `place` body outside of the head.",
        ),
        Field(
            "hreflangs",
            list[dict[str, str]],
            "Alternates: `lang` as written, `url` absolute, `place` body outside of the head.",
        ),
        Field(
            "outside_head",
            list[str],
            "Which of title, description, canonical, hreflang and robots stand outside of the head.",
        ),
        Field(
            "declared_charset",
            str,
            "Encoding declared inside the page, by a byte order mark too; empty where none is.",
        ),
        Field("googlebot", str, "Directives of meta elements named googlebot, joined with commas."),
        Field("refresh", str, "Content of the meta refresh, empty where there is none."),
        Field(
            "internal_links",
            int,
            "Links to the page's own host, repeated ones too; none to a place on the page itself.",
        ),
        Field("external_links", int, "Links to other hosts, repeated ones too."),
        Field(
            "subdomain_links",
            int,
            "Those of them that lead to other hosts of the page's own domain, such as its subdomains.",
        ),
        Field(
            "links",
            list[str],
            "Distinct pages of the page's own host that it links to, without fragments, at most 2,000; of a "
            "crawl those that its `links` has.",
        ),
        Field(
            "links_without_name",
            list[dict[str, str]],
            "Links without a name for assistive technology: `href`, and `inside` its first element.",
        ),
        Field(
            "generic_links",
            list[dict[str, str]],
            "Links whose text does not say where they lead: `href` as written and `text`.",
        ),
        Field(
            "uncrawlable_links",
            list[dict[str, str]],
            "Anchors without an address to follow: `href`, `text` and, where it has one, `onclick`.",
        ),
        Field("nofollow_links", list[str], "Pages of the own host that it links to with nofollow."),
        Field(
            "insecure_links", list[str], "Addresses in http of the own host that a page in https links to."
        ),
        Field("images", int, "Images of the page."),
        Field("images_without_alt", list[str], "Sources of images without an alt attribute."),
        Field(
            "images_with_empty_alt",
            list[str],
            "Sources of images with empty alt attributes, without decorations, pixels and those beside text.",
        ),
        Field(
            "images_without_size",
            list[str],
            "Sources of images without width or height; data: URLs and pixels left out.",
        ),
        Field(
            "images_with_long_alt",
            list[dict[str, str]],
            "Images with `alt` of over 100 characters, and `src`.",
        ),
        Field("mixed_content", list[str], "Addresses in http of what a page in https loads."),
        Field("insecure_forms", list[str], "Addresses in http that forms of a page in https send to."),
        Field("resources", list[str], "Scripts and style sheets that the page loads, each address once."),
        Field("blocking_scripts", list[str], "Scripts in the head for which browsers wait."),
        Field("blocking_styles", list[str], "Style sheets in the head for which browsers wait."),
        Field(
            "images_not_lazy", list[str], "Sources of images after the first five that are loaded at once."
        ),
        Field("images_in_old_formats", list[str], "Sources of images in JPEG, PNG or BMP alone."),
        Field(
            "images_without_srcset", list[str], "Sources of images wider than 600 pixels in one size alone."
        ),
        Field("elements", int, "Elements of the page."),
        Field("meta_policy", str, "Content security policy in the page, empty where there is none."),
        Field("meta_referrer", str, "Referrer policy in the page, empty where there is none."),
        Field("structured_types", list[str], "schema.org types of the page's structured data."),
        Field(
            "structured_errors",
            list[dict[str, str]],
            "Faults of structured data: `type`, `problem` and `kind`.",
        ),
        Field(
            "fields_without_label",
            list[dict[str, str]],
            "Form fields without a label: `field` its start tag, `placeholder` where it has one.",
        ),
        Field("iframes_without_title", list[str], "Sources of frames without a title."),
        Field(
            "buttons_without_name", list[str], "Start tags of buttons that assistive technology cannot name."
        ),
        Field("empty_headings", list[str], "Levels of headings without any text, such as `h2`."),
        Field(
            "image_headings",
            list[dict[str, str]],
            "Headings whose only text is that of images: `level` and `alt`.",
        ),
        Field("duplicate_ids", list[str], "Ids that several elements have."),
        Field("duplicate_ids_used", list[str], "Those of them that labels, fields or cells refer to."),
        Field("positive_tabindex", list[str], "Start tags of elements with a tabindex over 0."),
        Field("doctype", bool, "Whether the page begins with a document type."),
        Field("charset_late", bool, "Whether the encoding is declared after 1,024 bytes, and nowhere else."),
        Field(
            "charset_mislabelled",
            str,
            "Encoding by which browsers garble the page, as declared, where its bytes are UTF-8.",
        ),
        Field("heads", int, "Head tags in the source, up to its body."),
        Field(
            "head_ended_by", str, "What ends the head before the source says so, empty where nothing does."
        ),
        Field("xml_lang", str, "The language in xml:lang alone, which HTML does not read."),
        Field("amphtml", str, "Address of the page's AMP version, empty where it names none."),
        Field("amp", bool, "Whether the page is an AMP page."),
        Field("relative_images", list[str], "Addresses of images for sharing that are not absolute."),
        Field("scripts", int, "Scripts that the page runs, data in script elements left out."),
        Field("visible_text", str, "All text that a reader of the page sees, a line for each block."),
    ),
)
