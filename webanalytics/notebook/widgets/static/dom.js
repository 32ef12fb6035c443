// Building blocks. What comes from a page becomes text nodes and nothing else.

const FOCUSABLE = new Set(["a", "button", "input", "select", "summary"]);

function element(tag, attributes, ...children) {
  const node = document.createElement(tag);
  // else JupyterLab takes keys pressed here for its own shortcuts, such as those that make and delete cells
  if (FOCUSABLE.has(tag) || "tabindex" in (attributes ?? {})) node.setAttribute("data-lm-suppress-shortcuts", "true");
  for (const [name, value] of Object.entries(attributes ?? {})) {
    if (value == null || value === false) continue;
    if (name.startsWith("on")) node.addEventListener(name.slice(2), value);
    else node.setAttribute(name, value === true ? "" : String(value));
  }
  for (const child of children.flat()) {
    if (child != null) node.append(child instanceof Node ? child : document.createTextNode(String(child)));
  }
  return node;
}

// A text of unknown direction and script, which must not turn its surroundings around.
function foreign(text, tag = "bdi", attributes = {}) {
  return element(tag, { dir: "auto", ...attributes }, text);
}

function webAddress(text) {
  try {
    const address = new URL(text);
    return address.protocol === "http:" || address.protocol === "https:" ? address.href : null;
  } catch {
    return null;
  }
}

function outsideLink(url, text = url) {
  const address = webAddress(url);
  if (address === null) return foreign(text);
  const attributes = { href: address, target: "_blank", rel: "noopener noreferrer", class: "wa-link" };
  return foreign(text, "a", attributes);
}

const wholeNumbers = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });
const decimalNumbers = [1, 2, 3].map((digits) => new Intl.NumberFormat("en", { minimumFractionDigits: digits, maximumFractionDigits: digits }));

function showValue(value, column) {
  if (value === null || value === undefined || value === "") return "–";
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (typeof value !== "number") return value;
  if (column?.key === "http_status") return String(value);
  const least = 10 ** -(column?.decimals ?? 0);
  if (value > 0 && value < least / 2) return `< ${least}`; // a zero would say that there is nothing
  return (decimalNumbers[(column?.decimals ?? 0) - 1] ?? wholeNumbers).format(value);
}

function counted(count, noun, many = noun.endsWith("s") ? `${noun}es` : `${noun}s`) {
  return `${wholeNumbers.format(count)} ${count === 1 ? noun : many}`;
}

// Moves the focus among a row of buttons with the arrow keys, as the ARIA pattern of tabs has it.
function arrowKeys(container, select) {
  container.addEventListener("keydown", (event) => {
    const buttons = [...container.querySelectorAll("[role=tab]:not([hidden])")];
    const at = buttons.indexOf(event.target);
    const last = buttons.length - 1;
    const places = { ArrowRight: at === last ? 0 : at + 1, ArrowLeft: at === 0 ? last : at - 1, Home: 0, End: last };
    if (at < 0 || !(event.key in places)) return;
    event.preventDefault();
    const next = buttons[places[event.key]];
    next.focus();
    select(next);
  });
}

function bars(rows, describe, choose) {
  const most = Math.max(1, ...rows.map(([, count]) => count));
  const list = element("ul", { class: "wa-bars" });
  const places = rows.every(([, count]) => Number.isInteger(count)) ? 0 : 1; // all of them alike
  const numbers = new Intl.NumberFormat("en", { minimumFractionDigits: places, maximumFractionDigits: places });
  for (const [name, count, note] of rows) {
    const bar = element("span", { class: "wa-bar-fill", "aria-hidden": "true" });
    bar.style.width = `${(100 * count) / most}%`;
    const label = foreign(name, "span", { class: "wa-bar-label", title: name });
    const value = element("span", { class: "wa-bar-value" }, numbers.format(count), note ? ` ${note}` : "");
    const track = element("span", { class: "wa-bar-track" }, bar, value);
    const inside = choose && count ? element("button", { type: "button", class: "wa-bar", title: describe, onclick: () => choose(name) }, label, track)
      : element("span", { class: "wa-bar" }, label, track);
    list.append(element("li", {}, inside));
  }
  return list;
}
