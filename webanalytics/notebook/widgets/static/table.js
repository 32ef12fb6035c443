// A table that sorts, filters and draws only the rows one sees.

const ROW_HEIGHT = 30;
const SPARE_ROWS = 4;
const PADDING = 24;
const NARROWEST = 62;
const WIDEST = { url: 420, final_url: 420, canonical: 340, best_page: 420, rival: 420, title: 420, description: 460, h1: 340, keywords: 420, error: 460, rule: 420, evidence: 520 };
const WIDEST_TEXT = 280;
const LINKS = new Set(["url", "final_url", "canonical", "best_page", "rival"]);
const PRIORITY_COLUMNS = new Set(["high", "medium", "low"]);
const SAMPLE = 24;
const pen = document.createElement("canvas").getContext("2d");

// Some texts of a column of which one is the widest, as good as surely; of numbers, the least and the greatest.
function longestTexts(column) {
  const cells = column.cells.filter((cell) => cell !== null && cell !== "");
  if (column.kind === "number") {
    const ends = cells.reduce(([least, most], cell) => [Math.min(least, cell), Math.max(most, cell)], [cells[0], cells[0]]);
    return ends.filter((cell) => cell !== undefined).map((cell) => showValue(cell, column));
  }
  const texts = cells.map((cell) => (typeof cell === "string" ? cell : showValue(cell, column)));
  if (texts.length <= SAMPLE) return texts;
  // wide characters of East Asia take the room of two
  const weights = texts.map((text) => text.length + (/[\u1100-\uffdc]/.test(text) ? text.length : 0));
  const least = Uint32Array.from(weights).sort().at(-SAMPLE);
  return texts.filter((_, place) => weights[place] >= least).slice(0, SAMPLE);
}

// The pixels of a column's heading and of the longest of its cells.
function measure(column, font) {
  if (column.measured?.font === font && column.measured.label === column.label) return column.measured;
  pen.font = `600 ${font}`;
  const head = pen.measureText(column.label).width + 18;
  pen.font = font;
  const texts = longestTexts(column);
  column.measured = { font, label: column.label, head, cells: texts.reduce((most, text) => Math.max(most, pen.measureText(text).width), 0) };
  return column.measured;
}

function widest(column, room) {
  if (column.kind !== "text") return Infinity;
  const most = WIDEST[column.key] ?? WIDEST_TEXT;
  return room ? Math.min(most, Math.max(150, room * 0.6)) : most;
}

// Keeps both ends of an address: what tells pages of one site apart stands at the end.
function middleCut(text, pixels) {
  const width = pen.measureText(text).width;
  if (width <= pixels) return text;
  const keep = Math.max(8, Math.floor((text.length * pixels) / width) - 2);
  const start = Math.ceil(keep * 0.45);
  return `${text.slice(0, start)}…${text.slice(text.length - (keep - start))}`;
}

class Table {
  // options: label, keys, store (columns by key, length, total), choose(row), load(key), offersAll, noun, changed()
  constructor(options) {
    Object.assign(this, options);
    this.sort = { key: null, direction: 1 };
    this.filters = {};
    this.query = "";
    this.selected = null;
    this.active = 0;
    this.view = [];
    this.haystack = null;
    this.drawn = new Map();
    this.build();
  }

  build() {
    const search = { type: "search", class: "wa-input", placeholder: "Filter rows…", "aria-label": `Filter ${this.label}` };
    this.search = element("input", { ...search, oninput: () => { this.query = this.search.value; this.refresh(); } });
    this.filterButton = element("button", { type: "button", class: "wa-button", "aria-expanded": "false", onclick: () => this.toggleFilters() }, "Column filters");
    this.clearButton = element("button", { type: "button", class: "wa-button", hidden: true, onclick: () => this.clear() }, "Clear filters");
    this.count = element("span", { class: "wa-count", role: "status" });
    this.menu = element("details", { class: "wa-menu" });
    this.menu.addEventListener("keydown", (event) => {
      if (event.key !== "Escape" || !this.menu.open) return;
      this.menu.open = false;
      this.menu.querySelector("summary").focus();
    });
    const tools = element("div", { class: "wa-tools" }, this.search, this.filterButton, this.menu, this.clearButton, this.count);
    this.columns = element("colgroup");
    this.headings = element("tr");
    this.filterRow = element("tr", { class: "wa-filters", hidden: true });
    this.body = element("tbody");
    this.table = element("table", { class: "wa-table", role: "grid", "aria-label": this.label },
      this.columns, element("thead", {}, this.headings, this.filterRow), this.body);
    this.scroller = element("div", { class: "wa-scroll" }, this.table);
    this.empty = element("p", { class: "wa-empty", hidden: true });
    this.root = element("div", { class: "wa-table-box" }, tools, this.scroller, this.empty);
    this.room = 0;
    new ResizeObserver(() => {
      if (this.scroller.clientWidth && this.scroller.clientWidth !== this.room) this.draw();
    }).observe(this.scroller);
    let waiting = false;
    this.scroller.addEventListener("scroll", () => {
      if (waiting) return;
      waiting = true;
      requestAnimationFrame(() => { waiting = false; this.draw(true); });
    });
    this.body.addEventListener("keydown", (event) => this.onKey(event));
    // a row that is drawn anew between press and release gets no click
    this.body.addEventListener("pointerdown", () => {
      this.pressed = true;
      const release = () => setTimeout(() => { this.pressed = false; if (this.late) this.draw(); });
      for (const name of ["pointerup", "pointercancel"]) addEventListener(name, release, { once: true });
    });
  }

