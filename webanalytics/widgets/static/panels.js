// What each tab shows besides its table.

function missingNote(name) {
  const needs = { readability: "wa.readability", keywords: "wa.keywords", metadata: "wa.metadata" }[name];
  return element("p", { class: "wa-empty" }, `This frame has no columns for this tab; wa.audit and ${needs} make them.`);
}

function drawOverview(explorer, panel) {
  const { figures, findings, bars: charts } = explorer.summary;
  const tiles = figures.map(([name, value, note]) => element("li", { class: "wa-tile" }, element("span", { class: "wa-tile-name" }, name),
    element("span", { class: "wa-tile-value" }, value), note ? element("span", { class: "wa-note" }, note) : null));
  const found = findings.map(({ text, count, filters }) => element("li", {},
    element("button", { type: "button", class: "wa-finding", title: "Show these pages", onclick: () => explorer.showPages(filters) },
      element("strong", {}, wholeNumbers.format(count)), ` ${text}`)));
  const drawn = charts.filter(({ rows }) => rows.length).map(({ title, key, rows }) => element("section", { class: "wa-chart" }, element("h4", {}, title),
    bars(rows, "Show these pages", key ? (value) => explorer.showPages({ [key]: value }) : null)));
  const worth = element("section", { class: "wa-chart" }, element("h4", {}, "Worth a look"),
    found.length ? element("ul", { class: "wa-findings" }, found) : element("p", { class: "wa-note" }, "Nothing stands out."));
  panel.replaceChildren(element("ul", { class: "wa-tiles", "aria-label": "Key figures" }, tiles), element("div", { class: "wa-columns" }, worth, drawn));
}

function drawReadability(explorer, panel) {
  const place = element("div", { class: "wa-picture" });
  panel.replaceChildren(explorer.tables.readability.root, place);
  let drawn = false;
  explorer.drawChart = async () => {
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

function drawKeywords(explorer, panel) {
  const words = explorer.summary.keywords;
  const search = element("input", { type: "search", class: "wa-input", placeholder: "Find a word…", "aria-label": "Find a word" });
  const list = element("div", { class: "wa-words" });
  const draw = () => {
    const wanted = search.value.trim().toLowerCase();
    const rows = words.filter(([word]) => word.toLowerCase().includes(wanted)).slice(0, 60);
    const noted = rows.map(([word, count, pages]) => [word, count, `on ${counted(pages, "page")}`]);
    list.replaceChildren(rows.length ? bars(noted) : element("p", { class: "wa-note" }, "No such word."));
  };
  search.addEventListener("input", draw);
  draw();
  const site = element("section", { class: "wa-chart" }, element("h4", {}, "All pages together"), search, list);
  explorer.wordBox = element("section", { class: "wa-chart" });
  panel.replaceChildren(explorer.tables.keywords.root, element("div", { class: "wa-columns" }, site, explorer.wordBox));
}

function drawMetadata(explorer, panel) {
  explorer.metadataBox = element("div", { class: "wa-page" });
  panel.replaceChildren(explorer.tables.metadata.root, explorer.metadataBox);
}

function drawErrors(explorer, panel) {
  const { errors, has } = explorer.summary;
  if (!errors.length) {
    const said = has.status ? "No page failed." : "This frame has no column status.";
    panel.replaceChildren(element("p", { class: "wa-empty" }, said));
    return;
  }
  panel.replaceChildren(...errors.map((group, number) => {
    const rows = group.rows.map(([row, url, sentence]) => element("tr", {}, element("td", {}, outsideLink(url)), element("td", {}, foreign(sentence)),
      element("td", {}, row === null ? null : element("button", { type: "button", class: "wa-button", "aria-label": `Show row ${row + 1}`, onclick: () => explorer.reveal(row) }, "Show"))));
    const head = element("tr", {}, element("th", { scope: "col" }, "URL"), element("th", { scope: "col" }, "What happened"), element("th", { scope: "col" }, element("span", { class: "wa-hidden" }, "Show")));
    const left = group.count - group.rows.length;
    return element("details", { class: "wa-group", open: number < 3 },
      element("summary", {}, element("strong", {}, group.type), ` · ${counted(group.count, "page")} · ${group.meaning}`),
      element("table", { class: "wa-errors" }, element("thead", {}, head), element("tbody", {}, rows)),
      left > 0 ? element("p", { class: "wa-note" }, `and ${wholeNumbers.format(left)} more; filter the pages by this error type to see them`) : null);
  }));
}

function drawPage(explorer, page, unasked) {
  const heading = () => element("h3", { class: "wa-page-title" }, outsideLink(page.name), unasked ? element("span", { class: "wa-note" }, " choose a row to see another page") : null);
  const error = page.error ? [element("p", { class: "wa-bad" }, foreign(page.error))] : [];
  if (explorer.metadataBox) {
    const previews = page.search ? [searchPreview(page.search), cardPreview(page.card), headingOutline(page.headings)] : [];
    explorer.metadataBox.replaceChildren(heading(), ...(page.error ? error : [element("div", { class: "wa-previews" }, previews)]), fieldTable(page.fields));
  }
  if (explorer.wordBox) {
    const words = page.keywords.length ? element("div", { class: "wa-words" }, bars(page.keywords)) : element("p", { class: "wa-note" }, page.error || "This page has no keywords.");
    explorer.wordBox.replaceChildren(element("h4", {}, "Words of ", outsideLink(page.name)), words);
  }
  if (explorer.pageBox && !unasked) explorer.pageBox.replaceChildren(heading(), ...error, fieldTable(page.fields));
}
