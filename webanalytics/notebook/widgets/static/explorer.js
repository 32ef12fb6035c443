// The explorer: tabs over one table of pages.

const TABS = [
  ["overview", "Overview"], ["issues", "Issues"], ["to-do", "To do"], ["pages", "Pages"], ["site", "Site"], ["metadata", "Metadata"],
  ["readability", "Readability"], ["keywords", "Keywords"], ["failures", "Failures"],
];
const DOWNLOADS = [["html", "Report (HTML)", "report"], ["xlsx", "Excel"], ["csv", "CSV"], ["csv", "Issues CSV", "issues"], ["parquet", "Parquet"]];
const PATIENCE = 120_000;
let explorers = 0;

// A long table has its first rows only; the other cells are empty until they come.
function filledUp(column, length) {
  const missing = length - column.cells.length;
  return missing > 0 ? { ...column, cells: [...column.cells, ...Array(missing).fill(null)], short: true } : column;
}

class Explorer {
  constructor(model, root) {
    this.model = model;
    this.id = `wa${(explorers += 1)}-${Math.random().toString(36).slice(2, 8)}`;
    this.waiting = new Map();
    this.asked = 0;
    this.tab = "overview";
    this.tables = {};
    this.tabs = element("div", { class: "wa-tabs", role: "tablist", "aria-label": "Views of the pages" });
    this.downloads = element("div", { class: "wa-downloads", role: "group", "aria-label": "Downloads" });
    this.message = element("span", { class: "wa-note", role: "status" });
    this.panels = {};
    this.build();
    root.classList.add("wa-root", `wa-${model.get("_content").theme}`);
    const bar = element("div", { class: "wa-top" }, this.tabs, this.downloads);
    root.append(element("div", { class: "wa-explorer" }, bar, this.message, ...Object.values(this.panels)));
    this.listen();
    this.update();
  }

  build() {
    for (const [name, title] of TABS) {
      const [tab, panel] = [`${this.id}-tab-${name}`, `${this.id}-${name}`];
      this.tabs.append(element("button", { type: "button", role: "tab", id: tab, "aria-controls": panel, "data-tab": name, onclick: () => this.show(name) }, title));
      this.panels[name] = element("div", { role: "tabpanel", id: panel, "aria-labelledby": tab, tabindex: 0, class: "wa-panel", "data-tab": name });
    }
    arrowKeys(this.tabs, (button) => this.show(button.dataset.tab));
    this.downloads.append(element("span", { class: "wa-note" }, "Download"),
      ...DOWNLOADS.map(([kind, title, part]) => element("button", { type: "button", class: "wa-button", "data-format": kind, "data-part": part, onclick: () => this.download(kind, part) }, title)));
  }

  listen() {
    this.onMessage = (content, buffers) => this.waiting.get(content?.id)?.(content, buffers ?? []);
    this.onTable = () => this.update();
    this.onSelected = () => this.select(this.model.get("selected") ?? null);
    this.model.on("msg:custom", this.onMessage);
    this.model.on("change:_content", this.onTable);
    this.model.on("change:selected", this.onSelected);
  }

  close() {
    this.model.off("msg:custom", this.onMessage);
    this.model.off("change:_content", this.onTable);
    this.model.off("change:selected", this.onSelected);
  }

  // Asks the kernel; rejects where it does not answer.
  ask(request, onPart) {
    this.asked += 1;
    const id = `${this.id}-${this.asked}`;
    return new Promise((resolve, reject) => {
      let told = false;
      const done = (settle, value) => { clearTimeout(timer); this.waiting.delete(id); if (told) this.say(""); settle(value); };
      const late = () => done(reject, new Error("The kernel does not answer; is it running?"));
      let timer = setTimeout(late, PATIENCE);
      const waitOn = () => { clearTimeout(timer); timer = setTimeout(late, PATIENCE); };
      this.waiting.set(id, (content, buffers) => {
        if (content.error) return done(reject, new Error(content.error));
        if (content.progress) { told = true; this.say(content.progress); return waitOn(); }
        if (onPart?.(content, buffers) === false) return waitOn();
        return done(resolve, [content, buffers]);
      });
      this.model.send({ ...request, id });
    });
  }