  shown() {
    return this.keys.map((key) => this.store.columns.get(key)).filter(Boolean);
  }

  // Takes another table's worth of columns, and keeps order and filters where they still make sense.
  reset(store, keys) {
    this.store = store;
    this.keys = keys;
    this.haystack = null;
    if (!store.columns.has(this.sort.key)) this.sort = { key: null, direction: 1 };
    for (const key of Object.keys(this.filters)) if (!store.columns.has(key)) delete this.filters[key];
    this.layout();
    this.refresh();
  }

  layout() {
    const shown = this.shown();
    this.fit();
    this.headings.replaceChildren(...shown.map((column) => this.heading(column)));
    this.filterRow.replaceChildren(...shown.map((column) => element("td", {}, this.filterField(column))));
    this.drawMenu();
  }

  // Gives each column the room that its cells need, up to a limit; what is left goes to the one cut most.
  fit() {
    const shown = this.shown();
    this.room = this.scroller.clientWidth;
    const style = getComputedStyle(this.scroller.isConnected ? this.scroller : document.body);
    const font = `13px ${style.fontFamily || "sans-serif"}`;
    const filters = this.filterRow.hidden ? 0 : 96;
    const asked = shown.map((column) => { const { head, cells } = measure(column, font); return Math.max(head, cells, filters) + PADDING; });
    const widths = shown.map((column, place) => Math.ceil(Math.max(NARROWEST, Math.min(asked[place], Math.max(widest(column, this.room), column.measured.head + PADDING)))));
    const sum = widths.reduce((all, width) => all + width, 0);
    // what is left goes to the text that is cut most, else to the longest
    const cut = shown.map((column, place) => (column.kind === "text" ? 10_000 * Math.max(0, asked[place] - widths[place]) + widths[place] : -1));
    const elastic = cut.indexOf(Math.max(...cut));
    if (sum < this.room && cut[elastic] >= 0) widths[elastic] += this.room - sum;
    this.widths = new Map(shown.map((column, place) => [column.key, widths[place]]));
    this.columns.replaceChildren(...widths.map((width) => {
      const col = element("col");
      col.style.width = `${width}px`;
      return col;
    }));
    this.table.style.width = `${widths.reduce((all, width) => all + width, 0)}px`;
    this.table.dataset.first = shown[0]?.key ?? "";
    this.font = font;
  }

  // Shows columns that have come later; who is typing a filter types on.
  update() {
    this.haystack = null;
    const typed = this.filterRow.contains(document.activeElement) ? document.activeElement.getAttribute("aria-label") : null;
    this.layout();
    const field = typed && [...this.filterRow.querySelectorAll("[aria-label]")].find((other) => other.getAttribute("aria-label") === typed);
    field?.focus();
    field?.setSelectionRange?.(field.value.length, field.value.length);
    this.refresh(false);
  }

  heading(column) {
    const order = this.sort.key !== column.key ? "none" : this.sort.direction > 0 ? "ascending" : "descending";
    const arrow = { none: "", ascending: " ▲", descending: " ▼" }[order];
    const button = element("button", { type: "button", class: "wa-sort", title: `Sort by ${column.label}`, onclick: () => this.sortBy(column.key) },
      foreign(column.label), element("span", { "aria-hidden": "true" }, arrow));
    return element("th", { scope: "col", "aria-sort": order, "data-key": column.key, class: column.kind === "number" ? "wa-number" : null }, button);
  }

  sortBy(key) {
    if (this.sort.key !== key) this.sort = { key, direction: 1 };
    else if (this.sort.direction > 0) this.sort = { key, direction: -1 };
    else this.sort = { key: null, direction: 1 };
    this.headings.replaceChildren(...this.shown().map((column) => this.heading(column)));
    [...this.headings.children].find((cell) => cell.dataset.key === key)?.firstChild.focus();
    this.refresh();
  }

