// Files: every export, made when it is asked for.

import { ask } from "./api.js";
import { el, put, chip, button } from "./dom.js";
import { heading, section, empty, failed, loading, table, choice } from "./parts.js";
import { bytes, span } from "./words.js";

const look = 1000; // ms between two looks at what is being written
const tints = { waiting: "calm", writing: "accent", done: "good", failed: "bad" };
const formats = [ // name, title, what it is for, whether it is a graph
  ["sqlite", "SQLite", "every page, link and figure, for questions in SQL", false],
  ["summary", "Summary", "Markdown, to be cited", false],
  ["map", "Map", "one HTML file that opens without network", true],
  ["gexf", "GEXF", "opens finished in Gephi", true],
  ["graphml", "GraphML", "networkx, yEd", true],
  ["dot", "DOT", "Graphviz", true],
  ["csv", "CSV", "nodes and edges, for Gephi or Neo4j", true],
  ["jsonl", "JSON Lines", "a line a node and a link", true],
  ["parquet", "Parquet", "DuckDB and Spark", true],
];

export function show(view, said, signal) {
  const made = el("div", {}), problem = el("div", {});
  let timer = 0;
  signal.addEventListener("abort", () => clearTimeout(timer));
  const attempt = async (what) => {
    put(problem);
    try { await what(); } catch (error) { if (error.name !== "AbortError") put(problem, failed(error)); }
  };
  const renew = async () => {
    clearTimeout(timer);
    try {
      const { data } = await ask("files", { signal });
      put(made, list(data.files, (file) => attempt(() => fetchFile(file, signal))));
      if (data.files.some((f) => f.status === "waiting" || f.status === "writing")) timer = setTimeout(renew, look);
    } catch (error) {
      if (error.name !== "AbortError") put(made, failed(error, renew));
    }
  };
  const order = (body) => attempt(async () => { await ask("files", { body, signal }); await renew(); });
  put(view, heading("Files"), problem, offers(order), section("Made here", "kept until the desk ends", made));
  put(made, loading());
  renew();
}

// fetchFile buys a ticket and has the browser fetch the file with it.
async function fetchFile(file, signal) {
  const { data } = await ask("tickets", { body: { path: "files/" + file.id }, signal });
  el("a", { href: "download/" + encodeURIComponent(data.ticket), download: file.name }).click();
}

function offers(order) {
  let level = "host";
  const levels = [["host", "hosts"], ["site", "sites"], ["entity", "entities"], ["page", "pages"]];
  return section("Make a file", null,
    el("div", { class: "filters" }, choice("nodes of graphs", levels, level, (value) => { level = value; })),
    el("ul", { class: "offers" }, formats.map(([format, title, what, graph]) => el("li", {}, el("b", {}, title),
      el("span", { class: "soft" }, what),
      button("Make", () => order(graph ? { format, level } : { format }), { "aria-label": "Make " + title })))));
}

function list(files, fetchOne) {
  if (!files.length) return empty("Nothing was made yet.");
  return table([
    { title: "file", class: "name", cell: (f) => [f.name,
      f.order.level && el("span", { class: "soft" }, " by " + f.order.level)] },
    { title: "state", cell: (f) => [chip(f.status, tints[f.status]),
      f.error_message && el("span", { class: "warn" }, " " + f.error_message)] },
    { title: "size", class: "num", cell: (f) => (f.bytes > 0 ? bytes(f.bytes) : "–") },
    { title: "took", class: "num", cell: (f) => (f.seconds > 0 ? span(f.seconds) : "–") },
    { title: "", cell: (f) => f.status === "done" && button("Download", () => fetchOne(f),
      { "aria-label": "Download " + f.name }) },
  ], [...files].reverse());
}
