// The card of one page: how it looks in search results and when it is shared, its facts, and its issues.

const host = (address) => {
  try {
    return new URL(address).host;
  } catch {
    return "";
  }
};

/** The address as search results show it: host, then folders. */
function crumbs(address) {
  try {
    const parsed = new URL(address);
    if (!parsed.protocol.startsWith("http")) return visible(address);
    const folders = parsed.pathname.split("/").filter(Boolean).map(decoded);
    return visible([parsed.host, ...folders].join(" \u203a "));
  } catch {
    return visible(String(address));
  }
}

function decoded(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

function searchPreview(row) {
  const title = get("title", row) || get("final_url", row) || get("url", row);
  const description = get("description", row);
  return el(
    "figure",
    { class: "search" },
    el("figcaption", {}, say("Search result")),
    el("div", { class: "preview" },
      el("div", { class: "crumbs" }, el("bdi", { dir: "auto" }, crumbs(get("final_url", row) || get("url", row)))),
      el("div", { class: "headline" }, own(title)),
      el("div", { class: "snippet" }, description ? own(description) : el("em", {}, say("No description: search engines choose a text of the page."))),
    ),
  );
}

function firstOf(row, ...names) {
  for (const name of names) {
    const value = get(name, row);
    if (value !== null && value !== "") return value;
  }
  return null;
}

function socialPreview(row) {
  const title = firstOf(row, "og:title", "card:title", "title");
  const description = firstOf(row, "og:description", "card:description", "description");
  const image = firstOf(row, "og:image", "card:image");
  const site = firstOf(row, "og:site_name") ?? host(get("final_url", row) || get("url", row));
  const picture = image
    ? [el("strong", {}, say("Image, not loaded")), el("span", { class: "address" }, own(image))]
    : [el("strong", {}, say("No image"))];
  return el(
    "figure",
    { class: "social" },
    el("figcaption", {}, say("Shared on social networks")),
    el("div", { class: "preview" },
      el("div", { class: image ? "picture" : "picture missing" }, picture),
      el("div", { class: "below" },
        el("div", { class: "site" }, own(site)),
        el("div", { class: "headline" }, title ? own(title) : el("em", {}, say("No title"))),
        description ? el("div", { class: "snippet" }, own(description)) : null,
      ),
    ),
  );
}

/** How the text begins, and its terms. */
function excerpt(row, part) {
  const [text, terms] = [get("text", row), get("keywords", row)];
  if (!text && !terms) return [];
  return [
    el(part, { class: "part" }, say("Text")),
    text ? el("p", { class: "excerpt" }, own(text)) : null,
    terms ? el("p", { class: "note" }, pair(say("Keywords"), ""), own(terms)) : null,
  ];
}

const LINKS = new Set(["final_url", "canonical"]);

function facts(row) {
  const items = [];
  for (const { name, label, unit } of data.facts) {
    const value = get(name, row);
    if (value === null || value === "") continue;
    if (name === "final_url" && value === get("url", row)) continue;
    const said = name === "page_type" ? say(capital(value)) : value;
    items.push(el("div", {}, el("dt", {}, label), el("dd", {}, LINKS.has(name) ? link(value) : own(said, unit))));
  }
  return el("dl", { class: "facts" }, items);
}

function issueList(row) {
  const { value, threshold, evidence } = data.issues;
  const found = [...issuesOf(row)].sort((a, b) => data.issues.rule[a] - data.issues.rule[b]);
  if (!found.length) return el("p", {}, say("No issue."));
  return el("ul", { class: "issues" }, found.map((issue) => {
    const rule = ruleOf(issue);
    const shown = [];
    if (value[issue]) shown.push(own(cells[value[issue]], typeof cells[value[issue]] === "number" ? rule.unit : ""));
    if (threshold[issue]) shown.push(el("span", {}, ` (${pair(say("Threshold"), words(cells[threshold[issue]]))})`));
    return el("li", {},
      badge(rule.priority),
      el("div", {},
        el("div", { class: "line" }, toRule(rule), rule.counted ? null : ` (${say("warning")})`, el("span", { class: "measured" }, shown)),
        evidence[issue] ? el("div", { class: "evidence" }, own(cells[evidence[issue]])) : null,
        rule.fix ? el("div", { class: "fix" }, rule.fix) : null,
      ));
  }));
}

/** The pages that link here, or that this one links to, with the texts of the links. */
function neighbours(row, side, title, all) {
  const { starts, page, url, text, links, nofollow } = data.links[side];
  const [first, last] = [starts[row], starts[row + 1]];
  if (first === last) return el("p", { class: "note" }, pair(title, say("none")));
  const lines = [];
  for (let place = first; place < last; place += 1) {
    const other = page[place];
    const named = other >= 0 ? toPage(other, own(get("url", other))) : link(cells[url[place]]);
    const more = [links[place] > 1 ? several("{n} link", "{n} links", links[place]) : null, nofollow[place] ? "nofollow" : null].filter(Boolean);
    lines.push(el("li", {}, el("span", { class: "anchor" }, cells[text[place]] ? own(cells[text[place]]) : el("em", {}, say("no text"))), named,
      more.length ? el("small", {}, more.join(", ")) : null));
  }
  const known = typeof all === "number" && all > last - first ? say("{part} of {whole}", { part: numbers.format(last - first), whole: numbers.format(all) }) : numbers.format(last - first);
  return el("details", { class: "around" }, el("summary", {}, `${title} (${known})`), el("ul", {}, lines));
}

function linkLists(row, part) {
  if (!data.links) return [];
  return [
    el(part, { class: "part" }, say("Links")),
    neighbours(row, "in", say("Pages that link here"), get("inlinks", row)),
    neighbours(row, "out", say("Addresses that it links to"), null),
  ];
}

function stateBadges(row) {
  const good = get("status", row) === "ok";
  const list = [el("span", { class: good ? "badge good" : "badge high" }, say(good ? "read" : "failed"))];
  if (get("http_status", row) !== null) list.push(el("span", { class: "badge" }, words(get("http_status", row))));
  if (has("indexable") && get("indexable", row) !== null) {
    list.push(el("span", { class: "badge" }, say(get("indexable", row) ? "indexable" : "not indexable")));
  }
  if (get("section", row) !== null) list.push(el("span", { class: "badge" }, own(get("section", row))));
  return el("span", { class: "badges" }, list);
}

/** The card; `heading` is its level, `tools` what stands beside its head. */
function card(row, heading, tools, id) {
  const error = get("error", row);
  const part = heading === "h2" ? "h3" : "h4";
  return el(
    "article",
    { class: "card", "data-page": String(row + 1), "aria-labelledby": id },
    el("header", {},
      el("div", { class: "top" },
        el("span", { class: "number" }, say("Page {n}", { n: numbers.format(row + 1) })), stateBadges(row), tools ?? null),
      el(heading, { id, tabindex: "-1" }, own(nameOf(row))),
      el("p", { class: "address" }, link(get("url", row))),
      error === null ? null : el("p", { class: "error" }, own(error)),
    ),
    el(part, { class: "part" }, several("{n} issue", "{n} issues", issuesOf(row).length)),
    issueList(row),
    detailed && !detailed.has(row)
      ? el("p", { class: "note" }, say("Previews, text and further facts are shown of the {n} pages with the lowest score.", { n: numbers.format(detailed.size) }))
      : [
        el(part, { class: "part" }, say("Previews")),
        el("div", { class: "previews" }, searchPreview(row), socialPreview(row)),
        excerpt(row, part),
      ].flat(),
    linkLists(row, part),
    el(part, { class: "part" }, say("Facts")),
    facts(row),
  );
}