  filterField(column) {
    const value = this.filters[column.key] ?? "";
    const name = `Filter by ${column.label}`;
    const change = (field) => {
      this.filters[column.key] = field.value;
      field.setAttribute("aria-invalid", String(cellTest(field.value, column) === undefined));
      this.refresh();
    };
    const choices = column.kind === "boolean" ? ["yes", "no"] : column.choices;
    if (choices && (value === "" || choices.includes(value))) {
      const options = [element("option", { value: "" }, "all"), ...choices.map((choice) => element("option", { value: choice, selected: choice === value }, choice))];
      const field = element("select", { class: "wa-input", "aria-label": name }, options);
      field.addEventListener("change", () => change(field));
      return field;
    }
    const hints = column.kind === "number" ? [">100", "a number, >100, <=5, 10-20, = for none"] : ["contains…", "part of the text; = for none, ! for any"];
    const field = element("input", { type: "text", class: "wa-input", "aria-label": name, placeholder: hints[0], title: hints[1], value });
    field.addEventListener("input", () => change(field));
    return field;
  }

  toggleFilters(open = this.filterRow.hidden) {
    this.filterRow.hidden = !open;
    this.filterButton.setAttribute("aria-expanded", String(open));
    this.fit();
    this.draw();
  }

  // Shows the rows that pass these filters and no others.
  filterBy(filters) {
    this.query = this.search.value = "";
    this.filters = { ...filters };
    const missing = Object.keys(filters).filter((key) => this.store.columns.has(key) && !this.keys.includes(key));
    this.keys = [...this.keys, ...missing];
    this.toggleFilters(true);
    this.layout();
    this.refresh();
  }

  clear() {
    this.query = this.search.value = "";
    this.filters = {};
    this.layout();
    this.refresh();
  }

  drawMenu() {
    const open = this.menu.open;
    const known = [...this.store.columns.values()];
    const choices = [...known, ...(this.offersAll ? this.store.others.filter((other) => !this.store.columns.has(other.key)) : [])];
    const boxes = choices.map((column) => {
      const box = element("input", { type: "checkbox" });
      box.checked = this.keys.includes(column.key);
      box.addEventListener("change", () => this.chooseColumn(column.key, box.checked));
      return element("label", {}, box, " ", foreign(column.label));
    });
    const summary = element("summary", { class: "wa-button" }, "Columns");
    this.menu.replaceChildren(summary, element("div", { class: "wa-menu-list", role: "group", "aria-label": "Columns shown" }, boxes));
    this.menu.open = open;
  }

  async chooseColumn(key, wanted) {
    const known = this.store.columns.get(key);
    if (wanted && (!known || known.short) && !(await this.load(key))) return;
    this.keys = wanted ? [...this.keys, key] : this.keys.filter((other) => other !== key);
    const list = this.menu.querySelector(".wa-menu-list");
    const place = list.scrollTop;
    this.haystack = null;
    this.layout();
    this.menu.querySelector(".wa-menu-list").scrollTop = place;
    this.refresh();
  }

  // One lower-case text a row, so that typing a filter over ten thousand rows is quick.
  texts() {
    if (this.haystack === null) {
      const columns = this.shown();
      this.haystack = Array.from({ length: this.store.length }, (_, row) =>
        columns.map((column) => searched(column.cells[row], column)).join("\n").toLowerCase());
    }
    return this.haystack;
  }

  refresh(fromTop = true) {
    const query = this.query.trim().toLowerCase();
    const tests = Object.entries(this.filters)
      .map(([key, text]) => [this.store.columns.get(key), text])
      .map(([column, text]) => [column, column && cellTest(text, column)])
      .filter(([, test]) => test);
    const texts = query ? this.texts() : null;
    let rows = [];
    for (let row = 0; row < this.store.length; row += 1) {
      if (texts && !texts[row].includes(query)) continue;
      if (tests.every(([column, test]) => test(column.cells[row]))) rows.push(row);
    }
    const column = this.store.columns.get(this.sort.key);
    if (column) rows = sortRows(rows, column, this.sort.direction);
    const reached = this.view[this.active];
    this.view = rows;
    // columns that come later leave the reader where the keyboard has taken him
    this.active = Math.max(0, rows.indexOf(fromTop || reached === undefined ? this.selected : reached));
    const filtered = Boolean(query) || tests.length > 0;
    this.clearButton.hidden = !filtered;
    const all = counted(this.store.length, this.noun, this.nouns);
    this.count.textContent = filtered ? `${wholeNumbers.format(rows.length)} of ${all}` : all;
    if (this.store.total > this.store.length) this.count.textContent += ` (the first of ${wholeNumbers.format(this.store.total)})`;
    if (this.shown().some((column) => column.short)) this.count.textContent += ", still coming …";
    this.empty.hidden = rows.length > 0;
    this.empty.textContent = this.store.length ? "No row passes the filters." : "There are no rows.";
    if (fromTop) this.scroller.scrollTop = 0;
    this.draw();
    this.changed?.();
  }

