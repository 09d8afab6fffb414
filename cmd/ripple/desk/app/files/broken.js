// Broken: links that lead nowhere, by origin.

import { ask } from "./api.js";
import { el, put, named, pageLink, outside, keep, button, save, csv } from "./dom.js";
import { heading, section, empty, fetched, table, state, choice } from "./parts.js";
import { number, count } from "./words.js";

const most = 10000; // links shown
const columns = ["quality_origin", "from_url", "anchor", "to_url", "state", "status_code", "error_message", "kind",
  "rel", "place"];

export function show(view, said, signal) {
  const total = el("span", { class: "soft total", role: "status" }), box = el("div", {});
  put(view, heading("Broken links", total), box);
  fetched(box, () => ask("broken?limit=" + (most + 1), { signal }), (links) => [cutAt(links),
    draw(links.slice(0, most), said, total)].flat(), signal);
}

// cutAt reports that there are more links than are shown.
function cutAt(links) {
  return links.length > most && el("p", { class: "warn", role: "status" },
    `These are the first ${number(most)} broken links; `, el("code", {}, "ripple broken"), " prints all of them.");
}

function draw(links, said, total) {
  if (!links.length) return empty("No link whose target was requested is broken.");
  const origins = [...new Set(links.map((l) => l.quality_origin || ""))],
    states = [...new Set(links.map((l) => l.state))];
  const chosen = { origin: "", state: "", search: "", ...said }, sheet = el("div", {});
  const search = el("input", { type: "search", class: "search", placeholder: "Search pages, anchors, errors   /",
    "aria-label": "Search broken links", value: chosen.search });
  const choose = (changes) => {
    Object.assign(chosen, changes);
    keep("broken", chosen, changes);
    const list = links.filter((l) => (!chosen.origin || (l.quality_origin || "–") === chosen.origin) &&
      (!chosen.state || l.state === chosen.state) && matches(l, chosen.search.toLowerCase()));
    put(total, list.length === links.length ? count(links.length, "link")
      : `${number(list.length)} of ${count(links.length, "link")}`);
    put(sheet, list.length ? section(null, null, rows(list)) : empty("No broken link matches."));
    chosen.list = list;
  };
  search.addEventListener("input", () => choose({ search: search.value }));
  const filters = el("div", { class: "filters" }, search,
    choice("origin", [["", "all"], ...origins.map((o) => [o || "–", o || "none"])], chosen.origin,
    (origin) => choose({ origin })),
    choice("target", [["", "all"], ...states.map((s) => [s, s.replaceAll("_", " ")])], chosen.state,
      (value) => choose({ state: value })),
    button("CSV", () => save(csv(columns, chosen.list.map((l) => columns.map((c) => l[c]))), "broken.csv",
      "text/csv")));
  choose({});
  return [filters, sheet];
}

function matches(l, word) {
  return !word || [l.from_url, l.to_url, l.anchor, l.error_message].some((text) => String(text).toLowerCase()
    .includes(word));
}

function rows(list) {
  return table([{ title: "origin", cell: (l) => l.quality_origin ? named(l.quality_origin) : "–" },
    { title: "page", class: "name", cell: (l) => pageLink(l.from_url) },
    { title: "anchor", cell: (l) => l.anchor || "–" },
    { title: "leads to", class: "name", cell: (l) => [pageLink(l.to_url), " ", outside(l.to_url, "↗")] },
    { title: "target", cell: (l) => state(l.state) }, { title: "status", class: "num",
    cell: (l) => l.status_code || "–" },
    { title: "why", cell: (l) => l.error_message },
    { title: "place", class: "short", cell: (l) => l.place || "–" }], list);
}
