// What the report holds, and how it is shown. Everything that a page has brought becomes a text node.

const data = JSON.parse(document.getElementById("data").textContent);
const cells = data.cells;

/** Numbers as they were: a plain list, steps from one to the next, or runs of value and count. */
function unpacked(column) {
  if (Array.isArray(column)) return column;
  const { steps, runs } = column;
  if (steps) {
    const made = new Int32Array(steps.length);
    for (let place = 0, value = 0; place < steps.length; place += 1) made[place] = value += steps[place];
    return made;
  }
  let length = 0;
  for (let place = 1; place < runs.length; place += 2) length += runs[place];
  const made = new Int32Array(length);
  for (let place = 0, from = 0; place < runs.length; place += 2) {
    made.fill(runs[place], from, (from += runs[place + 1]));
  }
  return made;
}

for (const columns of [data.pages, data.issues]) {
  for (const name of Object.keys(columns)) columns[name] = unpacked(columns[name]);
}
const detailed = data.detailed && new Set(data.detailed);

const size = data.size;
const PRIORITIES = ["high", "medium", "low"];

/** The value of a column of the pages; null where there is none. */
function get(name, row) {
  const column = data.pages[name];
  return column ? cells[column[row]] : null;
}

/** What names a page wherever it is named: its title, its address, or its number where it has neither. */
const nameOf = (row) => get("title", row) || get("url", row) || say("Page {n}", { n: numbers.format(row + 1) });

const has = (name) => name in data.pages;
const byId = (id) => document.getElementById(id);

/** Issues of each page, as positions: `issuesOf(row)`. */
const { starts, grouped } = (() => {
  const { page } = data.issues;
  const starts = new Int32Array(size + 1);
  for (const row of page) if (row >= 0) starts[row + 1] += 1;
  for (let row = 0; row < size; row += 1) starts[row + 1] += starts[row];
  const next = starts.slice();
  const grouped = new Int32Array(starts[size]);
  page.forEach((row, issue) => {
    if (row >= 0) grouped[next[row]++] = issue;
  });
  return { starts, grouped };
})();
const issuesOf = (row) => grouped.subarray(starts[row], starts[row + 1]);
const ruleOf = (issue) => data.rules[data.issues.rule[issue]];

/** Number of faults of each priority of each page, which make up its score: three in a row. */
const counts = (() => {
  const counts = new Int32Array(3 * size);
  const level = data.rules.map((rule) => (rule.counted ? PRIORITIES.indexOf(rule.priority) : -1));
  const { page, rule } = data.issues;
  for (let issue = 0; issue < page.length; issue += 1) {
    if (page[issue] >= 0 && level[rule[issue]] >= 0) counts[3 * page[issue] + level[rule[issue]]] += 1;
  }
  return counts;
})();

const UNSEEN =
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff\ufeff\ufffe\uffff]/gu;

/** Text in which characters that do not show, or turn text around, are named. */
function visible(text) {
  return text.replace(UNSEEN, (sign) => {
    const code = sign.codePointAt(0).toString(16).toUpperCase().padStart(4, "0");
    return `\u27e8U+${code}\u27e9`;
  });
}

/** A text in the language of the report, with values filled in. */
function say(text, values = {}) {
  return filled((data.words[text] ?? [text])[0], values);
}

/** A name and what it is, with the signs between them that the language has. */
const pair = (name, value) => say("{name}: {value}", { name, value });

/** The text for a number of things, with the number as {n}. */
function several(one, many, count, values = {}) {
  const place = data.language === "fr" ? Number(count > 1) : Number(count !== 1);
  return filled((data.words[one] ?? [one, many])[place], { n: numbers.format(count), ...values });
}

const filled = (text, values) => text.replace(/\{(\w+)\}/g, (_, name) => values[name] ?? "");
const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);

const numbers = new Intl.NumberFormat(data.language, { maximumFractionDigits: 2 });
const small = new Intl.NumberFormat(data.language, { maximumSignificantDigits: 2 });

/** A value in words. */
function words(value, unit = "") {
  if (value === null || value === undefined) return "\u2013";
  if (typeof value === "boolean") return say(value ? "yes" : "no");
  if (typeof value !== "number") return visible(String(value));
  if (unit === "bytes") return value < 1000 ? `${value} B` : `${numbers.format(value / 1000)} kB`;
  const text = (Math.abs(value) < 0.1 ? small : numbers).format(value);
  return `${text}${unit ? ` ${unit}` : ""}`;
}

/** An element; children that are no elements become text nodes. */
function el(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (value === true) made.setAttribute(name, "");
    else if (value !== null && value !== false) made.setAttribute(name, value);
  }
  made.append(...children.flat().filter((child) => child !== null));
  return made;
}

/** Text of a page's own, which does not change the direction of its surroundings. */
const own = (value, unit) => el("bdi", { dir: "auto" }, words(value, unit));

/** The address as a link if it is one of http or https, else as text. */
function link(address) {
  const shown = own(address);
  let parsed = null;
  try {
    parsed = new URL(address);
  } catch {
    return shown;
  }
  if (parsed.protocol !== "http:" && parsed.protocol !== "https:") return shown;
  return el("a", { href: parsed.href, rel: "noopener noreferrer nofollow", target: "_blank", class: "out" }, shown);
}

const badge = (priority) => el("span", { class: `badge ${priority}` }, say(priority));
const toPage = (row, ...children) => el("a", { href: `#page-${row + 1}` }, ...children);
const toRule = (rule) => el("a", { href: `#rule-${encodeURIComponent(rule.name)}` }, rule.title);
