// One page: its issues, its search result, its social card, headings, text and words, and last its fields.

const VERDICTS = { missing: "missing", long: "too wide: it is cut", short: "short: there is room for more", good: "fits" };

function issueList(issues) {
  const line = ({ priority, title, evidence, fix }) => element("li", {}, element("div", {}, badge(priority), " ", foreign(title, "strong")),
    evidence ? element("p", { class: "wa-evidence" }, foreign(evidence)) : null,
    fix ? element("p", { class: "wa-fix" }, element("span", { class: "wa-note" }, "Fix: "), foreign(fix)) : null);
  return element("ol", { class: "wa-issues" }, issues.map(line));
}

function issueSection(explorer, page) {
  if (!explorer.model.get("_content").issues.there) return null;
  const head = (text) => element("h4", {}, text);
  const box = element("section", { class: "wa-page-issues", "aria-label": "Issues of the page" });
  if (page.issues === null) box.append(head("Issues"), element("button", { type: "button", class: "wa-button", onclick: () => explorer.look() }, "Look for issues"));
  else if (!page.issues.length) box.append(head("Issues"), element("p", { class: "wa-note" }, page.error ? "A page that could not be read has no issues of its own." : "No rule found an issue on this page."));
  else box.append(head(`Issues (${page.issues.length})`), issueList(page.issues));
  return box;
}

// A bar from nothing to somewhat over the limit, with the width that the rules ask for marked on it.
function meter(name, part) {
  const [low, high] = part.limits;
  const end = Math.max(high * 1.2, part.pixels);
  const place = (pixels) => `${Math.min(100, (100 * pixels) / end)}%`;
  const zone = element("span", { class: "wa-meter-zone" });
  zone.style.insetInlineStart = place(low);
  zone.style.inlineSize = `calc(${place(high)} - ${place(low)})`;
  const fill = element("span", { class: `wa-meter-fill wa-meter-${part.state}` });
  fill.style.inlineSize = place(part.pixels);
  const said = part.state === "missing" ? "missing" : `${wholeNumbers.format(part.pixels)} pixels of ${low} to ${high}, ${counted(part.characters, "character")}: ${VERDICTS[part.state]}`;
  const tone = { missing: "wa-bad", long: "wa-warn", short: "wa-warn" }[part.state] ?? "";
  return element("li", {}, element("div", {}, `${name}: `, element("span", { class: `wa-note ${tone}` }, said)),
    element("div", { class: "wa-meter", role: "img", "aria-label": `${name}: ${said}` }, zone, fill));
}

function searchPreview(found) {
  const trail = [found.host, ...found.trail].join(" › ");
  const icon = element("span", { class: "wa-serp-icon", "aria-hidden": "true" }, (found.site || found.host || "?").slice(0, 1).toUpperCase());
  const place = element("div", { class: "wa-serp-place" }, foreign(found.site || found.host, "div", { class: "wa-serp-site" }), foreign(trail, "div", { class: "wa-serp-url" }));
  const result = element("div", { class: "wa-serp" },
    element("div", { class: "wa-serp-head" }, icon, place),
    foreign(found.title.text || "(no title)", "div", { class: "wa-serp-title" }),
    foreign(found.description.text || "(no meta description: a search engine picks text from the page)", "div", { class: "wa-serp-text" }));
  return element("section", { class: "wa-preview", "aria-label": "Search result" }, element("h4", {}, "Search result"), result,
    element("ul", { class: "wa-notes" }, meter("Title", found.title), meter("Description", found.description)));
}

// The picture is a placeholder with its address; it is fetched only when somebody presses the button.
function cardPicture(card) {
  const address = webAddress(card.image);
  const box = element("div", { class: "wa-card-image" });
  if (address === null) {
    box.append(element("span", {}, "no image"));
    return box;
  }
  const load = element("button", { type: "button", class: "wa-button", title: "Fetch this image from its server now" }, "Load image");
  load.addEventListener("click", () => {
    const picture = element("img", { alt: card.alt, referrerpolicy: "no-referrer", decoding: "async" });
    picture.addEventListener("error", () => box.replaceChildren(element("span", {}, "the image cannot be loaded")));
    picture.src = address;
    box.replaceChildren(picture);
  });
  box.append(foreign(card.image, "span", { class: "wa-card-address" }), load);
  return box;
}

