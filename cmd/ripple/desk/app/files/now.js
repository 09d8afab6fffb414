// Now: what is being fetched and why no more, and the results.

import { ask, offers } from "./api.js";
import { el, put, pageLink, pagesLink, hostsLink, hostLink, chip, swatch, address } from "./dom.js";
import { live, listen } from "./live.js";
import { quick } from "./control.js";
import { seen } from "./stream.js";
import { lineChart, bars, meter, progress } from "./chart.js";
import { section, figure, table, empty, loading, fetched, failed } from "./parts.js";
import { number, count, span, ago, clock, percent, plain, coverColour, stateColour, answerColour, classColour,
  milliseconds } from "./words.js";

const look = 10000; // ms between two requests for what only the reader knows
const glance = 3000; // ms between two requests for the crawl's progress with its origins
const mostVisits = 30; // shown

export function show(view, said, signal) {
  const box = el("div", { class: "now" }, loading("Loading the status…"));
  let shown = "";
  put(view, box);
  listen(({ status, line }) => {
    if (!status) { if (line && line !== true) put(box, title(), failed(line)); return; }
    const now = status.mode === "file" ? status.mode + status.run_id + status.condition.name : status.mode;
    if (shown === now) return;
    shown = now;
    (status.mode === "file" ? showFinished : showRunning)(box, signal);
  }, signal);
}

function title() { return el("h1", { class: "hidden", tabindex: "-1" }, "Now"); }

function showRunning(box, signal) {
  const hero = heroOf(signal), figures = el("div", { class: "figures" });
  const rate = lineChart({ title: "Pages per second", unit: "/s", colour: "accent", signal });
  const waiting = lineChart({ title: "Pages to visit", unit: "", colour: "stub", signal });
  const why = el("div", {}), origins = el("div", {}), age = el("span", {}),
    errors = el("div", {}), visits = el("div", { class: "visits" });
  put(box, title(), hero.element, figures,
    el("div", { class: "columns charts" }, el("section", { class: "block" }, rate.element),
      el("section", { class: "block" }, waiting.element)),
    el("div", { class: "columns" },
      section("Hosts with pages left", "by why they wait", why), section("Errors", "of this run", errors)),
    section("Origins", ["coverage, budget, and what limited them", age], origins), section("Latest visits", null, visits));
  let before = []; // what the run did before this tab followed it
  if (offers("history")) ask("history", { signal }).then(({ data }) => { before = progress(data); }, () => {});
  const draw = ({ status: s, line, samples: latest, visits: list }) => {
    if (!s || s.mode === "file" || line !== true) return; // the last view stays while the connection is lost
    hero.show(s, metaText(s));
    put(figures, figuresOf(s));
    const samples = [...before.filter(({ at }) => !latest.length || at < latest[0].at), ...latest];
    rate.show(samples.map(({ at, gap, rate: value }) => ({ at, gap, value })));
    waiting.show(samples.map(({ at, gap, waiting: value }) => ({ at, gap, value })));
    put(why, reasonsOf(s));
    put(errors, errorsOf(s.errors));
    drawVisits(visits, list);
  };
  listen(draw, signal);
  followOrigins(origins, age, signal);
}

// followOrigins shows the progress with each origin, from the crawl, and its results, from the
// slower reader.
function followOrigins(box, age, signal) {
  const problem = el("div", {}), sheet = el("div", {}, loading());
  let moves = [], whole = [], read = 0;
  put(box, problem, sheet);
  const draw = () => {
    const now = new Map(moves.map((o) => [o.quality_origin, o])), known = new Set(whole.map((o) => o.quality_origin));
    put(sheet, originsOf([...whole.map((o) => moved(o, now.get(o.quality_origin))),
      ...moves.filter((o) => !known.has(o.quality_origin))]));
    const old = read && Math.round((Date.now() - read) / 1000);
    put(age, old >= 2 && `; coverage as of ${span(old)} ago`);
  };
  const failing = (error) => {
    if (live.line !== true && sheet.querySelector("table")) return;
    put(problem, failed(error)); if (!sheet.querySelector("table")) put(sheet); };
  again("origins", glance, ({ data }) => { moves = data.origins; draw(); }, failing, signal);
  again("stats", look, ({ data, age: was }) => {
    whole = data.origins;
    read = Date.now() - 1000 * (was || 0);
    put(problem);
    draw();
  }, failing, signal);
}

// moved returns an origin with its latest figures from the crawl.
function moved(o, now) { return now ? { ...o, ...now } : o; }

// visitedOf counts the pages of an origin that the run has visited. The reader includes pages that were kept, the crawl
// the latest requests.
function visitedOf(o) { return Math.max(o.pages_visited || 0, o.pages_requested || 0); }

