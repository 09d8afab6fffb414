// Pages: all of them, by search, filters and order, with the columns that are wanted. A list belongs to a snapshot,
// which it keeps until it is refreshed.

import { ask, askFresh, offers, wordsOf } from "./api.js";
import { el, put, address, keep, hostLink, pageLink, chip, button, removable, save, csv } from "./dom.js";
import { duplicatesLink } from "./duplicates.js";
import { makeGrid, totalText } from "./grid.js";
import { heading, choice, failed, state, tellAge } from "./parts.js";
import { number, milliseconds, moment, bytes, count, plain, classColour } from "./words.js";

const rest = 200; // ms without a key stroke before the search starts
const growing = 5000; // ms between two looks at the age of the snapshot
const written = 5000; // pages requested at a time for a CSV file
const filters = ["search", "state", "class", "status_code", "content_type", "depth", "answer", "error", "error_kind",
  "domain", "quality_origin", "progress", "run", "change"];
const progress = { visited: "visited, or kept from an earlier run", waiting: "waiting", missing: "missing" };
const changes = { came: "added", went: "removed", changed: "changed" };

// How values are shown, by the kind of their column: the class of a cell, its width, and the cell.
const kinds = {
  page: ["name", "minmax(200px, 2.6fr)", (url) => pageLink(url)],
  host: ["", "minmax(110px, 1fr)", (domain) => hostLink(domain)],
  state: ["state", "116px", (name) => state(name)],
  class: ["", "112px", (name) => chip(name, classColour(name))],
  number: ["num", "66px", number],
  milliseconds: ["num", "92px", milliseconds],
  bytes: ["num", "74px", bytes],
  time: ["num", "158px", (time) => moment(time).replace(" UTC", "")],
  text: ["", "minmax(110px, 1.3fr)", (text) => el("span", { title: text }, text)],
};

export function show(view, said, signal) {
  const chosen = Object.fromEntries([...filters, "from", "to", "sort", "desc", "columns"].map((name) => [name, said[name] || ""]));
  const total = el("span", { class: "soft total", role: "status" }), place = el("div", { class: "grid-place" }),
    problem = el("div", {}), selects = el("span", { class: "selects" }), picker = el("span", {}),
    csvPlace = el("span", {});
  const search = el("input", { type: "search", class: "search", placeholder: "Search URLs and titles   /",
    "aria-label": "Search pages", value: chosen.search, maxlength: 250, spellcheck: "false", autocapitalize: "none" });
  const page = { chosen, total, place, problem, selects, picker, csvPlace, signal, snapshot: "", taken: NaN,
    choices: {}, offered: false, columns: null, grids: new AbortController() };
  let timer = 0;
  page.renew = (changes) => { Object.assign(chosen, changes); keep("pages", chosen, changes); build(page); };
  search.addEventListener("input", () => { clearTimeout(timer);
    timer = setTimeout(() => page.renew({ search: search.value.trim() }), rest); });
  const aging = setInterval(() => showAge(page), growing);
  signal.addEventListener("abort", () => { page.grids.abort(); clearTimeout(timer); clearInterval(aging); });
  put(view, el("div", { class: "pages" }, heading("Pages", total), el("div", { class: "filters" }, search, selects, picker,
    csvPlace, offers("duplicates") && duplicatesLink("", "Near-duplicates")), problem, place));
  build(page);
}

// build shows the pages that are chosen now, from the same snapshot. asking calls a question.
function build(page, asking = (question) => question()) {
  page.grids.abort();
  page.grids = new AbortController();
  put(page.total, "");
  put(page.problem);
  drawFilters(page);
  if (page.columns) drawGrid(page);
  else first(page, asking, page.grids.signal);
}

// first asks which columns there are, which the grid needs for its head.
async function first(page, asking, signal) {
  try {
    take(page, await asking(() => list(page, { limit: 0 }, signal)));
    drawGrid(page);
  } catch (error) {
    if (error.name !== "AbortError" && !signal.aborted) put(page.problem, failed(error, () => build(page)));
  }
}

// list asks for pages. A page is an object with the values of its columns.
async function list({ chosen, snapshot }, more, signal) {
  const wanted = chosen.columns && !chosen.columns.split(",").includes("url") ? "url," + chosen.columns : chosen.columns;
  const { data, age } = await ask("pages/list", { said: { ...chosen, columns: wanted, snapshot, ...more }, signal });
  return { ...data, age, rows: data.rows.map((row) => Object.fromEntries(data.chosen.map((name, i) => [name, row[i]]))) };
}

// take remembers which snapshot an answer is from.
function take(page, data) {
  if (page.snapshot !== data.snapshot) page.taken = data.age === null ? NaN : Date.now() - 1000 * data.age;
  Object.assign(page, { snapshot: data.snapshot, columns: data.columns });
  showAge(page);
}

function showAge(page) { tellAge((Date.now() - page.taken) / 1000, () => refresh(page)); }

// refresh lists the pages of a new snapshot.
function refresh(page) {
  Object.assign(page, { snapshot: "", columns: null, offered: false });
  build(page, askFresh);
}

// offer asks, once for a snapshot, for the values that pages can be filtered by. Rows come first.
async function offer(page) {
  if (page.offered) return;
  page.offered = true;
  try {
    const { data } = await ask("pages/list", { said: { limit: 0, choices: 1 }, signal: page.signal });
    page.choices = data.choices || {};
    drawFilters(page);
  } catch { /* the list says why */ }
}

