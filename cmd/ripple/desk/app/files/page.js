// Page: everything known about one page, and the shortest paths to it.

import { ask, offers } from "./api.js";
import { el, put, chip, hostLink, pageLink, outside, address, button } from "./dom.js";
import { heading, section, facts, table, empty, fetched, state, route } from "./parts.js";
import { linkers, placed, inPlace } from "./places.js";
import { number, count, moment, ago, bytes, milliseconds, plain, classColour, ruleText, probeText } from "./words.js";

export function show(view, said, signal) {
  const url = said.url || "", field = el("input", { type: "text", class: "search", value: url,
    placeholder: "https://…   /", "aria-label": "Address of a page", spellcheck: "false", autocapitalize: "none",
    inputmode: "url" });
  const go = (event) => { event.preventDefault(); if (field.value.trim()) location.hash = address("page",
    { url: field.value.trim() }); };
  const box = el("div", { class: "page" });
  put(view, el("form", { class: "filters", onsubmit: go }, field, el("button", { class: "button" }, "Look it up")),
    box);
  const question = (place) => ask("pages", { said: { url, limit: 100, place }, signal });
  if (url) fetched(box, () => question(said.place), (p) => inspection(p, question, said, signal), signal);
  else put(box, heading("Page"),
    empty("Enter the address of a page to see everything known about it: class, state and reason, " +
    "shortest paths, links and visits."));
}

// inspection shows what is known about a page. question requests it again, with another place of links.
function inspection(p, question, said, signal) {
  const title = p.title || (p.known ? "No title" : "Not known");
  const head = el("header", { class: "hero" }, heading(title),
    el("p", { class: "address" }, el("span", {}, p.url || p.input), " ", outside(p.url || p.input, "open ↗")),
    el("p", { class: "chips" }, chip(p.class, classColour(p.class)), p.known && state(p.state),
      p.known && p.depth !== null && chip("depth " + p.depth), p.seed && chip("seed"),
      p.page_type && chip("type " + p.page_type),
      p.known && p.error_message && el("span", { class: "warn" }, p.error_message)));
  if (!p.known) return [head, empty((p.archives ? `Only the archives of run #${p.archives.join(", #")} know this page.`
    : "No link to this page has been found.") + " Ripple would treat it like this:"),
    section("Address", null, steps(p))];
  return [head, section("Shortest paths", "from each origin that reaches it", paths(p.depths)),
    el("div", { class: "columns" }, section("Address", null, steps(p), el("h3", {}, "Forms that were seen"),
      el("ul", { class: "plain-list" }, p.forms.map((form) => el("li", {}, el("code", {}, form))))),
      section("Status", null, standing(p), p.facts.length > 0 &&
        [el("h3", {}, "Facts"), facts(p.facts.map((f) => [f.name, f.value]))])),
    p.redirects.length > 0 && section("Redirects", null,
      el("ol", { class: "plain-list" }, p.redirects.map((url) => el("li", {}, pageLink(url))))),
    section("Links in", "those in the text first", linksIn(p, question, said, signal)),
    section("Links out", count(p.links_out.total, "page"),
      links(p.links_out, "It links to no page.", linking(p.url, "t", "f"), placeColumn)),
    section("Visits", p.visits_omitted && `the newest; ${number(p.visits_omitted)} older`, visits(p.visits))];
}

function steps(p) {
  return facts([...p.steps.map((s) => [s.step, el("code", {}, s.result)]), ["sort key", el("code", {}, p.surt_key)],
    ["host", p.domain_shown],
    [p.known ? "decided by" : "class by", p.rule || "no list names it"]]);
}

