// Ask: one read-only SQL query at a time.

import { ask, askFresh } from "./api.js";
import { barChart } from "./chart.js";
import { el, put, keep, address, button, hostLink, pageLink, save, csv } from "./dom.js";
import { heading, section, empty, failed, loading, table, tellAge, choice } from "./parts.js";
import { number, count, span } from "./words.js";

const first = "SELECT state, count(*) AS pages FROM pages\nGROUP BY state ORDER BY pages DESC";
const place = "ripple-questions"; // in the storage of this browser

// saved returns the questions that this browser keeps, {name, sql, links}.
function saved() {
  try {
    const list = JSON.parse(localStorage.getItem(place));
    return Array.isArray(list) ? list.filter((q) => q && typeof q.name === "string" && typeof q.sql === "string") : [];
  } catch { return []; }
}

export function show(view, said, signal) {
  const box = el("div", { class: "answer" }), time = el("span", { class: "soft", role: "status" }),
    tables = el("div", { class: "tables" });
  const text = el("textarea", { class: "sql", rows: "6", spellcheck: "false", autocapitalize: "none",
    "aria-label": "SQL", placeholder: "SELECT …" });
  text.value = said.sql || first;
  let question = new AbortController(), links = said.links || "text";
  signal.addEventListener("abort", () => question.abort());
  const run = async () => {
    question.abort();
    question = new AbortController();
    const mine = question, begun = performance.now();
    keep("ask", { sql: text.value, links: links === "text" ? "" : links });
    put(box, loading("Running the query; it may take 30 s…"));
    put(time);
    try {
      const { data, age } = await ask("query", { body: { sql: text.value, links }, signal: mine.signal });
      put(box, rows(data));
      tellAge(age, () => askFresh(run));
      const took = span((performance.now() - begun) / 1000);
      put(time, count(data.rows.length, "row") + (data.more ? ", and more that are not shown" : "") + " in " + took);
    } catch (error) {
      if (error.name !== "AbortError") put(box, failed(error));
    }
  };
  text.addEventListener("keydown", (event) => { if (event.key === "Enter" &&
    (event.ctrlKey || event.metaKey)) { event.preventDefault(); run(); } });
  const take = (sql) => { text.value = sql; text.focus(); run(); };
  const own = el("div", { class: "saved" }), index = el("div", { class: "tables" });
  put(view, heading("Ask"), el("div", { class: "asking" },
    el("div", {}, text, el("div", { class: "filters" },
      button("Ask", run, { class: "button main", title: "Ctrl+Enter" }),
      choice("metrics by links", [["text", "in the text"], ["all", "all"]], links, (next) => { links = next; run(); }),
      time), box),
    el("aside", {}, section("Saved in this browser", null, own), section("Questions", null, index),
      section("Tables", null, tables))));
  showSaved(own, () => ({ sql: text.value, ...(links === "all" && { links }) }), take);
  showIndex(index, take, signal);
  showTables(tables, text, signal);
  if (said.sql) run();
}

function rows({ columns, rows: list }) {
  if (!list.length) return empty("No rows.");
  const cut = list.map((row) => (Array.isArray(row) ? row : columns.map((c) => row[c])));
  return [chartOf(columns, cut), table(columns.map((name, i) => ({ title: name,
    class: cut.every((row) => typeof row[i] === "number" || row[i] === null) ? "num" : "",
    cell: (row) => value(name, row[i]) })), cut, { most: 200 }),
    button("CSV", () => save(csv(columns, cut), "answer.csv", "text/csv"), { class: "button rest" })];
}

const mostBars = 40;

// chartOf draws names with numbers, where the answer is that. The table below it says the same.
function chartOf(columns, list) {
  const drawn = list.filter(([, n]) => typeof n === "number" && n >= 0);
  if (columns.length !== 2 || list.length < 2 || drawn.length < list.length || /(^|_)id$/.test(columns[1])) return null;
  return barChart(drawn.slice(0, mostBars).map(([name, n]) => [name === null ? "null" : String(name), n]),
    `${columns[1]} by ${columns[0]}`, list.length - mostBars);
}

