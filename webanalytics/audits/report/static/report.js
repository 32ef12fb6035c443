// Filter, sort, deep links and keys.

const dialog = byId("card");

function apply() {
  runFilter();
  drawRules();
  drawPages();
  const issues = issueOn.reduce((sum, on) => sum + on, 0);
  const all = data.missing ? several("{n} address", "{n} addresses", size) : several("{n} page", "{n} pages", size);
  const shown = filtered() ? partOf(state.order.length, all) : all;
  byId("matches").textContent = `${shown}, ${several("{n} issue", "{n} issues", issues)}`;
}

/** Show the card of a page over the report. */
function openCard(row) {
  const step = (label, by) => {
    const place = state.order.indexOf(row);
    const next = place < 0 ? undefined : state.order[place + by];
    const button = el("button", { type: "button", disabled: next === undefined }, label);
    button.addEventListener("click", () => {
      history.replaceState(null, "", `#page-${next + 1}`);
      openCard(next);
    });
    return button;
  };
  const close = el("button", { type: "button", class: "close" }, say("Close"));
  close.addEventListener("click", () => dialog.close());
  const tools = el("span", { class: "tools" }, step(say("Previous"), -1), step(say("Next"), 1), close);
  dialog.replaceChildren(card(row, "h2", tools, "card-title"));
  if (!dialog.open) dialog.showModal();
  dialog.scrollTop = 0;
  byId("card-title").focus({ preventScroll: true });
}

function openRule(name) {
  const place = data.rules.findIndex((rule) => rule.name === name);
  const details = document.querySelector(`details.rule[data-rule="${place}"]`);
  if (!details) return;
  if (details.hidden) {
    form.reset();
    apply();
  }
  details.open = true;
  if (!details.dataset.drawn) drawRule(details);
  details.scrollIntoView();
  details.querySelector("summary").focus({ preventScroll: true });
}

/** Go where the address points: #page-12, #rule-title_missing, or a heading. */
function follow() {
  let target = location.hash.slice(1);
  try {
    target = decodeURIComponent(target);
  } catch {
    return;
  }
  const page = /^page-(\d+)$/.exec(target);
  if (page && Number(page[1]) >= 1 && Number(page[1]) <= size) {
    openCard(Number(page[1]) - 1);
    return;
  }
  if (dialog.open) dialog.close();
  if (target.startsWith("rule-")) openRule(target.slice(5));
}

dialog.addEventListener("close", () => {
  if (location.hash.startsWith("#page-")) history.replaceState(null, "", "#pages");
});
dialog.addEventListener("click", (event) => {
  if (event.target === dialog) dialog.close();
  // a link to where the address points already changes nothing that could be followed
  else if (event.target.closest("a")?.hash === location.hash) follow();
});
window.addEventListener("hashchange", follow);

let waiting = 0;
form.addEventListener("input", () => {
  clearTimeout(waiting);
  waiting = setTimeout(apply, 120);
});
form.addEventListener("submit", (event) => event.preventDefault());
form.addEventListener("reset", () => {
  clearTimeout(waiting);
  waiting = setTimeout(apply, 0);
});

document.addEventListener("click", (event) => {
  const button = event.target.closest("button");
  if (!button) {
    const again = event.target.closest("a");
    if (again?.hash && again.hash === location.hash && !dialog.contains(again)) follow();
  } else if (button.dataset.sort) {
    const key = button.dataset.sort;
    sortBy(key);
    document.querySelector(`[data-sort="${key}"]`)?.focus();
  } else if (button.dataset.view) {
    state.view = button.dataset.view;
    drawPages();
  } else if (button.classList.contains("set")) {
    setFilter({ ...button.dataset });
    clearTimeout(waiting);
    apply();
    byId(button.dataset.priority ? "issues" : "pages").scrollIntoView();
    form.elements.text.focus({ preventScroll: true });
  }
});

byId("sort").append(...ORDERS.map(({ key, label }) => el("option", { value: key }, label)));
byId("sort").addEventListener("change", (event) => sortBy(event.target.value));
byId("direction").addEventListener("click", () => {
  state.down = !state.down;
  drawPages();
});

for (const details of document.querySelectorAll("details.rule")) {
  details.addEventListener("toggle", () => {
    if (details.open && !details.dataset.drawn) drawRule(details);
  });
}
for (const details of document.querySelectorAll("details.change")) {
  details.addEventListener("toggle", () => {
    if (details.open) drawChange(details);
  });
  if (details.open) drawChange(details);
}

// On paper every rule shows the first of its pages, every change the first of its rows; in an appendix all of them.
const opened = [];
const changes = data.appendix ? "details.change" : ":not(.chapter) > details.change";
const redraw = (details) => (details.matches(".rule") ? drawRule(details) : drawChange(details));
window.addEventListener("beforeprint", () => {
  paper.on = true;
  for (const details of document.querySelectorAll(`details.rule:not([hidden]), ${changes}`)) {
    if (!details.open) opened.push(details);
    details.open = true;
    redraw(details);
  }
  if (data.appendix) drawPages();
});
window.addEventListener("afterprint", () => {
  paper.on = false;
  document.querySelectorAll("details.rule[open], details.change[open]").forEach(redraw);
  for (const details of opened.splice(0)) details.open = false;
  drawPages();
});

// Tables that are wider than their place say so.
const wide = new ResizeObserver((entries) => {
  for (const { target } of entries) {
    const place = target.parentElement;
    place?.classList.toggle("wider", target.offsetWidth > place.clientWidth + 1);
    if (place) place.dataset.hint = say("Scroll sideways for more");
  }
});
function watchTables() {
  for (const table of document.querySelectorAll(".scroll > table")) wide.observe(table);
}
new MutationObserver(watchTables).observe(document.querySelector("main"), { childList: true, subtree: true });
watchTables();

// Names of languages, from the browser.
const names = new Intl.DisplayNames(data.language, { type: "language", fallback: "none" });
function languageName(code) {
  try {
    return names.of(code);
  } catch {
    return undefined; // not the code of any language
  }
}
for (const place of document.querySelectorAll("[data-language]:not(button)")) {
  const name = languageName(place.dataset.language);
  if (name) place.textContent = `${name} (${place.textContent})`;
}
for (const option of form.elements.language?.options ?? []) {
  const name = option.value && languageName(option.value);
  if (name) option.textContent = option.textContent.replace(option.value, () => name);
}

apply();
follow();
performance.mark("report-ready");
requestAnimationFrame(() => setTimeout(() => performance.mark("report-shown"), 0));
