// Hosts: all of them, by search, order, class, coverage, reason and tag.

import { ask, wordsOf } from "./api.js";
import { el, put, address, keep, hostLink, tagLink, chip, removable } from "./dom.js";
import { makeGrid, totalText } from "./grid.js";
import { heading, choice, failed } from "./parts.js";
import { number, milliseconds, coverColour, classColour } from "./words.js";

const rest = 200; // ms without a key stroke before the search starts

const columns = [
  { name: "domain", title: "host", sort: "domain", class: "name",
    cell: (h) => [hostLink(h.domain, h.domain_shown), h.tags.map((tag) => [" ", tagLink(tag)]),
      (h.note || h.title) && el("span", { class: "soft title", title: h.note }, h.note || h.title)] },
  { name: "class", title: "class", sort: "class", class: "class", cell: (h) => chip(h.class, classColour(h.class)) },
  { name: "coverage", title: "coverage", sort: "coverage", class: "cover",
    cell: (h) => chip(h.coverage, coverColour(h.coverage), h.trouble || h.coverage) },
  { name: "visited", title: "visited", sort: "pages_visited", class: "num", cell: (h) => number(h.pages_visited) },
  { name: "known", title: "known", sort: "pages_known", class: "num", cell: (h) => number(h.pages_known) },
  { name: "missing", title: "missing", sort: "known_missing", class: "num less", cell: (h) => number(h.known_missing) },
  { name: "requests", title: "requests", sort: "requests", class: "num less", cell: (h) => number(h.requests) },
  { name: "delay", title: "delay", sort: "delay_ms", class: "num less", cell: (h) => milliseconds(h.delay_ms) },
  { name: "depth", title: "depth", sort: "min_depth", class: "num less",
    cell: (h) => (h.min_depth === null ? "–" : h.min_depth) },
];
const upward = ["domain", "class", "coverage", "min_depth"]; // first sorted in ascending order

export function show(view, said, signal) {
  const chosen = { search: "", class: "", cover: "", reason: "", tag: "", quality_origin: "", sort: "pages_known", desc: "1" };
  for (const name of Object.keys(chosen)) if (said[name] !== undefined) chosen[name] = said[name];
  if (said.sort) chosen.desc = said.desc || ""; // an address has no empty values
  const total = el("span", { class: "soft total", role: "status" }), place = el("div", { class: "grid-place" }),
    problem = el("div", {}), tags = el("span", { class: "choice-place" });
  const search = el("input", { type: "search", class: "search", placeholder: "Search hosts   /",
    "aria-label": "Search hosts", value: chosen.search, spellcheck: "false", autocapitalize: "none" });
  const renew = (changes) => { Object.assign(chosen, changes);
    keep("hosts", chosen, changes); build(); };
  let grids = new AbortController(), timer = 0, known = [];
  signal.addEventListener("abort", () => { grids.abort(); clearTimeout(timer); });
  search.addEventListener("input", () => { clearTimeout(timer);
    timer = setTimeout(() => renew({ search: search.value.trim() }), rest); });
  const offerTags = (all) => {
    const list = [...new Set([chosen.tag, ...all])].filter(Boolean).sort();
    if (list.length === known.length) return; // do not replace a list that may be in use
    known = list;
    put(tags, choice("tag", [["", "all"], ...list.map((tag) => [tag, tag])], chosen.tag, (tag) => renew({ tag })));
  };
  const build = () => {
    grids.abort();
    grids = new AbortController();
    put(total, "");
    put(problem);
    const fetchRows = async (offset, limit, question) => {
      const { data } = await ask("hosts", { said: { ...chosen, offset, limit }, signal: question });
      put(total, totalText(data.total, "host", "hosts"));
      offerTags(data.tags);
      return { total: data.total, rows: data.hosts };
    };
    const grid = makeGrid({ label: "Hosts", columns, fetchRows, signal: grids.signal,
      sorted: { name: chosen.sort, desc: chosen.desc === "1" },
      open: (h) => { location.hash = address("host/" + encodeURIComponent(h.domain)); },
      empty: () => (["search", "class", "cover", "reason", "tag", "quality_origin"].some((name) => chosen[name]) ? "No host is like that."
        : "No host is known yet."),
      onsort: (name) => renew({ sort: name, desc: chosen.sort === name ? (chosen.desc === "1" ? "" : "1")
        : upward.includes(name) ? "" : "1" }),
      failed: (error) => put(problem, failed(error, build)) });
    put(place, grid.element);
  };
  put(view, el("div", { class: "hosts" }, heading("Hosts", total),
    el("div", { class: "filters" }, search,
      choice("class", named("class"), chosen.class, (value) => renew({ class: value })),
      choice("coverage", named("cover"), chosen.cover, (cover) => renew({ cover })),
      choice("trouble", named("reason"), chosen.reason, (reason) => renew({ reason })), tags,
      chosen.quality_origin && removable(`origin ${chosen.quality_origin}`, (tag) => {
        tag.remove(); renew({ quality_origin: "" }); })), problem, place));
  build();
}

// named returns the values of a parameter as choices.
function named(name) { return [["", "all"], ...wordsOf("hosts", name).map((word) => [word, word])]; }