function cardPreview(card) {
  const text = element("div", { class: "wa-card-text" },
    foreign(card.host, "div", { class: "wa-card-host" }),
    foreign(card.title || "(no title)", "div", { class: "wa-card-title" }),
    foreign(card.description, "div", { class: "wa-card-description" }));
  const shown = element("div", { class: card.large ? "wa-card" : "wa-card wa-card-small" }, cardPicture(card), text);
  const missing = card.missing.length ? element("p", { class: "wa-note" }, `Not set: ${card.missing.join(", ")}`) : null;
  return element("section", { class: "wa-preview", "aria-label": "Social card" }, element("h4", {}, "Social card"), shown, missing);
}

function headingOutline(headings) {
  const list = element("ol", { class: "wa-outline" });
  for (const [level, text] of headings) {
    const item = element("li", {}, element("span", { class: "wa-level" }, `h${level}`), foreign(text || "(empty)"));
    item.style.paddingInlineStart = `${(level - 1) * 16}px`;
    list.append(item);
  }
  return element("section", { class: "wa-preview", "aria-label": "Headings" }, element("h4", {}, "Headings"), headings.length ? list : element("p", { class: "wa-note" }, "none"));
}

function textSection(page) {
  if (!page.text) return null;
  return element("section", { class: "wa-preview wa-text", "aria-label": "Text" }, element("h4", {}, page.cut ? "Text (its beginning)" : "Text"),
    element("div", { class: "wa-text-box", tabindex: 0 }, foreign(page.text, "p")));
}

function wordSection(page) {
  if (!page.keywords.length) return null;
  return element("section", { class: "wa-preview", "aria-label": "Keywords" }, element("h4", {}, "Keywords"), element("div", { class: "wa-words", tabindex: 0, role: "group", "aria-label": "Keywords of the page" }, bars(page.keywords.slice(0, 15))));
}

function fieldTable(fields) {
  const rows = fields.map(([name, text]) => element("tr", {}, element("th", { scope: "row" }, foreign(name)), element("td", {}, webAddress(text) ? outsideLink(text) : foreign(text))));
  return element("details", { class: "wa-fields" }, element("summary", {}, `All fields (${fields.length})`),
    element("table", { "aria-label": "Fields of the page" }, element("tbody", {}, rows)));
}

function pageHead(page, unasked) {
  const hint = unasked ? element("span", { class: "wa-note" }, " choose a row to see another page") : null;
  const facts = page.facts.length ? [element("p", { class: "wa-note wa-facts" }, foreign(page.facts.join(" · ")))] : [];
  const failed = page.error ? [element("div", { class: "wa-failed", role: "note" }, element("p", {}, element("strong", { class: "wa-bad" }, "Failed: "), foreign(page.error)),
    page.option ? element("p", { class: "wa-advice" }, element("code", {}, page.option), ` ${page.change}`) : null)] : [];
  return [element("h3", { class: "wa-page-title" }, outsideLink(page.name), hint), ...facts, ...failed];
}

function previews(page) {
  const found = page.error ? [] : [page.search ? searchPreview(page.search) : null, page.card ? cardPreview(page.card) : null, page.search ? headingOutline(page.headings) : null].filter(Boolean);
  return found.length ? [element("div", { class: "wa-previews" }, found)] : [];
}

// Everything about a page, in the order in which an analyst asks.
function wholePage(explorer, page, unasked = false) {
  const texts = [textSection(page), wordSection(page)].filter(Boolean);
  return [
    ...pageHead(page, unasked), issueSection(explorer, page), ...previews(page),
    texts.length && !page.error ? element("div", { class: "wa-previews wa-texts" }, texts) : null, linkSection(page), fieldTable(page.fields),
  ].filter(Boolean);
}

function drawPage(explorer, page, unasked) {
  if (explorer.metadataBox) explorer.metadataBox.replaceChildren(...pageHead(page, unasked), ...previews(page), fieldTable(page.fields));
  if (explorer.wordBox) {
    const words = page.keywords.length ? element("div", { class: "wa-words", tabindex: 0, role: "group", "aria-label": "Keywords of the page" }, bars(page.keywords)) : element("p", { class: "wa-note" }, page.error || "This page has no keywords.");
    explorer.wordBox.replaceChildren(element("h4", {}, "Keywords of ", outsideLink(page.name)), words);
  }
  if (explorer.pageBox && !unasked) explorer.pageBox.replaceChildren(...wholePage(explorer, page));
  if (!unasked) explorer.issues?.showPage(page);
}
