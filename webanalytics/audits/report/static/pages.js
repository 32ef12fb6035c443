// The list of pages: a table or cards, in an order of the reader's choice.

/** Whether a column says anything: links to pages of many sites are often none. */
const told = (key) => key !== "inlinks" || Array.from(data.pages.inlinks).some((place) => cells[place] > 0);
const COLUMNS = [
  { key: "issues", label: say("Issues"), down: true },
  { key: "title", label: say("Page") },
  { key: "score", label: say("Score"), number: true },
  { key: "http_status", label: say("Status") },
  { key: "indexable", label: say("Indexable") },
  { key: "section", label: data.cut, wide: true },
  { key: "title_length", label: say("Title length"), number: true, wide: true },
  { key: "description_length", label: say("Description length"), number: true, wide: true },
  { key: "wordCount", label: say("Words"), number: true, wide: true },
  { key: "inlinks", label: say("Links to it"), number: true, down: true, wide: true },
  { key: "elapsed", label: say("Seconds"), number: true, down: true, wide: true },
].filter(({ key }) => key === "issues" || key === "title" || (has(key) && told(key)));
const ORDERS = [...COLUMNS, { key: "url", label: say("Address") }, { key: "row", label: say("Order of the audit") }];
const TABLE_STEP = 100;
const CARDS_STEP = 20;

const state = { key: "issues", down: true, view: "table", order: [] };
const collator = new Intl.Collator(data.language, { numeric: true });
const weight = (row) => (counts[3 * row] * 1e4 + counts[3 * row + 1]) * 1e4 + counts[3 * row + 2];

/** Two values in order; missing ones come last in both directions. */
function compare(a, b, sign) {
  if (a === null || b === null) return (a === null) - (b === null);
  if (typeof a === "string" && typeof b === "string") return sign * collator.compare(a, b);
  return sign * (Number(a) - Number(b));
}

function sortedRows() {
  const rows = [];
  for (let row = 0; row < size; row += 1) if (pageOn[row]) rows.push(row);
  const sign = state.down ? -1 : 1;
  if (state.key === "row") return state.down ? rows.reverse() : rows;
  const of = state.key === "issues" ? weight : (row) => get(state.key, row);
  return rows
    .map((row) => [of(row), row])
    .sort((a, b) => compare(a[0], b[0], sign) || a[1] - b[1])
    .map(([, row]) => row);
}

function issueCounts(row) {
  const parts = PRIORITIES.map((priority, level) => {
    const count = counts[3 * row + level];
    return count ? el("span", { class: `badge ${priority}`, title: say(`${capital(priority)} priority`) }, String(count), el("span", { class: "hearing" }, ` ${say(priority)}`)) : null;
  }).filter(Boolean);
  return parts.length ? parts : ["\u2013"];
}

function cell({ key, number, wide }, row) {
  const classes = [key.replace(/\W/g, "-"), number ? "number" : "", wide ? "wide" : ""].filter(Boolean).join(" ");
  if (key === "title") return el("th", { scope: "row", class: classes }, pageLink(row));
  const value = get(key, row);
  if (key === "issues") return el("td", { class: classes }, issueCounts(row));
  if (key === "http_status" && get("status", row) !== "ok") {
    return el("td", { class: classes }, el("span", { class: "badge high" }, value === null ? say("failed") : words(value)));
  }
  return el("td", { class: classes }, own(value));
}

function heading(column) {
  const { key, label, number, wide } = column;
  const on = state.key === key;
  const button = el("button", { type: "button", "data-sort": key }, label);
  const sort = on ? (state.down ? "descending" : "ascending") : "none";
  const classes = [number ? "number" : "", wide ? "wide" : ""].filter(Boolean).join(" ");
  return el("th", { scope: "col", "aria-sort": sort, class: classes || null }, button);
}

function drawTable(first, last) {
  const head = el("tr", {}, COLUMNS.map(heading));
  const rows = state.order.slice(first, last).map((row) => el("tr", { "data-page": String(row + 1) }, COLUMNS.map((column) => cell(column, row))));
  const table = el("table", { class: "of-pages" }, el("caption", { class: "hearing" }, say("Pages")), el("thead", {}, head), el("tbody", {}, rows));
  return scrolled(table, say("Table of pages"));
}

function drawCards(first, last) {
  return el("div", { class: "cards" }, state.order.slice(first, last).map((row) => card(row, "h3", null, `title-${row + 1}`)));
}

/** Show the pages that fit, in order. */
function drawPages() {
  state.order = sortedRows();
  const cards = state.view === "cards";
  paged(byId("list"), state.order.length, paper.on ? state.order.length || 1 : cards ? CARDS_STEP : TABLE_STEP, cards ? drawCards : drawTable, say("Parts of the list of pages"));
  if (!state.order.length) byId("list").replaceChildren(el("p", {}, say("No page fits the filter.")));
  byId("sort").value = state.key;
  byId("direction").textContent = state.down ? `\u2193 ${say("falling")}` : `\u2191 ${say("rising")}`;
  for (const button of document.querySelectorAll("[data-view]")) {
    button.setAttribute("aria-pressed", String(button.dataset.view === state.view));
  }
}

function sortBy(key) {
  state.down = state.key === key ? !state.down : Boolean(ORDERS.find((order) => order.key === key).down);
  state.key = key;
  drawPages();
}
