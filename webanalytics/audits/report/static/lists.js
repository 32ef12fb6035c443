// Lists that show one part at a time.

/**
 * Show `count` items by parts of `step`; `draw(first, last)` returns the element for some of them.
 * What comes after a part is only made when it is asked for.
 */
function paged(place, count, step, draw, name) {
  let first = 0;
  const body = el("div");
  const said = el("span", { "aria-live": "polite" });
  const buttons = [
    [say("First"), () => 0],
    [say("Previous"), () => first - step],
    [say("Next"), () => first + step],
    [say("Last"), () => Math.floor((count - 1) / step) * step],
  ].map(([label, target]) => {
    const button = el("button", { type: "button" }, label);
    button.addEventListener("click", () => {
      first = target();
      show();
      if (button.disabled) buttons.find((other) => !other.disabled)?.focus();
      if (place.getBoundingClientRect().top < 0) place.scrollIntoView();
    });
    return button;
  });
  function show() {
    const last = Math.min(first + step, count);
    body.replaceChildren(draw(first, last));
    const values = { first: numbers.format(first + 1), last: numbers.format(last), whole: numbers.format(count) };
    said.textContent = count ? say("{first} to {last} of {whole}", values) : say("none");
    buttons.forEach((button, position) => {
      button.disabled = position < 2 ? first === 0 : last >= count;
    });
  }
  show();
  const bar = el("nav", { class: "pager", "aria-label": name }, buttons.slice(0, 2), said, buttons.slice(2));
  place.replaceChildren(body, ...(count > step ? [bar] : []));
}

/** A table that scrolls by itself where the window is narrow. */
function scrolled(table, name) {
  return el("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": name }, table);
}

const ISSUES_STEP = 25;
/** Pages of a rule of each priority on paper. */
const paper = { on: false, high: 5, medium: 3, low: 0 };

/** Fill the list of an opened rule with its pages. */
function drawRule(details) {
  const number = Number(details.dataset.rule);
  const rule = data.rules[number];
  const { rule: rules, page, value, threshold, evidence, url } = data.issues;
  const found = [];
  for (let issue = 0; issue < rules.length; issue += 1) if (rules[issue] === number && issueOn[issue]) found.push(issue);
  const same = found.every((issue) => threshold[issue] === threshold[found[0]]);
  const columns = [
    ["page", say("Page"), (issue) => [pageLink(page[issue], cells[url[issue]])]],
    ["value", say("Value"), (issue) => [own(cells[value[issue]])], value, rule.unit],
    ["threshold", say("Threshold"), (issue) => [own(cells[threshold[issue]])], same ? [] : threshold, rule.unit],
    ["evidence", say("Evidence"), (issue) => [own(cells[evidence[issue]])], evidence],
  ].filter(([, , , column]) => !column || found.some((issue) => column[issue] > 0));
  const draw = (first, last) => {
    const head = el("tr", {}, columns.map(([, label, , , unit]) => el("th", { scope: "col" }, unit ? `${label} (${unit})` : label)));
    const rows = found.slice(first, last).map((issue) => {
      const parts = columns.map(([name, label, make]) => el("td", { class: name, "data-label": label }, make(issue)));
      return el("tr", {}, parts);
    });
    return scrolled(el("table", { class: "of-rule" }, el("thead", {}, head), el("tbody", {}, rows)), rule.title);
  };
  const place = details.querySelector(".list");
  const step = !paper.on ? ISSUES_STEP : data.appendix ? found.length : paper[rule.priority];
  if (!step) {
    place.replaceChildren();
    return;
  }
  paged(place, found.length, step, draw, pair(say("Pages"), rule.title));
  const limit = found.length && same ? cells[threshold[found[0]]] : null;
  if (limit !== null) {
    const counted = rule.unit && rule.unit !== "bytes" ? ` (${rule.unit})` : ""; // "(headings): 1", in any number
    const text = pair(`${say("Threshold")}${counted}`, words(limit, counted ? "" : rule.unit));
    place.prepend(el("p", { class: "note" }, text));
  }
  details.dataset.drawn = "yes";
}

