// The overview: score, what to fix first, failures, key figures.

function badge(priority) {
  return element("span", { class: `wa-badge wa-${priority}` }, priority);
}

function tile(name, value, note, tone = "") {
  return element("li", { class: `wa-tile ${tone}` }, element("span", { class: "wa-tile-name" }, name),
    element("span", { class: "wa-tile-value" }, value), note ? element("span", { class: "wa-note" }, note) : null);
}

function issueTiles(found) {
  const score = found.score === null ? [] : [tile("Score", String(found.score), "of 100", "wa-score")];
  return [...score, ...found.priorities.map(([name, issues, pages, hosts]) => tile(name[0].toUpperCase() + name.slice(1), wholeNumbers.format(issues),
    issues ? `faults on ${[pages && counted(pages, "page"), hosts && counted(hosts, "host")].filter(Boolean).join(" and ")}` : "no faults", issues ? `wa-tile-${name}` : ""))];
}

function fixFirst(explorer, found) {
  const box = element("section", { class: "wa-first", "aria-label": "Fix first" });
  if (found.alarm) box.append(foreign(found.alarm, "p", { class: "wa-alarm", role: "note" }));
  box.append(element("h4", {}, "What to fix first"));
  if (!found.details.length) {
    box.append(element("p", { class: "wa-note" }, "No rule found an issue."));
    return box;
  }
  const line = ({ cause, priority, points, place }) => element("li", {}, element("button", {
    type: "button", class: "wa-finding", title: "Show the pages with this issue", onclick: () => explorer.showRule(place),
  }, badge(priority), foreign(cause, "span", { class: "wa-finding-title" }), element("span", { class: "wa-finding-count" }, points ? `${points.toFixed(1)} point${points.toFixed(1) === "1.0" ? "" : "s"}` : "")));
  box.append(element("ol", { class: "wa-findings" }, found.causes.map(line)));
  box.append(element("button", { type: "button", class: "wa-button wa-more", onclick: () => explorer.show("issues") }, `All ${wholeNumbers.format(found.details.length)} kinds of issues`));
  return box;
}

function advice(group) {
  return group.option ? element("p", { class: "wa-advice" }, element("code", {}, group.option), ` ${group.change}`) : null;
}

function failureLines(explorer, groups) {
  if (!groups.length || explorer.model.get("_content").told) return null;
  const failed = groups.reduce((sum, group) => sum + group.count, 0);
  const lines = groups.slice(0, 5).map((group) => element("li", {}, element("strong", {}, `${wholeNumbers.format(group.count)} × `), foreign(group.reason), advice(group)));
  return element("section", { class: "wa-failed", "aria-label": "Failures" }, element("h4", {}, `Failures (${counted(failed, "URL")})`), element("ul", {}, lines),
    element("button", { type: "button", class: "wa-button wa-more", onclick: () => explorer.show("failures") }, "Show the URLs"));
}

// Of which site this is, and what is to be known before the rest.
function headLines({ site, notes }) {
  const lines = notes.map((note) => foreign(note, "p", { class: "wa-warned", role: "note" }));
  return site ? [element("h3", { class: "wa-site" }, "Audit of ", foreign(site)), ...lines] : lines;
}

// What the rules say comes from the kernel a moment later, or when somebody asks for it.
function drawFirst(explorer) {
  const { found, lookedFor } = explorer;
  const { issues, summary } = { issues: explorer.model.get("_content").issues, summary: explorer.summary };
  const figures = summary.figures.map(([name, value, note]) => tile(name, value, note, name === "Failed" && value !== "0" ? "wa-tile-failed" : ""));
  const tiles = (items, label) => element("ul", { class: "wa-tiles", "aria-label": label }, items);
  const boxes = [];
  const failed = summary.failures.reduce((sum, group) => sum + group.count, 0);
  if (failed && failed === explorer.store.total) {
    const note = element("p", { class: "wa-note" }, "No page could be read, so there is nothing to judge.");
    explorer.firstBox.replaceChildren(...headLines(explorer.head), ...[failureLines(explorer, summary.failures)].filter(Boolean), note, tiles(figures, "Key figures"));
    return;
  }
  if (found) boxes.push(tiles(issueTiles(found), "Issues by priority"), fixFirst(explorer, found));
  else if (issues.there) {
    const ask = element("button", { type: "button", class: "wa-button", onclick: () => explorer.look() }, "Look for issues");
    const waiting = lookedFor ? element("p", { class: "wa-note", role: "status" }, explorer.trouble || "Looking for issues …") : null;
    boxes.push(element("section", { class: "wa-first", "aria-label": "Fix first" }, element("h4", {}, "Fix first"), waiting ?? element("p", {}, ask, element("span", { class: "wa-note" }, " takes a while for so many pages"))));
  }
  explorer.firstBox.replaceChildren(...headLines(explorer.head), ...boxes, ...[failureLines(explorer, summary.failures)].filter(Boolean), tiles(figures, "Key figures"));
}

function drawOverview(explorer, panel) {
  explorer.firstBox = element("div", { class: "wa-overview" });
  const drawn = explorer.summary.bars.filter(({ rows }) => rows.length).map(({ title, key, rows }) => element("section", { class: "wa-chart" }, element("h4", {}, title),
    bars(rows, "Show these pages", key ? (value) => explorer.showPages({ [key]: value }) : null)));
  panel.replaceChildren(explorer.firstBox, element("div", { class: "wa-columns" }, drawn));
  drawFirst(explorer);
}
