// Files: every export, made when it is asked for.

import { ask } from "./api.js";
import { el, put, chip, button } from "./dom.js";
import { meter } from "./chart.js";
import { heading, section, empty, failed, loading, table, choice } from "./parts.js";
import { ago, bytes, percent } from "./words.js";

const look = 1000; // ms between two looks at what is being made
const tints = { running: "accent", done: "good", failed: "bad" };
const words = {
  sqlite: ["SQLite", "every page, link and figure, for questions in SQL"], gexf: ["GEXF", "opens finished in Gephi"],
    graphml: ["GraphML", "networkx, yEd"], dot: ["DOT", "Graphviz"],
    csv: ["CSV", "nodes and edges, for Gephi or Neo4j"],
  jsonl: ["JSON Lines", "a line a node and a link"], parquet: ["Parquet", "DuckDB and Spark"],
  map: ["Map", "one HTML file that opens without network"], summary: ["Summary", "Markdown, to be cited"],
};
const graphs = ["gexf", "graphml", "dot", "csv", "jsonl", "parquet", "map"];

export function show(view, said, signal) {
  const made = el("div", {}), problem = el("div", {}), offer = el("div", {});
  put(view, heading("Files"), problem, offer, section("Made here", "kept until the desk ends", made));
  put(made, loading());
  let timer = 0, offered = false;
  signal.addEventListener("abort", () => clearTimeout(timer));
  const renew = async () => {
    clearTimeout(timer);
    try {
      const { data } = await ask("files", { signal });
      if (!offered) { offered = true; put(offer, offers(data.formats, make)); }
      put(made, list(data.files, fetchFile));
      if (data.files.some((f) => f.state === "running")) timer = setTimeout(renew, look);
    } catch (error) {
      if (error.name !== "AbortError") put(made, failed(error, renew));
    }
  };
  const attempt = async (what) => {
    put(problem);
    try { await what(); } catch (error) { if (error.name !== "AbortError") put(problem, failed(error)); }
  };
  const make = (format, level) => attempt(async () => { await ask("files",
    { body: level ? { format, level } : { format }, signal }); await renew(); });
  const fetchFile = (file) => attempt(async () => {
    const { data } = await ask("tickets", { body: { path: "files/" + file.id }, signal });
    el("a", { href: "download/" + encodeURIComponent(data.ticket), download: file.name || "" }).click();
  });
  renew();
}

function offers(formats, make) {
  let level = "host";
  return section("Make a file", null, el("div", { class: "filters" },
    choice("level of graphs", [["host", "hosts"], ["site", "sites"], ["entity", "entities"], ["page", "pages"]], level,
    (value) => { level = value; })),
    el("ul", { class: "offers" }, formats.map((format) => {
      const [name, more] = Object.hasOwn(words, format) ? words[format] : [format, ""];
      return el("li", {}, el("b", {}, name), el("span", { class: "soft" }, more),
        button("Make", () => make(format, graphs.includes(format) ? level : ""), { "aria-label": "Make " + name }));
    })));
}

function list(files, fetchFile) {
  if (!files.length) return empty("Nothing was made yet.");
  return table([{ title: "file", class: "name", cell: (f) => f.name || f.format },
    { title: "state", cell: (f) => [chip(f.state, tints[f.state]),
    f.error && el("span", { class: "warn" }, " " + f.error)] },
    { title: "progress", class: "wide", cell: (f) => (f.state === "running" && f.done > 0
      ? [percent(f.done, 1), meter(f.done, 1, "accent", "made")] : f.state === "running" ? loading("Making it…")
      : "–") },
    { title: "size", class: "num", cell: (f) => (f.state === "done" ? bytes(f.bytes) : "–") },
    { title: "made", cell: (f) => ago(f.at) },
    { title: "", cell: (f) => f.state === "done" && button("Download", () => fetchFile(f),
      { "aria-label": "Download " + (f.name || f.format) }) }], files);
}