  update() {
    const { table, summary, issues, head } = this.model.get("_content");
    this.found = null;
    this.lookedFor = false;
    this.trouble = "";
    const columns = new Map(table.columns.map((column) => [column.key, filledUp(column, table.length)]));
    this.store = { columns, others: table.others, length: table.length, total: table.total, coming: new Map() };
    this.views = table.views;
    this.summary = { bars: [], keywords: [], ...summary };
    this.head = head;
    this.shownPage = this.page = null;
    this.opened = {};
    this.wordBox = this.metadataBox = null;
    const gone = summary.figures.some(([name]) => name === "Missing"); // addresses without a page
    const noun = !summary.has.pages ? "row" : gone ? "address" : "page";
    for (const name of ["pages", "readability", "keywords", "metadata"]) this.fillTable(name, noun);
    const fill = { overview: drawOverview, readability: drawReadability, keywords: drawKeywords, metadata: drawMetadata, failures: drawFailures };
    for (const [name, draw] of Object.entries(fill)) {
      if (name in summary.has && !summary.has[name]) this.panels[name].replaceChildren(missingNote(name));
      else draw(this, this.panels[name]);
    }
    const hint = element("p", { class: "wa-note" }, issues.there ? "Choose a row to see the page: its issues, previews, text and fields." : "Choose a row to see its fields.");
    this.panels.pages.replaceChildren(this.tables.pages.root, this.pageBox = element("div", { class: "wa-page" }, this.store.length ? hint : null));
    this.fillIssues(issues.there);
    drawSite(this);
    const failed = summary.failures.reduce((sum, group) => sum + group.count, 0);
    this.tabs.querySelector("[data-tab=failures]").textContent = failed ? `Failures (${wholeNumbers.format(failed)})` : "Failures";
    this.show(this.tab);
    this.select(this.model.get("selected") ?? null);
    if (!summary.bars) this.countWords();
    if (issues.at_once) this.look();
  }

  // The words of so many pages come after the first sight.
  async countWords() {
    const { summary } = this;
    try {
      const [content] = await this.ask({ kind: "words" });
      if (summary !== this.summary) return;
      Object.assign(summary, { bars: content.bars, keywords: content.keywords });
      drawOverview(this, this.panels.overview);
      if (summary.has.keywords && !this.model.get("_content").whole) drawKeywords(this, this.panels.keywords);
    } catch (error) {
      this.say(error.message);
    }
  }

  // Asks for the issues, once for each frame: the rules, and scores and counts for the tables of pages.
  async look() {
    if (this.lookedFor && !this.trouble) return;
    this.lookedFor = true;
    this.trouble = "";
    const issues = this.issues;
    drawFirst(this);
    issues.wait();
    try {
      const [content] = await this.ask({ kind: "issues" });
      if (issues !== this.issues) return;
      this.take(content);
    } catch (error) {
      if (issues !== this.issues) return;
      this.trouble = error.message;
      drawFirst(this);
      issues.wait();
    }
  }

  take(content) {
    this.found = content;
    for (const column of content.columns) this.store.columns.set(column.key, column);
    for (const table of Object.values(this.tables)) table.update();
    this.issues.fill(content);
    drawFirst(this);
    if (this.page && this.page.issues === null) {
      this.shownPage = null;
      this.showPage();
    }
  }

  showRule(place) {
    this.show("issues");
    this.issues.revealRule(place);
  }

  // A frame without addresses has neither the tab nor the files.
  fillIssues(there) {
    this.tabs.querySelector("[data-tab=issues]").hidden = !there;
    this.tabs.querySelector("[data-tab=issues]").textContent = "Issues";
    for (const part of ["issues", "report"]) this.downloads.querySelector(`[data-part=${part}]`).hidden = !there;
    this.issues = there ? new Issues(this, this.panels.issues) : null;
    if (!there && this.tab === "issues") this.tab = "overview";
  }

