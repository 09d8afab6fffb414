// Suggest: hosts worth adding, with the evidence, and decisions about them.

import { ask, offers } from "./api.js";
import { el, put, chip, hostLink, pageLink, copier, tagLink, address } from "./dom.js";
import { heading, section, table, empty, fetched, choice } from "./parts.js";
import { decideForm, decidedChip } from "./decide.js";
import { number, count, coverColour } from "./words.js";

export function show(view, said, signal) {
  const box = el("div", {}), least = said.min_origins || "";
  const choose = (value) => { location.hash = address("suggest", { min_origins: value }); };
  put(view, heading("Suggest", el("span", { class: "soft" }, "by how many different origins link there")),
    el("div", { class: "filters" }, choice("linked from",
      [["", "any origin"], ["2", "2 origins or more"], ["3", "3 origins or more"], ["5", "5 origins or more"]], least,
      choose)), box);
  fetched(box, async () => {
    const [found, decided] = await Promise.all([ask("suggest", { said: { min_origins: least, limit: 200 }, signal }),
      offers("decisions") ? ask("decisions", { signal }) : null]);
    return { age: found.age, data: { found: found.data, decided: decided && decided.data } };
  }, (data) => draw(data, signal), signal);
}

function draw({ found, decided }, signal) {
  const known = new Set(decided ? decided.decisions.map((d) => d.host) : []);
  const open = (list) => list.filter((c) => !known.has(c.domain)); // the snapshot may be older than a decision
  const discovered = open(found.discovered), stubs = open(found.stubs);
  const list = (all) => el("ol", { class: "candidates" }, all.map((c, i) => candidate(c, i + 1, found.origins,
    decided, signal)));
  return [decided && decided.reason && el("p", { class: "lead soft" },
    `Decisions can only be copied here: ${decided.reason}.`),
  discovered.length + stubs.length > 0 ? list(discovered) : empty("No other host is linked from that many origins."),
  stubs.length > 0 && [el("h2", {}, "Stubs", el("span", { class: "soft" }, "never visited, but linked to")),
    list(stubs)],
  decided && decided.decisions.length > 0 && section("Decided", `in ${decided.path}`, decisions(decided.decisions))];
}

function candidate(c, rank, origins, decided, signal) {
  const name = c.domain ? hostLink(c.domain, c.entity_shown || c.entity)
    : el("span", { class: "name" }, c.entity_shown || c.entity);
  return el("li", { class: "block candidate" },
    el("div", { class: "rank num", "aria-hidden": "true" }, rank),
    el("div", { class: "evidence" }, el("h3", {}, name), c.title && el("p", { class: "title" }, c.title),
      el("p", { class: "chips" }, chip(`${number(c.origins)} of ${count(origins, "origin")}`, "class-quality"),
        chip(count(c.links, "link")), chip(count(c.pages, "page") + " known"),
        chip("trust " + c.trust.toPrecision(3)),
        c.coverage && chip(c.coverage, coverColour(c.coverage)),
        c.known_missing > 0 && chip(number(c.known_missing) + " missing", "warm")),
      el("ul", { class: "citing" }, c.linked_from.map(citing))),
    el("div", { class: "verdict" },
      decided && c.domain && decideForm(c.domain, { seed: seedOf(c), signal }),
      c.block && (decided && c.domain ? el("details", { open: !decided.path },
        el("summary", {}, "As a [[quality]] entry"), block(c)) : block(c))));
}

// seedOf returns the page to begin at, if it is not the front page that answered.
function seedOf(c) { return c.answering_url && c.answering_url !== `https://${c.domain}/` ? c.answering_url : ""; }

function block(c) {
  return el("div", { class: "paste" }, el("pre", { tabindex: "0" }, el("code", {}, c.block)),
    copier(c.block + "\n", "Copy block"));
}

function citing(o) {
  const parts = [o.editorial > 0 && count(o.editorial, "endorsement"),
    o.elsewhere > 0 && number(o.elsewhere) + " elsewhere",
    o.sitewide > 0 && number(o.sitewide) + " site-wide"].filter(Boolean);
  return el("li", {}, el("b", {}, o.quality_origin), " ", el("span", { class: "soft" }, parts.join(", ")),
    el("span", { class: "via" }, pageLink(o.from_url), " → ", pageLink(o.to_url), o.anchor && el("q", {}, o.anchor),
      o.place && el("span", { class: "soft" }, o.place)));
}

// decisions lists those in the file. A decision is changed in the view of its host.
function decisions(list) {
  return table([{ title: "host", class: "name", cell: (d) => hostLink(d.host) },
    { title: "decided", cell: (d) => decidedChip(d.class) },
    { title: "tags", cell: (d) => (d.tags.length ? d.tags.map((tag) => [tagLink(tag), " "]) : "–") },
    { title: "note", cell: (d) => d.note || "–" }], list, { most: 50 });
}
