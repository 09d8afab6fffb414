// Outside: hosts outside the terrain that link to origins, by a web graph, and decisions about one or many of them.

import { ask, offers } from "./api.js";
import { decidedChip } from "./decide.js";
import { el, put, named, outside, keep, button, save, csv } from "./dom.js";
import { heading, section, empty, fetched, table, choice } from "./parts.js";
import { makeTray } from "./tray.js";
import { number, count, moment } from "./words.js";

const most = 1000; // hosts listed
const least = [["", "1 origin or more"], ["2", "2 origins or more"], ["3", "3 origins or more"], ["5", "5 origins or more"]];
const columns = ["origin", "host", "site", "release", "harmonic_rank", "pagerank_rank"];

export function show(view, said, signal) {
  const chosen = { min_origins: said.min_origins || "", sort: said.sort || "" };
  const total = el("span", { class: "soft total", role: "status" }), filters = el("div", { class: "filters" });
  const box = el("div", {}), renew = (changes) => { Object.assign(chosen, changes); keep("outside", chosen, changes); };
  const state = { rows: [], before: new Map() };
  state.tray = offers("decisions") && makeTray({ signal, changed: () => { for (const h of state.rows) tell(h, state); } });
  const load = () => fetched(box, async () => {
    const [found, decided] = await Promise.all([
      ask("inlinks", { said: { min_origins: chosen.min_origins, limit: most }, signal }),
      state.tray ? ask("decisions", { signal }) : null]);
    state.before = new Map(decided ? decided.data.decisions.map((d) => [d.host, d.class]) : []);
    state.reason = decided && decided.data.reason;
    state.rows = found.data.hosts;
    return found;
  },
    (d) => { put(total, "");
      put(filters, d.release && [choice("links to", least, chosen.min_origins, (value) => {
        renew({ min_origins: value });
        load();
      }), button("CSV", () => save(csv(columns, rowsOf(d)), "outside.csv", "text/csv"))]);
      return draw(d, total, chosen, renew, state); }, signal);
  put(view, heading("Outside", total), filters, box);
  load();
}

function draw(d, total, chosen, renew, state) {
  if (!d.release) return empty("No web graph has been read yet.", el("p", {}, "Fetch a web graph of Common Crawl, then: ",
    el("code", {}, "ripple import --graph PREFIX"), ". It says who links to your origins from outside the terrain. ",
    el("a", { href: "/help/archives", target: "_blank" }, "How to import one")));
  const one = d.level === "domain" ? "domain" : "host";
  put(total, count(d.host_count, one));
  const rank = (position) => (position === null ? "–" : "#" + number(position));
  return [el("p", { class: "lead" }, `These ${one}s link to origins, and the terrain does not know them, by the web ` +
    `graph ${d.release}, read ${moment(d.read_at)}. A web graph is made from a sample of the web: others may link as well.`),
  state.reason && el("p", { class: "lead soft" }, `Decisions can only be copied here: ${state.reason}.`),
  state.tray && one === "domain" && el("p", { class: "lead soft" }, "Each decision counts for the host with the name of " +
    "the domain, and for no other host of it. The entries in ", el("a", { href: "#/suggest" }, "Suggest"),
  " count for all hosts of a domain."),
  section("Origins", null, table([{ title: "origin", class: "name", cell: (o) => named(o.origin) },
    { title: `${one}s that link to it`, class: "num", cell: (o) => (o.graph_hosts ? number(o.host_count)
      : "not in the graph") }], d.origins, { most: 20 })),
  d.host_count === 0 ? empty(`No ${one} outside links to as many origins.`) : section(`${one === "host" ? "Hosts" : "Domains"}`,
    d.hosts.length < d.host_count && `the first ${number(d.hosts.length)} of ${number(d.host_count)}`,
    [table([{ title: one, name: "host", value: (h) => h.host, class: "name",
      cell: (h) => [markOf(h, state), outside(`https://${h.host}/`, [named(h.host), " ↗"]), h.verdict] },
    { title: "harmonic rank", name: "harmonic", value: (h) => h.harmonic_rank, class: "num", cell: (h) => rank(h.harmonic_rank) },
    { title: "PageRank", name: "pagerank", value: (h) => h.pagerank_rank, class: "num", cell: (h) => rank(h.pagerank_rank) },
    { title: "origins", name: "origins", value: (h) => h.origins.length, class: "num", cell: (h) => number(h.origins.length) },
    { title: "links to", cell: (h) => listed(h.origins) }], d.hosts,
    { most: 100, sort: chosen.sort, onsort: (sort) => renew({ sort }) }), state.tray && state.tray.element])];
}

// markOf returns the box that marks a host, and makes the place of its verdict.
function markOf(h, state) {
  if (!state.tray) return null;
  h.box = state.tray.box(h);
  h.verdict = el("span", { class: "verdict" });
  queueMicrotask(() => tell(h, state)); // the row is there then
  return h.box;
}

// tell shows in the row of a host what is marked, chosen or decided; otherwise, what was decided earlier.
function tell(h, { tray, before }) {
  const line = h.box && h.box.closest("tr");
  if (!line) return;
  tray.tell(h, line, h.verdict);
  if (!h.verdict.hasChildNodes() && before.has(h.host)) put(h.verdict, ["decided ", decidedChip(before.get(h.host))]);
}

function listed(origins) {
  const some = 5;
  return origins.slice(0, some).join(", ") + (origins.length > some ? `, ${number(origins.length - some)} more` : "");
}

// rowsOf returns the rows of a CSV file: one for each host and origin.
function rowsOf(d) {
  return d.hosts.flatMap((h) => h.origins.map((origin) => [origin, h.host, h.site, d.release, h.harmonic_rank, h.pagerank_rank]));
}