  select(row) {
    this.selected = row;
    const place = this.view.indexOf(row);
    if (place >= 0) this.active = place;
    this.draw();
  }

  reveal(row) {
    if (!this.view.includes(row)) this.clear();
    this.scroller.scrollTop = this.view.indexOf(row) * ROW_HEIGHT;
    this.select(row);
    this.focusActive();
  }

  // Draws the rows that one sees; while somebody scrolls, those that were there before stay as they are.
  draw(scrolled = false) {
    this.late = this.pressed;
    if (this.pressed) return;
    if (this.scroller.clientWidth && this.scroller.clientWidth !== this.room) this.fit();
    const held = this.body.contains(document.activeElement);
    const height = this.scroller.clientHeight || 420;
    const first = Math.max(0, Math.floor(this.scroller.scrollTop / ROW_HEIGHT) - SPARE_ROWS);
    const last = Math.min(this.view.length, first + Math.ceil(height / ROW_HEIGHT) + 2 * SPARE_ROWS);
    const columns = this.shown();
    const before = scrolled ? this.drawn : new Map();
    this.drawn = new Map();
    pen.font = this.font;
    for (let place = first; place < last; place += 1) this.drawn.set(place, before.get(place) ?? this.row(place, columns));
    this.body.replaceChildren(this.spacer(first), ...this.drawn.values(), this.spacer(this.view.length - last));
    this.table.setAttribute("aria-rowcount", String(this.view.length + 1));
    if (held) this.focusActive();
  }

  spacer(rows) {
    const line = element("tr", { "aria-hidden": "true", class: "wa-spacer", hidden: rows === 0 });
    line.style.height = `${rows * ROW_HEIGHT}px`;
    return line;
  }

  row(place, columns) {
    const row = this.view[place];
    const chosen = row === this.selected;
    const cells = columns.map((column) => {
      const value = column.cells[row];
      const text = showValue(value, column);
      const content = LINKS.has(column.key) && value ? outsideLink(value, middleCut(value, this.widths.get(column.key) - PADDING)) : this.shownCell(column, value, text);
      if (content.tagName === "A") content.tabIndex = -1;
      return element("td", { class: this.tone(column, value), title: column.kind === "text" && value ? value : null }, content);
    });
    return element("tr", {
      tabindex: place === this.active ? 0 : -1, "data-row": row, "aria-rowindex": place + 2,
      "aria-selected": String(chosen), class: chosen ? "wa-chosen" : null,
      onclick: (event) => { if (event.target.tagName !== "A") this.pick(place); },
    }, cells);
  }

  shownCell(column, value, text) {
    return column.key === "priority" && column.ranks ? badge(value) : foreign(text);
  }

  tone(column, value) {
    const issues = PRIORITY_COLUMNS.has(column.key) && column.kind === "number";
    const tone = column.key === "status" && value === "error" ? "wa-bad" : issues && value ? `wa-count-${column.key}` : issues ? "wa-none" : "";
    return `${column.kind === "number" ? "wa-number" : ""} ${tone}`.trim() || null;
  }

  pick(place) {
    this.active = place;
    this.selected = this.view[place];
    this.draw();
    this.choose(this.selected);
  }

  onKey(event) {
    const page = Math.max(1, Math.floor(this.scroller.clientHeight / ROW_HEIGHT) - 2);
    const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -Infinity, End: Infinity };
    if (event.key === "Enter" || event.key === " ") {
      event.preventDefault();
      this.pick(this.active);
    } else if (event.key in steps) {
      event.preventDefault();
      this.active = Math.min(this.view.length - 1, Math.max(0, this.active + steps[event.key]));
      const top = this.active * ROW_HEIGHT;
      const head = this.table.tHead.offsetHeight;
      const room = this.scroller.clientHeight - head - ROW_HEIGHT;
      if (top < this.scroller.scrollTop) this.scroller.scrollTop = top;
      else if (top > this.scroller.scrollTop + room) this.scroller.scrollTop = top - room;
      this.draw();
      this.focusActive();
    }
  }

  focusActive() {
    this.body.querySelector(`[aria-rowindex="${this.active + 2}"]`)?.focus({ preventScroll: true });
  }
}
