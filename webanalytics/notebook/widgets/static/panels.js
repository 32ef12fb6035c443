// What each tab shows besides its table.

function missingNote(name) {
  const needs = { readability: "wa.readability", keywords: "wa.keywords", metadata: "wa.metadata" }[name];
  return element("p", { class: "wa-empty" }, `This frame has no columns for this tab; wa.audit and ${needs} make them.`);
}

function drawReadability(explorer, panel) {
  const place = element("div", { class: "wa-picture" });
  panel.replaceChildren(explorer.tables.readability.root, place);
  let drawn = false;
  explorer.opened.readability = async () => {
    if (drawn) return;
    drawn = true;
    place.replaceChildren(element("p", { class: "wa-note" }, "Drawing …"));
    try {
      const [content, buffers] = await explorer.ask({ kind: "chart", name: "readability" });
      const address = URL.createObjectURL(new Blob(buffers, { type: "image/png" }));
      const picture = element("img", { src: address, alt: content.alt, width: content.width });
      picture.addEventListener("load", () => URL.revokeObjectURL(address));
      place.replaceChildren(picture);
    } catch (error) {
      drawn = false;
      place.replaceChildren(element("p", { class: "wa-note" }, error.message));
    }
  };
}

function siteWords(words) {
  const search = element("input", { type: "search", class: "wa-input", placeholder: "Find a word…", "aria-label": "Find a word" });
  const list = element("div", { class: "wa-words", tabindex: 0, role: "group", "aria-label": "Words of all pages" });
  const draw = () => {
    const wanted = search.value.trim().toLowerCase();
    const rows = words.filter(([word]) => word.toLowerCase().includes(wanted)).slice(0, 60);
    const noted = rows.map(([word, count, pages]) => [word, count, `on ${counted(pages, "page")}`]);
    list.replaceChildren(rows.length ? bars(noted) : element("p", { class: "wa-note" }, "No such word."));
  };
  search.addEventListener("input", draw);
  draw();
  return element("section", { class: "wa-chart" }, element("h4", {}, "All pages together"), search, list);
}

function drawKeywords(explorer, panel) {
  explorer.wordBox = element("section", { class: "wa-chart" });
  const site = element("div", { class: "wa-site-words" });
  const { whole } = explorer.model.get("_content");
  panel.replaceChildren(site, explorer.tables.keywords.root, element("div", { class: "wa-columns" }, whole ? null : siteWords(explorer.summary.keywords), explorer.wordBox));
  explorer.opened.keywords = whole ? tablesWhenOpened(explorer, "keywords", "Reading the keywords of the site …", site) : null;
}

function siteTable(title, noun, table) {
  const box = element("section", { class: "wa-site-table", "aria-label": title }, element("h4", {}, title));
  if (!table.length) {
    box.append(element("p", { class: "wa-note" }, "None were found."));
    return box;
  }
  const store = storeOf(table);
  const shown = new Table({ label: title, keys: [], store, noun, choose: () => {} });
  box.append(shown.root);
  shown.reset(store, [...store.columns.keys()]);
  return box;
}

function drawMetadata(explorer, panel) {
  explorer.metadataBox = element("div", { class: "wa-page" });
  panel.replaceChildren(explorer.tables.metadata.root, explorer.metadataBox);
}

function drawFailures(explorer, panel) {
  const { failures, has } = explorer.summary;
  if (!failures.length) {
    const said = has.status ? "No page failed." : "This frame has no column status.";
    panel.replaceChildren(element("p", { class: "wa-empty" }, said));
    return;
  }
  panel.replaceChildren(...failures.map((group, number) => {
    const rows = group.rows.map(([row, url]) => element("tr", {}, element("td", {}, outsideLink(url)),
      element("td", {}, row === null ? null : element("button", { type: "button", class: "wa-button", "aria-label": `Show row ${row + 1}`, onclick: () => explorer.reveal(row) }, "Show"))));
    const head = element("tr", {}, element("th", { scope: "col" }, "URL"), element("th", { scope: "col" }, element("span", { class: "wa-hidden" }, "Show")));
    const left = group.count - group.rows.length;
    return element("details", { class: "wa-group", open: number < 3 },
      element("summary", {}, element("strong", {}, counted(group.count, "address")), ": ", foreign(group.reason), element("span", { class: "wa-note" }, ` ${group.type}`)), advice(group),
      element("table", { class: "wa-errors" }, element("thead", {}, head), element("tbody", {}, rows)),
      left > 0 ? element("p", { class: "wa-note" }, `and ${wholeNumbers.format(left)} more; filter the pages by this error to see them`) : null);
  }));
}
