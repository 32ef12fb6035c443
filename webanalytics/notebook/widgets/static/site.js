// A crawl: the tab of its site, and the links around a page.

// Only an audit of a crawl has the tab; its tables are made when it is first opened.
function drawSite(explorer, panel) {
  const there = explorer.model.get("_content").crawl === true;
  explorer.tabs.querySelector("[data-tab=site]").hidden = !there;
  if (!there && explorer.tab === "site") explorer.tab = "overview";
  panel.replaceChildren();
  let drawn = !there;
  explorer.drawSite = async () => {
    if (drawn) return;
    drawn = true;
    panel.replaceChildren(element("p", { class: "wa-note", role: "status" }, "Reading the links of the site …"));
    try {
      const [content] = await explorer.ask({ kind: "site" });
      panel.replaceChildren(element("div", { class: "wa-site-words" }, ...content.tables.map(({ title, noun, table }) => siteTable(title, noun, table))));
    } catch (error) {
      drawn = false;
      panel.replaceChildren(element("p", { class: "wa-note", role: "status" }, error.message));
    }
  };
}

function linkList(title, links, total) {
  const rows = links.map(([url, text, count, followed]) => {
    const more = [count > 1 ? counted(count, "link") : null, followed ? null : "nofollow"].filter(Boolean).join(", ");
    return element("tr", {}, element("td", {}, text ? foreign(text) : element("span", { class: "wa-note" }, "no text")),
      element("td", {}, outsideLink(url)), element("td", { class: "wa-note" }, more));
  });
  const known = total > links.length ? `${wholeNumbers.format(links.length)} of ${wholeNumbers.format(total)}` : wholeNumbers.format(links.length);
  const head = element("tr", {}, ["Text", "Address", "Links"].map((name) => element("th", { scope: "col" }, name)));
  return element("details", { class: "wa-fields wa-links" }, element("summary", {}, `${title} (${known})`),
    rows.length ? element("table", { "aria-label": title }, element("thead", {}, head), element("tbody", {}, rows)) : element("p", { class: "wa-note" }, "none"));
}

function linkSection(page) {
  if (!page.links) return null;
  return element("section", { class: "wa-fields", "aria-label": "Links" }, element("h4", {}, "Links"),
    linkList("Pages that link here", page.links.into, page.links.total), linkList("Addresses that it links to", page.links.out, 0));
}
