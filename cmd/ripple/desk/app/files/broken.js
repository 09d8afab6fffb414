// Broken: links that lead nowhere, by target or by origin.

import { ask } from "./api.js";
import { el, put, named, pageLink, outside, keep, button, save, csv } from "./dom.js";
import { heading, section, empty, fetched, table, state, choice } from "./parts.js";
import { number, count } from "./words.js";

const most = 10000; // links shown
const columns = ["quality_origin", "from_url", "anchor", "to_url", "state", "status_code", "error_message", "kind",
  "rel", "place"];
const groups = [["", "target"], ["origin", "origin"]];

export function show(view, said, signal) {
  const total = el("span", { class: "soft total", role: "status" }), box = el("div", {});
  put(view, heading("Broken links", total), box);
  fetched(box, () => ask("broken?limit=" + (most + 1), { signal }), (links) => [cutAt(links),
    draw(links.slice(0, most), said, total)].flat(), signal);
}

// cutAt reports that there are more links than are shown.
function cutAt(links) {
  return links.length > most && el("p", { class: "warn", role: "status" },
    `These are the first ${number(most)} broken links, and only they are counted; `, el("code", {}, "ripple broken"),
    " prints all of them.");
}

function draw(links, said, total) {
  if (!links.length) return empty("No link whose target was requested is broken.");
  const origins = [...new Set(links.map((l) => l.quality_origin || ""))],
    states = [...new Set(links.map((l) => l.state))];
  const chosen = { by: "", origin: "", state: "", search: "", sort: "", ...said }, sheet = el("div", {});
  const search = el("input", { type: "search", class: "search", placeholder: "Search pages, anchors, errors   /",
    "aria-label": "Search broken links", value: chosen.search });
  let shown = links;
  const remember = (changes) => { Object.assign(chosen, changes); keep("broken", chosen, changes); };
  const choose = (changes) => {
    remember(changes);
    const list = links.filter((l) => (!chosen.origin || (l.quality_origin || "–") === chosen.origin) &&
      (!chosen.state || l.state === chosen.state) && matches(l, chosen.search.toLowerCase()));
    const targets = byTarget(list), drawing = { sort: chosen.sort, onsort: (sort) => remember({ sort }) };
    put(total, list.length === links.length ? count(links.length, "link")
      : `${number(list.length)} of ${count(links.length, "link")}`, " to ", count(targets.length, "target"));
    put(sheet, !list.length ? empty("No broken link matches.")
      : section(null, null, chosen.by === "origin" ? linkTable(list, drawing) : targetTable(targets, drawing)));
    shown = list;
  };
  search.addEventListener("input", () => choose({ search: search.value }));
  const filters = el("div", { class: "filters" }, search,
    choice("group by", groups, chosen.by, (by) => choose({ by, sort: "" })),
    choice("origin", [["", "all"], ...origins.map((o) => [o || "–", o || "none"])], chosen.origin,
    (origin) => choose({ origin })),
    choice("state", [["", "all"], ...states.map((s) => [s, s.replaceAll("_", " ")])], chosen.state,
      (value) => choose({ state: value })),
    button("CSV", () => save(csv(columns, shown.map((l) => columns.map((c) => l[c]))), "broken.csv",
      "text/csv")));
  choose({});
  return [filters, sheet];
}

function matches(l, word) {
  return !word || [l.from_url, l.to_url, l.anchor, l.error_message].some((text) => String(text).toLowerCase()
    .includes(word));
}

// byTarget groups links by target. The target that most pages link to comes first.
function byTarget(list) {
  const groups = new Map();
  for (const l of list) {
    if (!groups.has(l.to_url)) groups.set(l.to_url, { ...l, links: [], origins: new Set() });
    const group = groups.get(l.to_url);
    group.links.push(l);
    if (l.quality_origin) group.origins.add(l.quality_origin);
  }
  return [...groups.values()].sort((a, b) => b.links.length - a.links.length || (a.to_url < b.to_url ? -1 : 1));
}

// The columns of a target, which a link has, too.
function ofTarget(title) {
  return [{ title, name: "to", value: (l) => l.to_url, class: "name",
    cell: (l) => [pageLink(l.to_url), " ", outside(l.to_url, "↗")] },
  { title: "state", name: "state", value: (l) => l.state, cell: (l) => state(l.state) },
  { title: "status", name: "status", value: (l) => l.status_code, class: "num", cell: (l) => l.status_code || "–" },
  { title: "why", name: "why", value: (l) => l.error_message, cell: (l) => l.error_message }];
}

function targetTable(targets, drawing) {
  return table([...ofTarget("target"),
    { title: "links", name: "links", value: (t) => t.links.length, class: "num", cell: (t) => number(t.links.length) },
    { title: "origins", name: "origins", value: (t) => t.origins.size, class: "num", cell: (t) => number(t.origins.size) }],
  targets, { ...drawing, inner: (t) => table(ofSource(), t.links, { most: 50 }) });
}

// The columns of the page with a link.
function ofSource() {
  return [{ title: "page", name: "from", value: (l) => l.from_url, class: "name", cell: (l) => pageLink(l.from_url) },
    { title: "anchor", name: "anchor", value: (l) => l.anchor, cell: (l) => l.anchor || "–" },
    { title: "place", name: "place", value: (l) => l.place, class: "short", cell: (l) => l.place || "–" },
    { title: "origin", name: "origin", value: (l) => l.quality_origin,
      cell: (l) => l.quality_origin ? named(l.quality_origin) : "–" }];
}

function linkTable(list, drawing) {
  const [page, anchor, place, origin] = ofSource();
  return table([origin, page, anchor, ...ofTarget("leads to"), place], list, drawing);
}
