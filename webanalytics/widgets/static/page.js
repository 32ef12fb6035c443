// One page: its search result, its social card, headings, words and fields.

function lengthNote(part) {
  if (part.state === "missing") return element("span", { class: "wa-note wa-bad" }, "missing");
  const said = part.state === "long" ? "too long" : "fits";
  return element("span", { class: `wa-note ${part.state === "long" ? "wa-warn" : ""}` }, `${part.length} of ${part.limit} characters, ${said}`);
}

function searchPreview(found) {
  const trail = [found.host, ...found.trail].join(" › ");
  const icon = element("span", { class: "wa-serp-icon", "aria-hidden": "true" }, (found.site || found.host || "?").slice(0, 1).toUpperCase());
  const place = element("div", { class: "wa-serp-place" }, foreign(found.site || found.host, "div", { class: "wa-serp-site" }), foreign(trail, "div", { class: "wa-serp-url" }));
  const result = element("div", { class: "wa-serp" },
    element("div", { class: "wa-serp-head" }, icon, place),
    foreign(found.title.text || "(no title)", "div", { class: "wa-serp-title" }),
    foreign(found.description.text || "(no meta description: a search engine picks text from the page)", "div", { class: "wa-serp-text" }));
  const notes = element("ul", { class: "wa-notes" },
    element("li", {}, "Title: ", lengthNote(found.title)), element("li", {}, "Description: ", lengthNote(found.description)));
  return element("section", { class: "wa-preview", "aria-label": "Search result" }, element("h4", {}, "Search result"), result, notes);
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
  return element("section", { class: "wa-preview" }, element("h4", {}, "Headings"), headings.length ? list : element("p", { class: "wa-note" }, "none"));
}

function fieldTable(fields) {
  const rows = fields.map(([name, text]) => element("tr", {}, element("th", { scope: "row" }, foreign(name)), element("td", {}, webAddress(text) ? outsideLink(text) : foreign(text))));
  return element("details", { class: "wa-fields" }, element("summary", {}, `All fields (${fields.length})`),
    element("table", { "aria-label": "Fields of the page" }, element("tbody", {}, rows)));
}