function metaText(s) {
  const parts = [`Run #${s.run_id}`, span(Math.round(s.elapsed_seconds)) + " so far"];
  if (s.depth >= 0) parts.push(`depth ${s.depth} of ${s.max_depth}`);
  if (s.eta_seconds > 0) parts.push(s.eta_limit ?
    `the crawl stops in about ${span(s.eta_seconds)} (${s.eta_limit}), before all known pages are visited` :
    `the pages known so far take about ${span(s.eta_seconds)}`);
  const slow = (s.eta_hosts || []).filter((h) => h.eta_seconds >= s.eta_seconds / 2).slice(0, 2);
  const named = s.eta_seconds > 0 && !s.eta_limit ? slow.map((h) => [" · ", hostLink(h.domain, h.domain_shown),
    ` takes longest, ${count(h.pages_to_visit, "page")}`]) : [];
  return [parts.join(" · "), named.slice(0, 1)];
}

function figuresOf(s) {
  const known = s.pages_requested + s.pages_to_visit;
  const waits = (text) => pagesLink({ progress: "waiting" }, text), some = s.pages_waiting !== s.pages_to_visit;
  return [figure("pages requested", pagesLink({ run: s.run_id }, number(s.pages_requested)),
    known ? percent(s.pages_requested, known) + " of the pages known so far" : null),
    figure("pages to visit", some ? number(s.pages_to_visit) : waits(number(s.pages_to_visit)),
      some && ["of ", waits(`${number(s.pages_waiting)} waiting`)]),
    figure("pages / s", s.condition.fetches ? number(s.pages_per_second) : "–"), figure("requests", number(s.requests)),
    figure("fetching", number(s.fetching)), figure("hosts active", number(s.hosts.active)),
    figure("hosts waiting", number(s.hosts.waiting)), figure("suspended", hostsLink({ reason: "rest" }, number(s.hosts.suspended))),
    figure("given up", hostsLink({ reason: "given up" }, number(s.hosts.given_up)))];
}

// reasons are why hosts wait: a colour, the words, and the filter that lists such hosts, if there is one.
const reasons = {
  ready: ["good", "being requested, or about to be"], delay: ["accent", "waiting between two requests"],
  crawl_delay: ["accent", "waiting for the Crawl-delay of their robots.txt"],
  slow: ["accent", "waiting as long as they take to answer"],
  timeouts: ["warm", "requested more slowly after time-outs"],
  rest: ["warm", "asked Ripple to wait (429, Retry-After)", { reason: "rest" }],
  robots: ["warm", "without an available robots.txt", { reason: "robots.txt" }],
  retries: ["warm", "with only retries left", { reason: "retries" }],
  budget: ["calm", "with their budget used up", { cover: "budget used up" }],
  given_up: ["bad", "given up for this run", { reason: "given up" }],
};

// reasonsOf groups the hosts with pages left by why they wait, and names those with trouble.
function reasonsOf({ reasons: groups, troubles: named, troubled, condition }) {
  const list = named.map((t) => el("li", {}, swatch("bad"), hostLink(t.domain, t.domain_shown), " ",
    el("span", {}, troubleText(t))));
  if (!groups.length && !list.length) return empty(condition.fetches ? "No host has pages left."
    : "The crawl does not wait for its hosts.");
  return [el("ul", { class: "reasons" }, groups.map(reasonLine)),
    list.length > 0 && el("ul", { class: "reasons troubles" }, list),
    troubled > list.length && list.length > 0 && el("p", { class: "soft" },
      `and ${count(troubled - list.length, "more host")} with trouble`)];
}

function reasonLine(g) {
  const [colour, text, filter] = Object.hasOwn(reasons, g.reason) ? reasons[g.reason]
    : ["calm", plain(g.reason)];
  const next = g.first && g.reason !== "ready" && [g.next_seconds > 0 ? "next in " + span(g.next_seconds) : "next now",
    ": ", hostLink(g.first, g.first_shown), g.first_why && ", " + g.first_why];
  return el("li", {}, swatch(colour), el("b", {}, number(g.hosts)), " ",
    el("span", {}, filter ? el("a", { href: address("hosts", filter) }, text) : text),
    el("span", { class: "soft more" }, count(g.pages_waiting, "page"), next && [" · ", next]));
}

function troubleText(t) {
  if (t.given_up) return t.why;
  if (t.held_seconds > 0)
    return `${t.why} ${span(t.held_seconds)} ago; it is not known yet whether the network of this machine is at fault`;
  const asked = t.why || (t.robots ? "robots.txt was requested" : "was requested");
  if (t.silent_seconds > 0) return `${asked}, ${span(t.silent_seconds)} ago, no answer yet`;
  return t.why + ", next try in " + span(t.again_seconds);
}

