// A whole site: the tabs of its crawl and of what to do, and the links around a page.

// Tables that are asked for when their tab is first opened, and drawn as they come.
function tablesWhenOpened(explorer, kind, note, box) {
  let drawn = false;
  return async () => {
    if (drawn) return;
    drawn = true;
    const waiting = element("p", { class: "wa-note", role: "status" }, note);
    box.replaceChildren(waiting);
    try {
      await explorer.ask({ kind }, (piece) => {
        if (!piece.last) waiting.before(siteTable(piece.title, piece.noun, piece.table));
        return piece.last;
      });
      waiting.remove();
    } catch (error) {
      drawn = false;
      waiting.textContent = error.message;
    }
  };
}

// Only an audit of a crawl has the tab of its site, and only an audit knows what to do.
function drawSite(explorer) {
  const { crawl, whole } = explorer.model.get("_content");
  for (const [name, there, note] of [["site", crawl, "Reading the links of the site …"], ["to-do", whole, "Looking for what to do …"]]) {
    explorer.tabs.querySelector(`[data-tab=${name}]`).hidden = !there;
    if (!there && explorer.tab === name) explorer.tab = "overview";
    const box = element("div", { class: "wa-site-words" });
    explorer.panels[name].replaceChildren(box);
    explorer.opened[name] = there ? tablesWhenOpened(explorer, name, note, box) : null;
  }
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
