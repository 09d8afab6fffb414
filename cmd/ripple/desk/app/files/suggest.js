// Suggest: hosts worth adding, with the evidence and the block to paste.

import { ask } from "./api.js";
import { el, put, chip, hostLink, pageLink, copier, address } from "./dom.js";
import { heading, empty, fetched, choice } from "./parts.js";
import { number, count, coverColour } from "./words.js";

export function show(view, said, signal) {
  const box = el("div", {}), least = said.min_origins || "";
  const choose = (value) => { location.hash = address("suggest", { min_origins: value }); };
  put(view, heading("Suggest", el("span", { class: "soft" }, "by how many different origins link there")),
    el("div", { class: "filters" }, choice("linked from",
      [["", "any origin"], ["2", "2 origins or more"], ["3", "3 origins or more"], ["5", "5 origins or more"]], least,
      choose)), box);
  fetched(box, () => ask("suggest", { said: { min_origins: least, limit: 200 }, signal }), draw, signal);
}

function draw(found) {
  const { discovered, stubs, origins } = found;
  if (!discovered.length && !stubs.length) return empty("Nothing is linked from as many origins.");
  return [el("ol", { class: "candidates" }, discovered.map((c, i) => candidate(c, i + 1, origins))),
    stubs.length > 0 && [el("h2", {}, "Stubs", el("span", { class: "soft" }, "never visited, and cited all the same")),
      el("ol", { class: "candidates" }, stubs.map((c, i) => candidate(c, i + 1, origins)))]];
}

function candidate(c, rank, origins) {
  const name = /[/]/.test(c.entity) ? el("span", { class: "name" }, c.entity) : hostLink(c.entity);
  return el("li", { class: "block candidate" },
    el("div", { class: "rank num", "aria-hidden": "true" }, rank),
    el("div", { class: "evidence" }, el("h3", {}, name), c.title && el("p", { class: "title" }, c.title),
      el("p", { class: "chips" }, chip(`${number(c.origins)} of ${count(origins, "origin")}`, "class-quality"),
        chip(count(c.links, "link")), chip(count(c.pages, "page") + " known"),
        chip("PageRank " + c.pagerank.toPrecision(3)),
        c.coverage && chip(c.coverage, coverColour(c.coverage)),
        c.known_missing > 0 && chip(number(c.known_missing) + " missing", "warm")),
      el("ul", { class: "citing" }, c.linked_from.map(citing))),
    c.block && el("div", { class: "paste" }, el("pre", { tabindex: "0" }, el("code", {}, c.block)),
      copier(c.block + "\n", "Copy block")));
}

function citing(o) {
  const parts = [o.editorial > 0 && count(o.editorial, "link") + " in the text",
    o.elsewhere > 0 && number(o.elsewhere) + " elsewhere",
    o.sitewide > 0 && number(o.sitewide) + " site-wide"].filter(Boolean);
  return el("li", {}, el("b", {}, o.quality_origin), " ", el("span", { class: "soft" }, parts.join(", ")),
    el("span", { class: "via" }, pageLink(o.from_url), " → ", pageLink(o.to_url), o.anchor && el("q", {}, o.anchor),
      o.place && el("span", { class: "soft" }, o.place)));
}