  fillTable(name, noun) {
    const label = TABS.find(([key]) => key === name)[1];
    this.tables[name] ??= new Table({
      label: label === "Pages" ? "Pages" : `${label} of pages`, keys: [], store: this.store, noun,
      choose: (row) => this.choose(row), load: (key) => this.loadColumn(key), offersAll: name === "pages",
    });
    this.tables[name].noun = noun;
    this.tables[name].reset(this.store, [...this.views[name]]);
  }

  show(name) {
    this.tab = name;
    for (const button of this.tabs.children) {
      const chosen = button.dataset.tab === name;
      button.setAttribute("aria-selected", String(chosen));
      button.tabIndex = chosen ? 0 : -1;
    }
    for (const [key, panel] of Object.entries(this.panels)) panel.hidden = key !== name;
    this.tables[name]?.draw();
    if (this.tables[name]) this.complete(this.tables[name]);
    this.opened[name]?.();
    if (name === "issues") this.issues?.open();
    if (name === "metadata" || name === "keywords") this.showPage();
  }

  showPages(filters) {
    this.show("pages");
    this.tables.pages.filterBy(filters);
    this.complete(this.tables.pages);
    this.tabs.querySelector("[data-tab=pages]").focus();
  }

  // Goes to one row of the pages, whatever filters and order there are.
  reveal(row) {
    this.show("pages");
    this.tables.pages.reveal(row);
    this.choose(row);
  }

  choose(row) {
    this.model.set("selected", row);
    this.model.save_changes();
    this.select(row);
  }

  select(row) {
    for (const table of Object.values(this.tables)) table.select(row);
    this.issues?.select(row);
    this.showPage();
  }

  // Fetches the chosen page's details and fills the places that show them in the open tab.
  async showPage() {
    const chosen = this.model.get("selected") ?? null;
    const row = chosen ?? (this.tab === "metadata" || this.tab === "keywords" ? 0 : null);
    if (row === null || row >= this.store.length) return;
    if (this.shownPage !== row) {
      this.shownPage = row;
      try {
        const [content] = await this.ask({ kind: "details", row });
        if (this.shownPage === row) this.page = content;
      } catch (error) {
        if (this.shownPage === row) this.shownPage = null;
        this.say(error.message);
        return;
      }
    }
    if (this.page?.row === row) drawPage(this, this.page, (this.model.get("selected") ?? null) === null);
  }

  // Asks for all cells of a column, once; returns whether they came.
  loadColumn(key) {
    const { columns, coming } = this.store;
    const take = ([content]) => { columns.set(key, content.column); return true; };
    const fail = (error) => { coming.delete(key); this.say(error.message); return false; };
    if (!coming.has(key)) coming.set(key, this.ask({ kind: "column", key }).then(take, fail));
    return coming.get(key);
  }

  // Fills the columns of a long table, one after the other: in between the kernel answers what else is asked.
  async complete(table) {
    const { store } = this;
    const keys = table.keys.filter((key) => store.columns.get(key)?.short);
    for (const key of keys) {
      const came = await this.loadColumn(key);
      if (store !== this.store) return;
      if (!came) break;
    }
    if (keys.length) for (const other of Object.values(this.tables)) other.update();
  }

  async download(kind, part) {
    const pieces = [];
    this.say("Preparing the file …");
    try {
      const [content] = await this.ask({ kind: "download", format: kind, part }, (piece, buffers) => {
        pieces.push(...buffers);
        return piece.last === true;
      });
      const address = URL.createObjectURL(new Blob(pieces, { type: content.type }));
      const link = element("a", { href: address, download: content.name });
      document.body.append(link);
      link.click();
      link.remove();
      setTimeout(() => URL.revokeObjectURL(address), 60_000);
      this.say(`Downloaded ${content.name}`);
    } catch (error) {
      this.say(error.message);
    }
  }

  say(text) {
    this.message.textContent = text;
  }
}

export default {
  render({ model, el }) {
    const explorer = new Explorer(model, el);
    return () => explorer.close();
  },
};
