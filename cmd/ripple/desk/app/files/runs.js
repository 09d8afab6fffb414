// Runs: their history, and the difference between any two.

import { ask, offers } from "./api.js";
import { lineChart, progress } from "./chart.js";
import { el, put, keep, pageLink, pagesLink, hostLink, address, chip, button, removable } from "./dom.js";
import { heading, section, figure, empty, fetched, table, choice } from "./parts.js";
import { number, count, span, clock, moment, plain, frontText } from "./words.js";

const tints = { completed: "good", running: "accent", interrupted: "warm", added: "good", removed: "bad",
  changed: "warm" };
const changeNames = { came: "added", went: "removed", changed: "changed" };

export function show(view, said, signal) {
  const box = el("div", {});
  put(view, heading("Runs"), box);
  fetched(box, () => ask("runs", { signal }), ({ runs }) => history(runs, said, signal), signal);
}

function history(runs, said, signal) {
  if (!runs.length) return empty("There has been no run yet.");
  const list = [...runs].sort((a, b) => idOf(b) - idOf(a));
  const chosen = { sort: "", ...said }, remember = (changes) => {
    Object.assign(chosen, changes);
    keep("runs", chosen, changes);
  };
  const sheet = table([{ title: "run", name: "run", value: idOf, cell: (r) => "#" + idOf(r) },
    { title: "kind", name: "kind", value: (r) => r.oldest_capture_at || "", cell: kindOf },
    { title: "status", name: "status", value: (r) => r.status, cell: (r) => chip(r.status, tints[r.status]) },
    { title: "why it ended", name: "why", value: (r) => r.reason, cell: (r) => r.reason || "–" },
    { title: "started", name: "started", value: (r) => r.started_at, cell: (r) => moment(r.started_at) },
    { title: "took", name: "took", value: seconds, class: "num", cell: (r) => span(seconds(r)) },
    { title: "pages", name: "pages", value: (r) => r.pages, class: "num",
      cell: (r) => pagesLink({ run: idOf(r) }, number(r.pages)) },
    { title: "requests", name: "requests", value: (r) => r.requests, class: "num", cell: (r) => number(r.requests) }],
  list, { most: 50, sort: chosen.sort, onsort: (sort) => remember({ sort }) });
  const charts = el("div", {}), ids = list.map((r) => [String(idOf(r)), named(r)]);
  const which = choice("run", ids, ids[0][0], (run) => course(charts, run, signal));
  course(charts, ids[0][0], signal);
  return [section(null, null, sheet), offers("history") && section("Progress", null, el("div", { class: "filters" }, which),
    charts), list.length < 2 ? empty("There is only one run, so there is nothing to compare yet.")
    : comparison(list, chosen, remember, signal)];
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

// kindOf tells an import by the days of what it holds.
function kindOf(r) {
  if (r.kind !== "import") return r.kind;
  const [from, to] = [r.oldest_capture_at, r.newest_capture_at].map((at) => (at || "unknown").slice(0, 10));
  return "import, " + (from === to ? from : `${from} to ${to}`);
}

// named is how a choice names a run.
function named(r) { return r.kind === "import" ? `#${idOf(r)} (${kindOf(r)})` : "#" + idOf(r); }

function idOf(r) { return r.id === undefined ? r.run_id : r.id; }

function seconds(r) {
  if (r.running_seconds !== undefined) return Math.round(r.running_seconds);
  return r.finished_at ? Math.round((Date.parse(r.finished_at) - Date.parse(r.started_at)) / 1000) : NaN;
}

function comparison(list, chosen, remember, signal) {
  const ids = list.map((r) => [String(idOf(r)), named(r)]), box = el("div", {}),
    range = { from: chosen.from || ids[1][0], to: chosen.to || ids[0][0] };
  const renew = (changes) => {
    Object.assign(range, changes);
    remember(range);
    if (range.from === range.to) put(box, empty("Choose two different runs."));
    else fetched(box, () => ask("diff", { said: range, signal }), (d) => difference(d, chosen, remember), signal)
      .then(() => { const list = document.getElementById("links"); if (list) list.scrollIntoView({ block: "center" }); });
  };
  if (chosen.from) renew({});
  return section("What changed", null, el("div", { class: "filters" },
    choice("from", ids, range.from, (from) => renew({ from })), choice("to", ids, range.to, (to) => renew({ to })),
    button("Compare", () => renew({}))), box);
}

// counted returns the numbers of things that were added, removed and changed. link makes a number a link.
function counted(c, link = (_, text) => text) {
  return [link("came", number(c.came)), " added, ", link("went", number(c.went)), " removed",
    c.changed ? [", ", link("changed", number(c.changed)), " changed"] : null];
}

function difference(d, chosen, remember) {
  const { pages, links, hosts, link_rot: rot, dead_targets: dead, hosts_not_visited: unknown, changed_hands: hands } = d;
  const order = (name) => ({ sort: chosen[name] || "", onsort: (sort) => remember({ [name]: sort }) });
  const differing = (more) => (change, text) => pagesLink({ change, from: d.from.run_id, to: d.to.run_id, ...more }, text);
  const alike = (link, text) => el("a", { href: address("runs", { from: d.from.run_id, to: d.to.run_id, link }) }, text);
  const some = chosen.link ? links.filter((l) => l.change === chosen.link) : links;
  const inHost = (title, change, key) => ({ title, name: change, value: (h) => h[key], class: "num",
    cell: (h) => (h[key] ? differing({ domain: h.domain })(change, number(h[key])) : "0") });
  return [d.to.status !== "completed" && el("p", { class: "lead" },
    "The later run is not completed: pages that it has not visited are shown as they were."),
    el("div", { class: "figures" }, figure("pages", counted(d.page_counts, differing())),
    figure("links", counted(d.link_counts, alike)), figure("hosts", number(hosts.length), "with changes")),
    rot.length > 0 && section("Link rot", "links of each origin that lead to dead pages",
      table([{ title: "origin", name: "origin", value: (r) => r.quality_origin, cell: (r) => r.quality_origin || "–" },
      amount("links", "links"), amount("dead", "dead"), amount("newly dead", "newly_dead"), amount("fixed", "mended")],
      rot, order("rot"))),
    dead.length > 0 && section("Dead pages to which origins linked", count(dead.length, "page"),
      table([{ title: "page", name: "page", value: (p) => p.url, class: "name", cell: (p) => pageLink(p.url) },
      amount("links", "links"), { ...answered("after"), title: "now" }], dead, { most: 50, ...order("dead") })),
    hands.length > 0 && section("Hosts that have likely changed hands", "their front pages have nothing in common",
      table([{ title: "host", class: "name", cell: (h) => hostLink(h.domain) },
        { title: "front page before", cell: (h) => frontText(h.before) }, { title: "after", cell: (h) => frontText(h.after) }],
      hands, { most: 50 })),
    section("Hosts", count(hosts.length, "host"), hosts.length
      ? table([{ title: "host", name: "host", value: (h) => h.domain, class: "name",
        cell: (h) => hostLink(h.domain, h.domain_shown) }, changeOf((h) => changeNames[h.change] || "same"),
      inHost("added", "came", "pages_came"), inHost("removed", "went", "pages_went"),
      inHost("changed", "changed", "pages_changed")], hosts, { most: 50, ...order("hosts") })
      : empty("No host changed.")),
    unknown.length > 0 && section(`Hosts that run #${d.to.run_id} did not visit`,
      `shown as run #${d.from.run_id} saw them`,
      table([{ title: "host", class: "name", cell: (name) => hostLink(name) }], unknown, { most: 50 })),
    section("Pages", count(pages.length, "page"), pages.length
      ? table([{ title: "page", name: "page", value: (p) => p.url, class: "name", cell: (p) => pageLink(p.url) },
      changeOf((p) => changeNames[p.change]),
      { title: "what", name: "what", value: whatOf, cell: (p) => whatOf(p) || "–" },
      answered("before"), answered("after")], pages, { most: 100, ...order("pages") }) : empty("No page changed.")),
    section("Links", count(some.length, "link"), chosen.link && el("div", { class: "filters", id: "links" },
      removable(changeNames[chosen.link] || chosen.link, () => { location.hash = alike("", "").hash; })), some.length
      ? table([{ title: "from", name: "from", value: (l) => l.from_url, class: "name", cell: (l) => pageLink(l.from_url) },
      { title: "to", name: "to", value: (l) => l.to_url, class: "name", cell: (l) => pageLink(l.to_url) },
      { title: "kind", name: "kind", value: (l) => l.kind, cell: (l) => l.kind },
      changeOf((l) => changeNames[l.change])],
      some, { most: 100, ...order("links") }) : empty(chosen.link ? "No link is like that." : "No link changed."))];
}

function amount(title, key) {
  return { title, name: key, value: (r) => r[key], class: "num", cell: (r) => number(r[key]) };
}

function changeOf(word) {
  return { title: "change", name: "change", value: word, cell: (one) => chip(word(one), tints[word(one)]) };
}

function whatOf(p) { return (p.what || []).map(plain).join(", "); }

function answered(when) {
  const text = ({ [when]: a }) => (a
    ? [plain(a.answer || a.state), a.answer_status_code || a.status_code].filter(Boolean).join(" ") : "");
  return { title: when, name: when, value: text, cell: (p) => text(p) || "–" };
}