// drawFilters shows the filters, and does not replace one that is in use.
function drawFilters(page) {
  const { chosen, choices, renew } = page, field = (name) => (value) => renew({ [name]: value });
  const pick = (label, name, values, text = (value) => value) => choice(label, [["", "all"],
    ...[...new Set([...values.map(String), chosen[name]])].filter(Boolean).map((value) => [value, text(value)])],
  chosen[name], field(name));
  const tag = (name, text) => chosen[name] && removable(text,
    () => renew({ [name]: "", ...(name === "change" && { from: "", to: "" }) }));
  const used = page.selects.contains(document.activeElement) && document.activeElement.getAttribute("aria-label");
  put(page.selects, pick("state", "state", wordsOf("pages/list", "state"), plain),
    pick("class", "class", wordsOf("pages/list", "class")),
    pick("status", "status_code", ["2xx", "3xx", "4xx", "5xx", ...(choices.status_code || []), "none"]),
    pick("type", "content_type", [...(choices.content_type || []), "none"]), pick("depth", "depth", choices.depth || []),
    pick("answer", "answer", wordsOf("pages/list", "answer"), plain), pick("error", "error", choices.error || []), tag("error_kind", "errors of the run: " + plain(chosen.error_kind)),
    tag("domain", "host " + chosen.domain), tag("quality_origin", "origin " + chosen.quality_origin),
    tag("progress", progress[chosen.progress] || chosen.progress),
    tag("change", `${changes[chosen.change] || chosen.change} between runs #${chosen.from || "?"} and #${chosen.to || "?"}`),
    tag("run", "requested in run #" + chosen.run));
  const again = used && page.selects.querySelector(`[aria-label="${CSS.escape(used)}"]`);
  if (again) again.focus({ preventScroll: true });
}

function drawGrid(page) {
  const { chosen, columns, grids } = page, names = chosen.columns.split(",").filter(Boolean);
  const shown = columns.filter((c) => c.name === "url" || (names.length ? names.includes(c.name) : c.usual));
  const kindOf = (c) => (Object.hasOwn(kinds, c.kind) ? kinds[c.kind] : kinds.text);
  const cell = (c) => ({ [c.name]: value }) => (value === null || value === undefined || value === "" ? "–"
    : kindOf(c)[2](value));
  const grid = makeGrid({ label: "Pages", signal: grids.signal,
    columns: shown.map((c) => ({ name: c.name, title: c.title, sort: c.name, class: `${kindOf(c)[0]} of-${c.name}`,
      wide: kindOf(c)[1], cell: cell(c) })),
    fetchRows: async (offset, limit, signal) => {
      const data = await list(page, { offset, limit }, signal);
      take(page, data);
      offer(page);
      put(page.total, totalText(data.total, "page", "pages"), !data.whole && " so far: the search took too long");
      return { total: data.total, rows: data.rows };
    },
    sorted: { name: chosen.sort, desc: chosen.desc === "1" },
    open: (p) => { location.hash = address("page", { url: p.url }); },
    empty: () => (chosen.error_kind ? "No page has this error now: a later request got another answer."
      : filters.some((name) => chosen[name]) ? "No page is like that." : "No page is known yet."),
    onsort: (name) => page.renew({ sort: name, desc: chosen.sort === name && chosen.desc !== "1" ? "1" : "" }),
    failed: (error) => put(page.problem, failed(error, () => (error.code === 410 ? refresh(page) : build(page)),
      error.code === 410 ? "Refresh" : undefined)) });
  put(page.place, grid.element);
  if (!page.picker.querySelector("details")) put(page.picker, picking(page));
  put(page.csvPlace, button("CSV", (event) => write(page, shown.map((c) => c.name), event.target)));
}

// picking chooses columns. The URL always stays.
function picking(page) {
  const { chosen, columns } = page, names = chosen.columns.split(",").filter(Boolean);
  const boxes = columns.map((c) => el("input", { type: "checkbox", value: c.name, disabled: c.name === "url",
    checked: c.name === "url" || (names.length ? names.includes(c.name) : c.usual) }));
  const choose = () => {
    const some = columns.filter((c, i) => boxes[i].checked), usual = columns.every((c, i) => boxes[i].checked === c.usual);
    page.renew({ columns: usual ? "" : some.map((c) => c.name).join(",") });
  };
  return el("details", { class: "picker" }, el("summary", { class: "button" }, "Columns"),
    el("div", { class: "card", role: "group", "aria-label": "Columns", onchange: choose },
      columns.map((c, i) => el("label", {}, boxes[i], " ", c.title))));
}

// write saves all pages that match as CSV, in their order and with their columns.
async function write(page, names, pressed) {
  const parts = [], signal = page.grids.signal;
  pressed.disabled = true;
  try {
    for (let offset = 0, whole = 1; offset < whole; offset += written) {
      const data = await list(page, { offset, limit: written }, signal);
      whole = data.total;
      parts.push(csv(offset ? null : names, data.rows.map((row) => names.map((name) => row[name]))));
      pressed.textContent = `${number(Math.min(offset + written, whole))} of ${count(whole, "page")}`;
    }
    save(parts, "pages.csv", "text/csv");
  } catch (error) {
    if (error.name !== "AbortError") put(page.problem, failed(error));
  }
  pressed.disabled = false;
  pressed.textContent = "CSV";
}
