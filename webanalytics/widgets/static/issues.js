// The issues of an audit: rules, the pages that one of them speaks of, and what else is wrong with a page.

function storeOf(table) {
  return { columns: new Map(table.columns.map((column) => [column.key, column])), others: [], length: table.length, total: table.total };
}

class Issues {
  constructor(explorer, panel) {
    this.explorer = explorer;
    this.panel = panel;
    this.asked = false;
    this.rules = this.pages = this.rule = this.page = null;
    this.rows = [];
    panel.replaceChildren();
  }

  // Whether another frame has taken the place of this one meanwhile.
  get stale() {
    return this.explorer.issues !== this;
  }

  async open() {
    this.rules?.draw();
    this.pages?.draw();
    if (this.asked) return;
    this.asked = true;
    this.panel.replaceChildren(element("p", { class: "wa-empty", role: "status" }, "Looking for issues …"));
    try {
      const [content] = await this.explorer.ask({ kind: "issues" });
      if (!this.stale) this.fill(content);
    } catch (error) {
      this.asked = false;
      if (!this.stale) this.panel.replaceChildren(element("p", { class: "wa-empty", role: "status" }, error.message));
    }
  }

  fill(content) {
    this.explorer.tabs.querySelector("[data-tab=issues]").textContent = `Issues (${wholeNumbers.format(content.count)})`;
    const untried = this.untried(content.untried);
    if (!content.table.length) {
      this.panel.replaceChildren(element("p", { class: "wa-empty" }, "No rule found an issue."), ...untried);
      return;
    }
    this.details = content.details;
    const store = storeOf(content.table);
    this.rules = new Table({ label: "Rules", keys: [], store, noun: "rule", choose: (row) => this.chooseRule(row), changed: () => this.mark() });
    const choices = [["", "All", content.details.length], ...content.priorities.map(([name, count]) => [name, name[0].toUpperCase() + name.slice(1), count])];
    this.priorities = element("div", { class: "wa-priorities", role: "group", "aria-label": "Priority" },
      choices.map(([name, title, count]) => element("button", { type: "button", class: "wa-button", "data-priority": name, "aria-pressed": "false", onclick: () => this.only(name) }, `${title} (${wholeNumbers.format(count)})`)));
    this.ruleBox = element("section", { class: "wa-rule", "aria-label": "Rule" }, element("p", { class: "wa-note" }, "Choose a rule to see its pages."));
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

  async chooseRule(place) {
    const detail = this.details[place];
    this.rule = detail.name;
    this.pages = this.page = null;
    this.rows = [];
    const head = [
      foreign(detail.title, "h4"), element("p", { class: "wa-note" }, foreign(detail.facts.filter(Boolean).join(" · "))),
      ...[["Why", detail.explanation], ["Fix", detail.fix]].filter(([, text]) => text).map(([name, text]) => element("p", {}, element("strong", {}, `${name}: `), foreign(text))),
    ];
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
    this.pages.reset(store, [...store.columns.keys()]);
    list.replaceChildren(this.pages.root, this.pageBox);
    this.select(this.explorer.model.get("selected") ?? null);
  }

  // Shows one page's evidence in full, and its other issues; every tab then has this page chosen.
  async choosePage(place) {
    const row = this.rows[place];
    const [url, evidence] = ["url", "evidence"].map((key) => this.pages.store.columns.get(key).cells[place]);
    this.page = row;
    const box = this.pageBox;
    const head = [element("h3", { class: "wa-page-title" }, outsideLink(url ?? "")), evidence ? element("p", {}, element("strong", {}, "Evidence: "), foreign(evidence)) : null];
    if (row === null) {
      box.replaceChildren(...head.filter(Boolean), element("p", { class: "wa-note" }, "This address is no row of the table of pages."));
      return;
    }
    const show = element("button", { type: "button", class: "wa-button", onclick: () => this.explorer.reveal(row) }, "Show in Pages");
    box.replaceChildren(...head.filter(Boolean), show);
    this.explorer.choose(row);
    try {
      const [content] = await this.explorer.ask({ kind: "issues", row });
      if (this.page !== row || this.stale) return;
      const lines = content.issues.map(([priority, title, found]) => element("li", {},
        element("span", { class: `wa-mark wa-${priority}` }, priority), foreign(title), found ? element("span", { class: "wa-note" }, " ", foreign(found)) : null));
      box.append(element("h4", {}, `All issues of this page (${lines.length})`), element("ul", { class: "wa-issues" }, lines));
    } catch (error) {
      this.explorer.say(error.message);
    }
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