function standing(p) {
  const r = p.robots;
  return facts([["robots.txt", r && [chip(r.allowed ? "allowed" : "disallowed", r.allowed ? "good" : "bad"), " ",
    r.rule ? `line ${r.line}: ${r.rule}` : r.why]], ["copy of robots.txt",
    r && r.status_code > 0 && `${r.status_code}, ${ago(r.robots_fetched_at)}`],
    ["answer", p.answered && `${plain(p.answered.answer)}: ${ruleText(p.answered)}`],
    ["compared with", p.missing_probe && probeText(p.missing_probe)],
    ["host", hostOf(p.url)], ["being requested", p.fetching_since && "since " + moment(p.fetching_since)],
    ["waits for", p.waits_for && [p.waits_for, p.waits_since && ", since " + moment(p.waits_since)]],
    ["trouble at the host", p.host_trouble], ["found", moment(p.discovered_at)],
    ["first linked from", p.referrer && pageLink(p.referrer)],
    ["runs", p.first_run === p.last_run ? "#" + p.first_run : `#${p.first_run} to #${p.last_run}`]]);
}

function paths(list) {
  if (!list || !list.length) return empty("No origin reaches it within the recorded depth.");
  return el("div", { class: "routes" }, list.map((o) => route(o.quality_origin, o.depth, o.path)));
}

const placeColumn = [{ title: "place", cell: placed }];

// linksIn shows the links to a page, and a choice of their place.
function linksIn(p, question, said, signal) {
  let place = said.place || "";
  const draw = (list) => [list.total > 0 && el("p", { class: "soft" }, count(list.total, "page")),
    links(list, place ? "No page has such a link." : "No page links here.",
      linking(p.url, "f", "t", inPlace(place)), [...placeColumn,
        { title: "in the text", cell: (l) => (l.editorial ? "yes" : "–") }])];
  return linkers(p.links_in, { view: "page", said, question, signal, of: (other) => other.links_in, draw,
    chosen: (next) => { place = next; } });
}

function links({ links: list, total, links_omitted: left }, none, sql, columns) {
  if (!list.length) return empty(none);
  const more = total - list.length;
  return [table([{ title: "page", class: "name", cell: (l) => pageLink(l.url) },
    { title: "state", cell: (l) => state(l.state) }, { title: "anchor", cell: (l) => l.anchor || "–" },
    { title: "kind", cell: (l) => [l.kind, l.rel && " " + l.rel, l.rendered && ", by scripts"] }, ...columns],
    list, { most: 25 }),
  more > 0 && el("p", { class: "rest" }, offers("query")
    ? el("a", { href: address("ask", { sql }) }, `Ask for all ${number(total)}`) : `and ${number(more)} more`),
  left > 0 && el("p", { class: "soft" }, `${number(left)} more were counted but not recorded`)];
}

function hostOf(url) {
  try { return hostLink(new URL(url).host); } catch { return null; }
}

// linking returns the query for the pages at one end of the links whose other end is the page.
function linking(url, one, other, more = "") {
  return `SELECT ${one}.url, ${one}.state, l.anchor, l.kind, l.place
FROM links l JOIN pages f ON f.id = l.from_page_id JOIN pages t ON t.id = l.to_page_id
WHERE ${other}.url = '${url.replaceAll("'", "''")}'${more} ORDER BY 1`;
}

function visits(list) {
  if (!list.length) return empty("It was not visited.");
  return table([{ title: "run", cell: (v) => "#" + v.run_id }, { title: "at", cell: (v) => moment(v.visited_at) },
    { title: "state", cell: (v) => state(v.state) },
    { title: "status", class: "num", cell: (v) => v.status_code || "–" },
    { title: "in", class: "num", cell: (v) => milliseconds(v.response_ms) },
    { title: "length", class: "num", cell: (v) => bytes(v.content_length) },
    { title: "type", cell: (v) => v.content_type || "–" },
    { title: "requests", class: "num", cell: (v) => number(v.requests) },
    { title: "more", cell: (v) => [v.kept && "kept",
      v.answer && `a wall (${v.answer_status_code}, ${v.answer_rule})`, v.unchanged && "unchanged", v.noindex && "noindex",
      v.nofollow && "nofollow", v.preferences, v.rendered ? `rendered with ${v.render_requests} requests: ${v.rendered}` :
        v.needs_scripts && `likely needs scripts: ${v.needs_scripts}`,
      v.error_message].filter(Boolean).join(", ") || "–" }], list, { most: 20 });
}