function errorsOf(errors) {
  const list = Object.entries(errors || {});
  if (!list.some(([, n]) => n > 0)) return empty("No visit has ended in an error.");
  return bars(list, { words: plain, colour: () => "bad",
    links: (kind, text) => pagesLink({ error_kind: kind }, text) });
}

// again repeats a request, pause ms after each answer, while the tab is visible.
function again(what, pause, told, failing, signal) {
  let timer = 0;
  signal.addEventListener("abort", () => clearTimeout(timer));
  const once = async () => {
    await seen(signal);
    if (signal.aborted) return;
    try {
      told(await ask(what, { signal }));
    } catch (error) {
      if (error.name === "AbortError") return;
      failing(error);
    }
    if (!signal.aborted) timer = setTimeout(once, pause);
  };
  once();
}

function originsOf(list) {
  return table([
    { title: "origin", class: "name", cell: (o) => [originLink(o.quality_origin), o.hosts > 1 && [" · ",
      hostsLink({ quality_origin: o.quality_origin }, count(o.hosts, "host"))]] },
    { title: "coverage", cell: (o) => !o.coverage ? "–" : [chip(o.coverage, coverColour(o.coverage)), o.hosts_cut > 0 && o.hosts > 1 &&
      [" ", hostsLink({ quality_origin: o.quality_origin, cover: "cut short" }, `${count(o.hosts_cut, "host")} cut`)]] },
    { title: "visited", class: "wide", cell: (o) => part(visitedOf(o), Math.max(o.pages_known || 0, visitedOf(o)), "good",
      "pages visited", (said, text) => pagesLink({ quality_origin: o.quality_origin, progress: said }, text)) },
    { title: "budget", class: "wide", cell: (o) => part(o.request_count, o.request_limit, o.cut_by ? "bad" : "accent",
      "requests of the budget") },
    { title: "to visit", class: "num", cell: (o) => number(o.pages_to_visit) },
    live.status.condition.fetches && !live.status.condition.cause && { title: "ETA", class: "num",
      cell: (o) => (o.eta_seconds > 0 ? span(o.eta_seconds) : "–") },
    { title: "missing", class: "num", cell: missing },
    { title: "cut by", cell: (o) => (o.cut_by ? el("code", {}, o.cut_by) : "–") },
  ].filter(Boolean), list, { most: 50 });
}

// missing shows how many pages of an origin are missing. Only those that are recorded can be listed.
function missing(o) {
  const apart = o.urls_not_recorded || 0, pages = o.known_missing - apart;
  if (!o.known_missing) return number(o.known_missing);
  return [pages > 0 && pagesLink({ quality_origin: o.quality_origin, progress: "missing" }, number(pages)),
    apart > 0 && el("span", { class: "soft" }, `${pages > 0 ? " + " : ""}${number(apart)} not recorded`)];
}

// originLink links to the host of an origin, or to the list of its hosts if it may have several.
function originLink(name) {
  return name.startsWith("*.") ? el("a", { class: "name", href: address("hosts", { search: name.slice(2) }) }, name)
    : hostLink(name);
}

function part(n, whole, colour, label, link = (_, text) => text) {
  return [el("span", { class: "num" }, link("visited", number(n)), " of ", link("", number(whole))),
    meter(n, whole, colour, label)];
}

// drawVisits puts new visits above those that are already shown.
function drawVisits(element, list) {
  const shown = list.slice(0, mostVisits), newest = shown.length ? shown[0].cursor : -1,
    before = Number(element.dataset.newest);
  if (!shown.length) { put(element, empty("Visits appear here as they happen.")); return; }
  const fresh = newest >= before ? shown.filter((v) => v.cursor > before) : shown; // smaller: of another terrain
  if (fresh === shown || !element.querySelector("ul")) put(element, el("ul", {}));
  const rows = element.querySelector("ul");
  rows.prepend(...(rows.children.length ? fresh : shown).map(visitLine));
  while (rows.children.length > mostVisits) rows.lastChild.remove();
  element.dataset.newest = newest;
}

function visitLine(v) {
  if (v.omitted) return el("li", { class: "gap soft" }, `${count(v.omitted, "visit")} in between ${v.omitted === 1 ? "is" : "are"} not shown`);
  const { status_code: status, latency_ms: took, title } = v.metadata || {};
  const line = el("li", {}, el("time", { class: "soft num" }, clock(v.visited_at)),
    chip(status || plain(v.state), stateColour(v.state), plain(v.state)), pageLink(v.url),
    el("span", { class: "soft title" }, title || v.error_message || (v.redirect_to ? "→ " + v.redirect_to : "")),
    el("span", { class: "num soft" }, milliseconds(took)));
  line.dataset.cursor = v.cursor;
  return line;
}