/** The page as a link to its card: its title, and the address below. */
function pageLink(row, stranger) {
  if (row < 0) return el("span", { class: "address" }, own(stranger));
  const title = get("title", row);
  const head = toPage(row, own(nameOf(row)));
  const [address, error] = [get("url", row), get("error", row)];
  return el("div", { class: "page-of" }, head,
    title ? el("span", { class: "address" }, own(address)) : null,
    error === null ? null : el("span", { class: "error" }, own(error)));
}

const partOf = (count, whole) => say("{part} of {whole}", { part: numbers.format(count), whole });

/** Say how many rules and issues of a priority fit the filter. */
function drawGroup(group, issues) {
  const said = group.querySelector("h3 small");
  const rules = [...group.querySelectorAll("details.rule:not([hidden])")];
  group.hidden = !rules.length;
  said.dataset.all ??= said.textContent;
  const [ofRules, ofIssues] = said.dataset.all.split(/, |; /);
  const found = rules.reduce((sum, details) => sum + issues[Number(details.dataset.rule)], 0);
  const narrowed = [partOf(rules.length, ofRules), partOf(found, ofIssues)].join(", ");
  said.textContent = filtered() ? narrowed : said.dataset.all;
}

/** Say how many pages of each rule fit the filter, and hide rules without any. */
function drawRules() {
  const { rule, page, url } = data.issues;
  const seen = data.rules.map(() => new Set());
  const issues = new Int32Array(data.rules.length);
  for (let issue = 0; issue < rule.length; issue += 1) {
    if (!issueOn[issue]) continue;
    seen[rule[issue]].add(page[issue] >= 0 ? page[issue] : `-${url[issue]}`);
    issues[rule[issue]] += 1;
  }
  const narrowed = filtered();
  let any = false;
  for (const details of document.querySelectorAll("details.rule")) {
    const fits = seen[Number(details.dataset.rule)].size;
    details.hidden = narrowed && fits === 0;
    any ||= !details.hidden;
    const place = details.querySelector("summary .count");
    place.dataset.all ??= place.textContent;
    place.textContent = narrowed ? partOf(fits, place.dataset.all) : place.dataset.all;
    if (details.open) drawRule(details);
    else delete details.dataset.drawn;
  }
  for (const group of document.querySelectorAll(".group")) drawGroup(group, issues);
  byId("no-issues").hidden = any || !narrowed;
}

/** The name of a column, in words. */
const headed = (name) => say(name === "url" ? "Page" : visible(capital(name).replaceAll("_", " ")));

/** A cell of a table of changes: rules, pages and priorities as elsewhere, all else as text. */
function changed(name, value, rows, rules) {
  if ((name === "rule" || name === "problem") && rules.has(value)) return toRule(rules.get(value));
  if (name === "url" && rows.has(value)) return toPage(rows.get(value), own(value || nameOf(rows.get(value))));
  if (name === "priority" && PRIORITIES.includes(value)) return badge(value);
  return own(value);
}

/** Fill a table of what changed. */
function drawChange(details) {
  const change = data.changes[Number(details.dataset.change)];
  const names = Object.keys(change.columns);
  const cellOf = (name, row) => cells[change.columns[name][row]];
  const number = (name, row) => (typeof cellOf(name, row) === "number" ? "number" : null);
  const rules = new Map(data.rules.flatMap((rule) => [[rule.name, rule], [rule.title, rule]]));
  const rows = new Map();
  for (let row = size - 1; row >= 0; row -= 1) rows.set(get("url", row), row);
  const draw = (first, last) => {
    const lines = [];
    for (let row = first; row < last; row += 1) {
      const parts = names.map((name) => el("td", { class: number(name, row) ?? `of-${name.replace(/\W/g, "-")}` }, changed(name, cellOf(name, row), rows, rules)));
      lines.push(el("tr", {}, parts));
    }
    const head = names.map((name) => el("th", { scope: "col", class: change.rows ? number(name, 0) : null }, headed(name)));
    return scrolled(el("table", { class: "of-change" }, el("thead", {}, el("tr", {}, head)), el("tbody", {}, lines)), visible(change.name));
  };
  const step = paper.on && data.appendix ? change.rows : ISSUES_STEP;
  paged(details.querySelector(".list"), change.rows, step, draw, change.name);
}
