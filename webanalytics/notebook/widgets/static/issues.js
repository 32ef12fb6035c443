// The issues: rules in the order to fix them, the pages that one of them speaks of, and one such page.

function storeOf(table) {
  return { columns: new Map(table.columns.map((column) => [column.key, column])), others: [], length: table.length, total: table.total };
}

class Issues {
  constructor(explorer, panel) {
    this.explorer = explorer;
    this.panel = panel;
    this.rules = this.pages = this.rule = this.page = null;
    this.rows = [];
    this.wait();
  }

  // Whether another frame has taken the place of this one meanwhile.
  get stale() {
    return this.explorer.issues !== this;
  }

  wait() {
    if (!this.rules) this.panel.replaceChildren(element("p", { class: "wa-empty", role: "status" }, this.explorer.trouble || "Looking for issues …"));
  }

  open() {
    this.rules?.draw();
    this.pages?.draw();
    if (!this.details) this.explorer.look();
  }

  fill(content) {
    this.explorer.tabs.querySelector("[data-tab=issues]").textContent = `Issues (${wholeNumbers.format(content.count)})`;
    const untried = this.untried(content.untried);
    this.details = content.details;
    if (!content.table.length) {
      this.panel.replaceChildren(element("p", { class: "wa-empty" }, "No rule found an issue."), ...untried);
      return;
    }
    const store = storeOf(content.table);
    this.rules = new Table({ label: "Issues, fix first", keys: [], store, noun: "kind of issue", nouns: "kinds of issues", choose: (row) => this.chooseRule(row), changed: () => this.mark() });
    const rules = (name) => content.details.filter((detail) => detail.priority === name).length;
    const choices = [["", "All", content.details.length], ...content.priorities.map(([name]) => [name, name[0].toUpperCase() + name.slice(1), rules(name)])];
    this.priorities = element("div", { class: "wa-priorities", role: "group", "aria-label": "Priority" },
      choices.map(([name, title, count]) => element("button", { type: "button", class: "wa-button", "data-priority": name, "aria-pressed": "false", onclick: () => this.only(name) }, `${title} (${wholeNumbers.format(count)})`)));
    this.ruleBox = element("section", { class: "wa-rule", "aria-label": "Issue" }, element("p", { class: "wa-note" }, "Choose an issue to see why it matters, how to fix it, and its pages."));
    this.rules.reset(store, [...store.columns.keys()]);
    this.panel.replaceChildren(this.priorities, this.rules.root, this.ruleBox, ...untried);
    this.rules.draw();
  }

  untried(rules) {
    if (!rules.length) return [];
    const lines = rules.map(([title, why]) => element("li", {}, foreign(title), ": ", foreign(why)));
    return [element("details", { class: "wa-fields" }, element("summary", {}, `Not tried (${counted(rules.length, "rule")})`), element("ul", {}, lines))];
  }

  only(priority) {
    this.rules.filters.priority = priority;
    this.rules.layout();
    this.rules.refresh();
  }

  mark() {
    const chosen = this.rules?.filters.priority ?? "";
    for (const button of this.priorities.children) button.setAttribute("aria-pressed", String(button.dataset.priority === chosen));
  }

  // Chooses a rule from elsewhere, whatever filters there are.
  revealRule(place) {
    this.rules?.reveal(place);
    this.chooseRule(place);
  }

  async chooseRule(place) {
    const detail = this.details[place];
    this.rule = detail.name;
    this.pages = this.page = null;
    this.rows = [];
    const head = [
      element("h4", {}, badge(detail.priority), " ", foreign(detail.title)), element("p", { class: "wa-note" }, foreign(detail.facts.filter(Boolean).join(" · "))),
      ...[["Why", detail.explanation], ["Fix", detail.fix]].filter(([, text]) => text).map(([name, text]) => element("p", {}, element("strong", {}, `${name}: `), foreign(text))),
      detail.help ? element("p", {}, outsideLink(detail.help, "How it is measured, with examples")) : null,
    ].filter(Boolean);
    const list = element("div", { class: "wa-rule-pages" }, element("p", { class: "wa-note", role: "status" }, "Loading …"));
    this.ruleBox.replaceChildren(...head, list);
    try {
      const [content] = await this.explorer.ask({ kind: "issues", rule: detail.name });
      if (this.stale || this.rule !== detail.name) return;
      this.fillPages(content, detail, list);
    } catch (error) {
      if (this.rule === detail.name) list.replaceChildren(element("p", { class: "wa-note", role: "status" }, error.message));
    }
  }

  fillPages(content, detail, list) {
    const store = storeOf(content.table);
    for (const key of ["value", "threshold"]) {
      const column = store.columns.get(key);
      if (column && detail.unit) column.label = `${column.label} (${detail.unit})`;
    }
    this.rows = content.rows;
    this.pages = new Table({ label: `Pages with the issue ${detail.title}`, keys: [], store, noun: "page", choose: (place) => this.choosePage(place) });
    this.pageBox = element("div", { class: "wa-page" });
    list.replaceChildren(this.pages.root, this.pageBox);
    this.pages.reset(store, [...store.columns.keys()]);
    this.select(this.explorer.model.get("selected") ?? null);
  }

  // Shows one page with all its issues; every tab then has this page chosen.
  choosePage(place) {
    const row = this.rows[place];
    const url = this.pages.store.columns.get("url").cells[place];
    this.page = row;
    if (row === null) {
      this.pageBox.replaceChildren(element("h3", { class: "wa-page-title" }, outsideLink(url ?? "")), element("p", { class: "wa-note" }, "This address is no row of the table of pages."));
      return;
    }
    this.pageBox.replaceChildren(element("p", { class: "wa-note", role: "status" }, "Loading …"));
    this.explorer.choose(row);
  }

  showPage(page) {
    if (!this.pages || this.page !== page.row) return;
    this.pageBox.replaceChildren(...wholePage(this.explorer, page));
  }

  select(row) {
    if (!this.pages) return;
    const place = row === null ? -1 : this.rows.indexOf(row);
    this.pages.select(place < 0 ? null : place);
    if (this.page !== row) {
      this.page = null;
      this.pageBox.replaceChildren();
    }
  }
}
