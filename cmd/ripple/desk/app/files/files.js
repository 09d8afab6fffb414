// Files: every export, made on request.

import { ask, offers } from "./api.js";
import { el, put, chip, button } from "./dom.js";
import { heading, section, empty, failed, loading, table, choice } from "./parts.js";
import { meter } from "./chart.js";
import { bytes, span } from "./words.js";

const look = 1000; // ms between two reads of the progress
const tints = { waiting: "calm", writing: "accent", done: "good", failed: "bad" };
const levels = [["host", "hosts"], ["site", "sites"], ["entity", "entities"], ["page", "pages"]];
const places = ["main", "body", "aside", "header", "footer", "nav", "sitewide"];
const kinds = ["anchor", "canonical", "redirect", "frame", "refresh", "feed", "me", "blogroll"];
const classes = ["quality", "discovered", "stub", "blacklist"];

export function show(view, said, signal) {
  const made = el("div", {}), problem = el("div", {}), offers = el("ul", { class: "offers" });
  const chosen = { level: "host" }; // of graphs
  let timer = 0, looks = 0;
  signal.addEventListener("abort", () => clearTimeout(timer));
  const attempt = async (what) => {
    put(problem);
    try { await what(); } catch (error) { if (error.name !== "AbortError") put(problem, failed(error)); }
  };
  const renew = async () => {
    clearTimeout(timer);
    const mine = ++looks; // a later read replaces those under way
    try {
      const { data } = await ask("files", { signal });
      if (mine !== looks) return;
      if (!offers.children.length) put(offers, data.formats.map((format) => offer(format, chosen, order)));
      put(made, list(data.files, (file) => attempt(() => fetchFile(file, signal))));
      if (data.files.some((f) => f.status === "waiting" || f.status === "writing")) timer = setTimeout(renew, look);
    } catch (error) {
      if (error.name !== "AbortError" && mine === looks) put(made, failed(error, renew));
    }
  };
  const order = (body) => attempt(async () => { await ask("files", { body, signal }); await renew(); });
  put(view, heading("Files"), problem,
    section("Make a file", null, graphOptions(chosen, signal), offers), section("Made here", "kept until the desk stops", made));
  put(made, loading());
  renew();
}

// fetchFile gets a ticket and makes the browser fetch the file with it.
async function fetchFile(file, signal) {
  const { data } = await ask("tickets", { body: { path: "files/" + file.id }, signal });
  el("a", { href: "download/" + encodeURIComponent(data.ticket), download: file.name }).click();
}

function offer(format, chosen, order) {
  const body = () => ({ format: format.name, ...(format.graph ? chosen : {}) });
  return el("li", {}, el("b", {}, format.title), el("span", { class: "soft" }, format.for),
    button("Make", () => order(body()), { "aria-label": "Make " + format.title }));
}

// graphOptions returns the choices of what graphs leave out. They become part of the order.
function graphOptions(chosen, signal) {
  const runs = el("span", {});
  const drawRuns = (list) => put(runs, choice("run", [["", "the newest"], ["all", "all"],
    ...list.map((r) => [String(r.id), "#" + r.id])], chosen.run || "", (run) => take(chosen, "run", run)));
  drawRuns([]);
  ask("runs", { signal }).then(({ data }) => drawRuns(data.runs), () => { /* the newest and all are still offered */ });
  const weight = el("input", { type: "number", min: 0, max: 1000000, step: 1, value: 0, class: "few",
    "aria-label": "links of weight at least", oninput: () => take(chosen, "min_weight", weight.valueAsNumber || 0) });
  return el("div", {}, el("div", { class: "filters" },
    choice("nodes of graphs", levels, chosen.level, (level) => { chosen.level = level; }), runs,
    el("label", { class: "choice" }, el("span", { class: "soft" }, "links of weight at least"), weight)),
    el("details", { class: "further" }, el("summary", {}, "Leave out of graphs"),
      several("links at", places, (list) => take(chosen, "without", list)),
      several("all links but of kind", kinds, (list) => take(chosen, "kinds", list)),
      several("all nodes but", classes, (list) => take(chosen, "only", list))),
    offers("inlinks") && el("details", { class: "further" }, el("summary", {}, "Add to graphs"),
      several("hosts outside that link to origins", ["inlinks"], (list) => take(chosen, "with", list))));
}

// take sets a value, or removes it if it is empty.
function take(chosen, name, value) {
  if (value && value.length !== 0) chosen[name] = value; else delete chosen[name];
}

// several returns a group of check boxes.
function several(title, names, change) {
  const boxes = names.map((name) => el("input", { type: "checkbox", value: name,
    onchange: () => change(boxes.filter((box) => box.checked).map((box) => box.value)) }));
  return el("fieldset", { class: "several" }, el("legend", { class: "soft" }, title),
    boxes.map((box) => el("label", {}, box, box.value)));
}

function list(files, fetchOne) {
  if (!files.length) return empty("No file has been made yet.");
  return table([
    { title: "file", class: "name", cell: (f) => [f.name, el("span", { class: "soft" }, orderText(f.order))] },
    { title: "state", cell: (f) => [chip(f.status, tints[f.status]), progress(f),
      f.error_message && el("span", { class: "warn" }, " " + f.error_message)] },
    { title: "size", class: "num", cell: (f) => (f.bytes > 0 ? bytes(f.bytes) : "–") },
    { title: "took", class: "num", cell: (f) => (f.seconds > 0 ? span(f.seconds) : "–") },
    { title: "download", cell: (f) => f.status === "done" && button("Download", () => fetchOne(f),
      { "aria-label": "Download " + f.name }) },
  ], [...files].reverse());
}

// progress shows how much of the current step is done.
function progress({ step, percent }) {
  if (!step) return null;
  if (percent === null) return el("span", { class: "soft" }, " " + step);
  return [el("span", { class: "soft" }, ` ${step} ${percent} %`), meter(percent, 100, "accent", step + " done")];
}

function orderText(o) {
  return [o.level && " by " + o.level, o.run && " of " + (o.run === "all" ? "all runs" : "run #" + o.run),
    o.min_weight > 0 && " from weight " + o.min_weight, o.without && " without " + o.without.join(", "),
    o.kinds && " only links of kind " + o.kinds.join(", "), o.only && " only " + o.only.join(", "),
    o.with && " with " + o.with.join(", ")].filter(Boolean).join(",");
}