// showSaved lists the saved questions. Each is a link, whose address can be sent. asked returns the present one. take
// asks one whose address is that of the view: such a link leads nowhere, and the text may have been edited.
function showSaved(element, asked, take) {
  const name = el("input", { class: "few wide", "aria-label": "Name of this question", placeholder: "Name",
    maxlength: "80" });
  const failure = el("p", { class: "soft", role: "status" });
  const store = (list) => {
    try {
      localStorage.setItem(place, JSON.stringify(list));
    } catch {
      failure.textContent = "This browser keeps nothing for this page; the address of the view can be kept instead.";
      return;
    }
    showSaved(element, asked, take);
  };
  const form = el("form", { class: "filters", onsubmit: (event) => {
    event.preventDefault();
    const title = name.value.trim();
    if (title) store([...saved().filter((q) => q.name !== title), { name: title, ...asked() }]);
    else name.focus();
  } }, name, el("button", { class: "button", type: "submit" }, "Save"));
  put(element, form, failure, el("ul", { class: "plain-list" }, saved().map((q) => el("li", {},
    savedLink(q, take), " ",
    button("×", () => store(saved().filter((one) => one.name !== q.name)),
      { class: "link", "aria-label": "Delete " + q.name })))));
}

function savedLink(q, take) {
  const href = address("ask", { sql: q.sql, links: q.links === "all" ? "all" : "" });
  return el("a", { href, title: q.sql, onclick: (event) => {
    if (location.hash !== href) return;
    event.preventDefault();
    take(q.sql);
  } }, q.name);
}

// showIndex lists the built-in questions by who usually asks them.
async function showIndex(element, take, signal) {
  try {
    const list = await (await fetch("app/questions.json", { signal })).json();
    const personas = [...new Set(list.map((q) => q.persona))];
    put(element, personas.map((persona, i) => el("details", { open: i === 0 }, el("summary", {}, persona),
      el("ul", { class: "plain-list" }, list.filter((q) => q.persona === persona).map((q) =>
        el("li", {}, button(q.asks, () => take(q.sql), { class: "link" })))))));
  } catch (error) {
    if (error.name !== "AbortError") put(element, failed(error));
  }
}

function value(name, v) {
  if (v === null) return el("span", { class: "soft" }, "null");
  if (name === "domain") return hostLink(v);
  if (typeof v === "string" && /^https:\/\//.test(v) && /url|example|page/.test(name)) return pageLink(v);
  return typeof v === "number" && Number.isInteger(v) && !/id|run|status|year/.test(name) ? number(v) : String(v);
}

// showTables lists the tables, from the text that creates them.
async function showTables(element, text, signal) {
  try {
    const answer = await fetch("app/schema.sql", { signal });
    put(element, readSchema(await answer.text()).map(({ name, comment, columns }) => el("details", {},
      el("summary", { title: comment }, name),
      el("ul", { class: "plain-list" }, columns.map((c) => el("li", {},
        button(c.name, () => insert(text, c.name), { class: "link", title: c.comment }),
        el("span", { class: "soft" }, " " + c.comment)))))));
  } catch (error) {
    if (error.name !== "AbortError") put(element, failed(error));
  }
}

function insert(text, name) {
  text.setRangeText(name, text.selectionStart, text.selectionEnd, "end");
  text.focus();
}

// readSchema returns the tables of a script of CREATE statements, one column a line.
function readSchema(script) {
  const tables = [];
  let comment = [], current = null;
  for (const line of script.split("\n")) {
    const begin = line.match(/^CREATE TABLE (\w+) \(/), column = line.match(/^\s+(\w+)\s+[A-Z]+[^-]*(?:--\s*(.*))?$/);
    if (begin) tables.push(current = { name: begin[1], comment: comment.join(" "), columns: [] });
    else if (current && column && !/^(PRIMARY|FOREIGN|UNIQUE|CHECK)$/.test(column[1])) current.columns.push(
      { name: column[1], comment: column[2] || "" });
    if (/^\)/.test(line)) current = null;
    comment = line.startsWith("--") ? [...comment, line.slice(2).trim()] : [];
  }
  return tables;
}