// heroOf returns the head of the view: the condition, what it means, and the button that changes it.
function heroOf(signal) {
  const said = el("p", { class: "sentence", "aria-live": "off" }), meta = el("p", { class: "soft meta" }),
    problem = el("div", {}), buttons = el("div", { class: "buttons" });
  let able = "";
  const show = (s, text) => {
    put(said, s.condition.headline);
    put(meta, text);
    if (able === String(s.condition.commands)) return;
    able = String(s.condition.commands);
    put(buttons, quick(s, problem, signal));
  };
  return { element: el("header", { class: "hero" }, said, meta, buttons, problem), show };
}

// showFinished shows a file that no crawl is using, or the shards in a folder.
function showFinished(box, signal) {
  fetched(box, () => ask("stats", { signal }), (s) => finished(s, signal), signal);
}

function finished(s, signal) {
  const run = s.run, ended = run.finished_at ? ` · ended ${ago(run.finished_at)}` : "", hero = heroOf(signal);
  hero.show(live.status, `${s.state_path}${ended} · ${span(Math.round(run.running_seconds))} of work, ${
    count(run.requests, "request")}`);
  const answered = Object.entries(s.pages_by_answer).filter(([, pages]) => pages > 0);
  return [title(), hero.element,
    el("div", { class: "figures" }, figure("pages", pagesLink({}, number(s.pages))), figure("links", number(s.links)),
      figure("hosts", hostsLink({ class: "quality or discovered" }, number(s.hosts))),
      figure("listed hosts", hostsLink({ class: "stub or blacklist" }, number(s.listed_hosts))),
      figure("pages waiting", pagesLink({ progress: "waiting" }, number(s.frontier))),
      figure("pages requested", pagesLink({ run: run.id }, number(run.pages)), "in run #" + run.id)),
    el("div", { class: "columns" }, section("Pages by state", null,
      bars(Object.entries(s.pages_by_state), { words: plain, colour: stateColour,
        links: (state, text) => pagesLink({ state }, text) })),
      el("div", {}, section("Pages by class", null, bars(Object.entries(s.pages_by_class), { colour: classColour,
        links: (name, text) => pagesLink({ class: name }, text) })),
        answered.length > 0 && section("Instead of a page", null, bars(answered, { words: plain, colour: answerColour,
          links: (answer, text) => pagesLink({ answer, progress: "visited" }, text) })),
        s.rendered + s.not_rendered > 0 && section("Pages rendered", null, bars(renderingsOf(s))),
        section("Errors", "of run #" + run.id, errorsOf(run.errors))),
      section("Pages by depth", null, depthTable(s.pages_by_depth))),
    section("Origins", "coverage, budget, and what limited them", originsOf(s.origins)),
    section("Hosts cut short", s.slow_hosts_total ? count(s.slow_hosts_total, "host") : null, cutTable(s.slow_hosts))];
}

// renderingsOf counts the pages that were rendered, or were to be, by how that ended. Some count twice.
function renderingsOf(s) {
  return [["rendered", s.rendered], ["without some of what their scripts requested", s.rendered_in_part],
    ["cut by a budget", s.render_cut_by_budget], ["still empty", s.rendered_empty], ["as fetched, because rendering failed", s.not_rendered],
    ["as fetched, because their scripts ran out of time", s.render_timed_out],
    ["tried once, as other pages of the host ran out of time", s.render_tried_once]];
}

function atDepth({ depth }) { return { depth: depth === null ? "none" : depth }; }

function depthTable(list) {
  return table([{ title: "depth", class: "num", cell: (d) => (d.depth === null ? "none" : d.depth) },
    { title: "pages", class: "num", cell: (d) => pagesLink(atDepth(d), number(d.pages)) },
    { title: "processed", class: "num",
      cell: (d) => pagesLink({ ...atDepth(d), state: "processed" }, number(d.processed)) },
    { title: "share", class: "wide middle", cell: (d) => meter(d.processed, d.pages, "good", "processed") }], list);
}

function cutTable(list) {
  if (!list.length) return empty("Every host that was visited is complete.");
  return table([{ title: "host", class: "name", cell: (h) => hostLink(h.domain, h.domain_shown) },
    { title: "class", cell: (h) => chip(h.class, classColour(h.class)) },
    { title: "coverage", cell: (h) => h.coverage }, { title: "missing", class: "num",
      cell: (h) => number(h.known_missing) },
    { title: "to visit", class: "num", cell: (h) => number(h.pages_to_visit) }], list);
}
