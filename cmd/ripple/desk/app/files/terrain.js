// Terrain: the shards of a terrain of several machines, and what they wait for.

import { el, put, chip, copier } from "./dom.js";
import { listen } from "./live.js";
import { quick } from "./control.js";
import { heading, section, figure, table, empty, loading, failed } from "./parts.js";
import { number, count, span, clock, moment, percent } from "./words.js";

const tints = { running: "good", over: "calm", waiting: "calm", paused: "warm", stopping: "warm", silent: "bad",
  "nobody has it": "bad", "no file yet": "warm" };

export function show(view, said, signal) {
  const sentence = el("p", { class: "sentence", "aria-live": "off" }), meta = el("p", { class: "soft meta" }),
    problem = el("div", {}), buttons = el("div", { class: "buttons" }), figures = el("div", { class: "figures" }), notes = el("div", { class: "notes" }),
    shards = el("div", { class: "shards" }), map = el("div", {});
  put(view, el("h1", { class: "hidden", tabindex: "-1" }, "Terrain"), el("header", { class: "hero" }, sentence, meta, buttons),
    problem, figures, section("Waiting", null, notes), section("Shards", null, shards), map);
  let merge = "", able = null;
  listen(({ status: s, line }) => {
    if (line && line !== true) { if (!s) put(problem, failed(line)); return; }
    if (!s) { put(sentence, loading("Loading the status…")); return; }
    put(problem);
    if (merge !== s.unite) { merge = s.unite; put(map, whole(merge)); }
    const t = s.terrain;
    put(sentence, s.condition.headline);
    if (able !== String(s.condition.commands)) {
      able = String(s.condition.commands);
      put(buttons, quick(s, problem, signal));
    }
    if (!t) return;
    put(meta, [count(t.shards.length, "shard"), " on ", count(t.nodes.length, "machine"), " · terrain ",
      t.terrain.slice(0, 8), " at ", el("span", { class: "name" }, t.hub)]);
    put(figures, figuresOf(s, t));
    put(notes, s.notes.length ? el("ul", { class: "plain-list" }, s.notes.map(note))
      : empty("No shard is waiting for another."));
    put(shards, rows(t.shards));
  }, signal);
}

function figuresOf(s, t) {
  const known = t.pages_requested + t.pages_to_visit, left = t.not_counted ? `without ${count(t.not_counted, "shard")}` : null;
  return [figure("pages requested", number(t.pages_requested),
    left || (known ? percent(t.pages_requested, known) + " of the pages known so far" : null)),
    figure("pages to visit", number(t.pages_to_visit), left), figure("pages / s", s.condition.fetches ? number(s.pages_per_second) : "–"),
    figure("shards that answer", `${number(t.shards.length - t.silent)} of ${number(t.shards.length)}`),
    figure("machines", number(t.nodes.length))];
}

function note(n) {
  return el("li", {}, n.text, n.since &&
    el("span", { class: "soft", title: moment(n.since) }, ` (since ${clock(n.since)})`));
}

function rows(shards) {
  const told = (f) => (one) => one.status ? f(one.status) : "–";
  return table([{ title: "shard", class: "num", cell: (one) => number(one.shard) },
    { title: "state", cell: (one) => chip(one.state, Object.hasOwn(tints, one.state) ? tints[one.state] : "calm") },
    { title: "requested", class: "num", cell: (one) => one.pages_requested === null ? "–" : number(one.pages_requested) },
    { title: "to visit", class: "num", cell: told((s) => number(s.pages_to_visit)) },
    { title: "pages / s", class: "num", cell: told((s) => number(s.pages_per_second)) },
    { title: "ETA", class: "num", cell: told((s) => s.eta_seconds > 0 ? span(s.eta_seconds) : "–") },
    { title: "URLs to send", class: "num",
      cell: (one) => one.untold.length ? number(one.untold.reduce((n, b) => n + b.urls, 0)) : "–" },
    { title: "waited for by", cell: (one) => one.asked_by.length ? one.asked_by.map(number).join(", ") : "–" },
    { title: "silent", cell: (one) => one.silent_since
      ? el("span", { title: moment(one.silent_since) }, "since " + clock(one.silent_since)) : "–" },
    { title: "machine", cell: (one) => one.node || "–" }], shards, { most: 256 });
}

// whole explains how to get the whole map, of which each machine has a part.
export function whole(merge) {
  return section("The map", "is in parts, on all machines",
    el("p", { class: "lead" }, "Hosts, pages, paths, SQL, files and the picture of the graph need one map of all " +
      "shards. Merge the folders of all machines, even while they crawl, and serve the result:"),
    el("pre", { class: "merge" }, el("code", {}, merge + "\nripple serve --state terrain.bolt")),
    copier(merge, "Copy the first line"));
}
