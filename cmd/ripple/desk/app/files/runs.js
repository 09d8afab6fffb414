// Runs: their history, and the difference between any two.

import { ask, offers } from "./api.js";
import { lineChart, progress } from "./chart.js";
import { el, put, keep, pageLink, pagesLink, hostLink, chip, button } from "./dom.js";
import { heading, section, figure, empty, fetched, table, choice } from "./parts.js";
import { number, count, span, clock, moment, plain } from "./words.js";

const tints = { completed: "good", running: "accent", interrupted: "warm" };
const changed = { came: "good", went: "bad", changed: "warm" };
const changeNames = { came: "added", went: "removed", changed: "changed" };

export function show(view, said, signal) {
  const box = el("div", {});
  put(view, heading("Runs"), box);
  fetched(box, () => ask("runs", { signal }), ({ runs }) => history(runs, said, signal), signal);
}

function history(runs, said, signal) {
  if (!runs.length) return empty("There has been no run yet.");
  const list = [...runs].sort((a, b) => idOf(b) - idOf(a));
  const sheet = table([{ title: "run", cell: (r) => "#" + idOf(r) },
    { title: "status", cell: (r) => chip(r.status, tints[r.status]) },
    { title: "why it ended", cell: (r) => r.reason || "–" },
    { title: "started", cell: (r) => moment(r.started_at) },
    { title: "took", class: "num", cell: (r) => span(seconds(r)) },
    { title: "pages", class: "num", cell: (r) => pagesLink({ run: idOf(r) }, number(r.pages)) },
    { title: "requests", class: "num", cell: (r) => number(r.requests) }], list, { most: 50 });
  const charts = el("div", {}), ids = list.map((r) => [String(idOf(r)), "#" + idOf(r)]);
  const chosen = choice("run", ids, ids[0][0], (run) => course(charts, run, signal));
  course(charts, ids[0][0], signal);
  return [section(null, null, sheet), offers("history") && section("Progress", null, el("div", { class: "filters" }, chosen),
    charts), list.length < 2 ? empty("There is only one run, so there is nothing to compare yet.")
    : comparison(list, said, signal)];
}

// course draws the progress of a run over time.
function course(box, run, signal) {
  if (!offers("history")) return;
  fetched(box, () => ask("history", { said: { run }, signal }), (history) => {
    const points = progress(history);
    if (points.length < 2) return empty("The run was too short for a chart.");
    const end = clock(points[points.length - 1].at);
    const charts = [["Pages per second", "/s", "accent", "rate"], ["Pages to visit", "", "stub", "waiting"]].map(
      ([title, unit, colour, key]) => {
        const chart = lineChart({ title, unit, colour, signal, end });
        chart.show(points.map((point) => ({ at: point.at, gap: point.gap, value: point[key] })));
        return el("div", {}, chart.element);
      });
    return el("div", { class: "columns charts" }, charts);
  }, signal);
}

function idOf(r) { return r.id === undefined ? r.run_id : r.id; }

function seconds(r) {
  if (r.running_seconds !== undefined) return Math.round(r.running_seconds);
  return r.finished_at ? Math.round((Date.parse(r.finished_at) - Date.parse(r.started_at)) / 1000) : NaN;
}

function comparison(list, said, signal) {
  const ids = list.map((r) => [String(idOf(r)), "#" + idOf(r)]),
    chosen = { from: said.from || ids[1][0], to: said.to || ids[0][0] }, box = el("div", {});
  const renew = (changes) => {
    Object.assign(chosen, changes);
    keep("runs", chosen);
    if (chosen.from === chosen.to) put(box, empty("Choose two different runs."));
    else fetched(box, () => ask("diff", { said: chosen, signal }), difference, signal);
  };
  if (said.from) renew({});
  return section("What changed", null, el("div", { class: "filters" },
    choice("from", ids, chosen.from, (from) => renew({ from })), choice("to", ids, chosen.to, (to) => renew({ to })),
    button("Compare", () => renew({}))), box);
}

function difference(d) {
  const counts = (c) => `${number(c.came)} added, ${number(c.went)} removed` +
    (c.changed ? `, ${number(c.changed)} changed` : "");
  const { pages, links, hosts, link_rot: rot, hosts_not_visited: unknown } = d;
  return [d.to.status !== "completed" && el("p", { class: "lead" },
    "The later run is not completed: pages that it has not visited are shown as they were."),
    el("div", { class: "figures" }, figure("pages", counts(d.page_counts)),
    figure("links", counts(d.link_counts)), figure("hosts", number(hosts.length), "with changes")),
    rot.length > 0 && section("Link rot", "links of each origin that lead to dead pages",
      table([{ title: "origin", cell: (r) => r.quality_origin || "–" },
      { title: "links", class: "num", cell: (r) => number(r.links) },
      { title: "dead", class: "num", cell: (r) => number(r.dead) },
      { title: "newly dead", class: "num", cell: (r) => number(r.newly_dead) },
      { title: "fixed", class: "num", cell: (r) => number(r.mended) }], rot)),
    section("Hosts", count(hosts.length, "host"), hosts.length
      ? table([{ title: "host", class: "name", cell: (h) => hostLink(h.domain, h.domain_shown) },
      { title: "change", cell: (h) => chip(changeNames[h.change] || "same", changed[h.change]) },
      { title: "added", class: "num", cell: (h) => number(h.pages_came) },
      { title: "removed", class: "num", cell: (h) => number(h.pages_went) },
      { title: "changed", class: "num", cell: (h) => number(h.pages_changed) }], hosts, { most: 50 })
      : empty("No host changed.")),
    unknown.length > 0 && section(`Hosts that run #${d.to.run_id} did not visit`,
      `shown as run #${d.from.run_id} saw them`,
      table([{ title: "host", class: "name", cell: (name) => hostLink(name) }], unknown, { most: 50 })),
    section("Pages", count(pages.length, "page"), pages.length
      ? table([{ title: "page", class: "name", cell: (p) => pageLink(p.url) },
      { title: "change", cell: (p) => chip(changeNames[p.change], changed[p.change]) },
      { title: "what", cell: (p) => (p.what || []).map(plain).join(", ") || "–" },
      { title: "before", cell: (p) => answer(p.before) }, { title: "after", cell: (p) => answer(p.after) }], pages,
      { most: 100 }) : empty("No page changed.")),
    section("Links", count(links.length, "link"), links.length
      ? table([{ title: "from", class: "name", cell: (l) => pageLink(l.from_url) },
      { title: "to", class: "name", cell: (l) => pageLink(l.to_url) },
      { title: "kind", cell: (l) => l.kind }, { title: "change", cell: (l) => chip(changeNames[l.change], changed[l.change]) }],
      links, { most: 100 }) : empty("No link changed."))];
}

function answer(a) { return a ? [plain(a.state), a.status_code ? " " + a.status_code : ""] : "–"; }
