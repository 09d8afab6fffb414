// Ask: one read-only SQL query at a time.

import { ask, askFresh } from "./api.js";
import { el, put, keep, button, hostLink, pageLink, save, csv } from "./dom.js";
import { heading, section, empty, failed, loading, table, tellAge, choice } from "./parts.js";
import { number, count, span } from "./words.js";

const examples = [
  ["Which hosts matter most?", `SELECT domain, class, in_degree, round(trust, 4) AS trust
FROM host_metrics JOIN hosts ON id = host_id
ORDER BY host_metrics.trust DESC LIMIT 20`],
  ["Where is coverage missing?", `SELECT domain, coverage, pages_known, pages_visited, known_missing
FROM hosts WHERE known_missing > 0
ORDER BY known_missing DESC`],
  ["Which hosts does only one origin link to?", `SELECT t.domain, min(d.quality_origin) AS origin, count(*) AS links
FROM page_depths d JOIN links l ON l.from_page_id = d.page_id JOIN pages t ON t.id = l.to_page_id
WHERE d.depth = 0 AND t.class = 'discovered'
GROUP BY 1 HAVING count(DISTINCT d.quality_origin) = 1
ORDER BY 3 DESC, 1`],
  ["Which pages does no page link to?", `SELECT url, title FROM pages p
WHERE state = 'processed' AND NOT EXISTS (SELECT 1 FROM links WHERE to_page_id = p.id)`],
  ["What failed, and why?", `SELECT error_message, count(*) AS pages, min(url) AS example
FROM pages WHERE state IN ('failed', 'unreachable', 'dead_link')
GROUP BY 1 ORDER BY 2 DESC`],
  ["Which titles occur more than once?", `SELECT title, count(*) AS pages, min(url) AS example
FROM pages WHERE title <> ''
GROUP BY 1 HAVING count(*) > 1
ORDER BY 2 DESC`],
];

export function show(view, said, signal) {
  const box = el("div", { class: "answer" }), time = el("span", { class: "soft", role: "status" }),
    tables = el("div", { class: "tables" });
  const text = el("textarea", { class: "sql", rows: "6", spellcheck: "false", autocapitalize: "none",
    "aria-label": "SQL", placeholder: "SELECT …" });
  text.value = said.sql || examples[0][1];
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
  put(view, heading("Ask"), el("div", { class: "asking" },
    el("div", {}, text, el("div", { class: "filters" },
      button("Ask", run, { class: "button main", title: "Ctrl+Enter" }),
      choice("metrics by links", [["text", "in the text"], ["all", "all"]], links, (next) => { links = next; run(); }),
      time), box),
    el("aside", {}, section("Examples", null, el("ul", { class: "plain-list" },
      examples.map(([name, sql]) => el("li", {}, button(name, () => take(sql), { class: "link" }))))),
      section("Tables", null, tables))));
  showTables(tables, text, signal);
  if (said.sql) run();
}

function rows({ columns, rows: list }) {
  if (!list.length) return empty("No rows.");
  const cut = list.map((row) => (Array.isArray(row) ? row : columns.map((c) => row[c])));
  return [table(columns.map((name, i) => ({ title: name,
    class: cut.every((row) => typeof row[i] === "number" || row[i] === null) ? "num" : "",
    cell: (row) => value(name, row[i]) })), cut, { most: 200 }),
    button("CSV", () => save(csv(columns, cut), "answer.csv", "text/csv"), { class: "button rest" })];
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
