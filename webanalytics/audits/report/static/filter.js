// The filter: which pages and which issues are shown.

const form = byId("filter");
const pageOn = new Uint8Array(size).fill(1);
const issueOn = new Uint8Array(data.issues.page.length).fill(1);
const SEARCHED = ["url", "final_url", "title", "description", "error"];
const texts = [];

/** What the text of the filter is looked for in, in lower case. */
function textOf(row) {
  texts[row] ??= SEARCHED.map((name) => get(name, row) ?? "").join("\n").toLowerCase();
  return texts[row];
}

const STATUS = {
  ok: (row) => get("status", row) === "ok",
  failed: (row) => get("status", row) !== "ok",
  indexable: (row) => get("indexable", row) === true,
  "not indexable": (row) => get("indexable", row) !== true,
  none: (row) => get("http_status", row) === null,
};

function statusTest(wanted) {
  if (!wanted) return () => true;
  if (!wanted.startsWith("http:")) return STATUS[wanted];
  const code = Number(wanted.slice(5));
  return (row) => get("http_status", row) === code;
}

function ruleTest(wanted, priority) {
  const [kind, name] = wanted ? [wanted.slice(0, wanted.indexOf(":")), wanted.slice(wanted.indexOf(":") + 1)] : [];
  return data.rules.map((rule) => {
    if (priority && rule.priority !== priority) return false;
    if (kind === "rule") return visible(rule.name) === name;
    return kind === "category" ? visible(rule.category) === name : true;
  });
}

const UNDETERMINED = "undetermined";

function languageTest(wanted) {
  if (!wanted) return () => true;
  return (row) => get("status", row) === "ok" && visible(get("language", row) ?? UNDETERMINED) === wanted;
}

const wanted = (name) => form.elements[name]?.value ?? "";
/** Whether anything is filtered out. Values of choices are visible text, as the report has written them. */
const filtered = () => ["text", "section", "priority", "rule", "page_type", "language", "status"].some((name) => wanted(name).trim());

/** Mark the pages and issues that fit; a page must have an issue where a priority or a rule is asked for. */
function runFilter() {
  const parts = wanted("text").trim().toLowerCase().split(/\s+/).filter(Boolean);
  const section = wanted("section");
  const priority = wanted("priority");
  const status = statusTest(wanted("status"));
  const language = languageTest(wanted("language"));
  const type = wanted("page_type");
  const ruleOn = ruleTest(wanted("rule"), priority);
  const needsIssue = Boolean(priority || wanted("rule"));
  const aboutPages = Boolean(parts.length || section || wanted("status") || wanted("language") || type);
  const { page, rule, url } = data.issues;
  for (let row = 0; row < size; row += 1) {
    const fits =
      (!section || visible(String(get("section", row))) === section) && (!type || visible(String(get("page_type", row))) === type) && status(row) && language(row) && parts.every((part) => textOf(row).includes(part));
    pageOn[row] = fits && (!needsIssue || issuesOf(row).some((issue) => ruleOn[rule[issue]])) ? 1 : 0;
  }
  for (let issue = 0; issue < page.length; issue += 1) {
    const stranger = page[issue] < 0;
    const fits = stranger
      ? !section && !type && !wanted("status") && !wanted("language") && parts.every((part) => String(cells[url[issue]]).toLowerCase().includes(part))
      : pageOn[page[issue]] === 1;
    issueOn[issue] = (fits || (!aboutPages && stranger)) && ruleOn[rule[issue]] ? 1 : 0;
  }
}

/** Set some fields and empty the others, as the numbers and charts do. */
function setFilter(values) {
  form.reset();
  if (values.category !== undefined) values = { ...values, rule: `category:${values.category}` };
  for (const [name, value] of Object.entries(values)) {
    const field = form.elements[name];
    if (!field) continue;
    if (field.tagName === "SELECT" && ![...field.options].some((option) => option.value === value)) {
      field.append(el("option", { value }, visible(value)));
    }
    field.value = value;
  }
}
