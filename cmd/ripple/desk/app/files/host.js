// Host: everything known about one host.

import { ask, askFresh, offers } from "./api.js";
import { el, put, chip, hostLink, pageLink, pagesLink, outside, tagLink } from "./dom.js";
import { duplicatesLink } from "./duplicates.js";
import { linkers, inPlaceText } from "./places.js";
import { decideForm, decidedChip } from "./decide.js";
import { bars, meter, gapStrip } from "./chart.js";
import { heading, section, figure, facts, table, empty, failed, fetched, state } from "./parts.js";
import { number, count, span, ago, moment, clock, milliseconds, plain, percent, stateColour, classColour,
  coverColour, ruleText, probeText, frontText } from "./words.js";

export function show(view, said, signal, domain) {
  const box = el("div", { class: "host" });
  put(view, box);
  const question = (place = said.place) =>
    ask("hosts/" + encodeURIComponent(domain), { said: { limit: 100, place }, signal });
  fetched(box, () => question(), (d) => dossier(d, question, said, signal), signal);
}

// dossier shows what is known about a host. question requests it again, after a decision or with another place of links.
function dossier(d, question, said, signal) {
  const head = el("header", { class: "hero" }, heading(d.domain_shown || d.domain,
    outside("https://" + d.domain + "/", "open ↗")),
    d.title && el("p", { class: "title" }, d.title),
    el("p", { class: "chips" }), d.note && el("p", { class: "note" }, d.note));
  const chips = head.querySelector(".chips"), covered = el("div", {});
  const draw = (now) => { put(chips, chipsOf(now)); put(covered, now.known && [coverage(now), answered(now)]); };
  const done = async () => {
    try { draw((await askFresh(() => question())).data); } catch (error) {
      if (error.name !== "AbortError") put(covered, failed(error, done));
    }
  };
  const deciding = offers("decisions") && section("Decide", "the class of this host",
    decideForm(d.domain, { chosen: decidedClass(d), tags: d.tags, note: d.note, done, signal }));
  draw(d);
  if (!d.known) return [head, empty(d.archives ? `Only the archives of run #${d.archives.join(", #")} know this host.`
    : "No page of this host is known, and nothing links to it."), deciding];
  const asksStrip = offers("hosts/{domain}/requests"), asksSQL = offers("query");
  const strip = el("div", {}), robots = el("div", {}), out = el("div", {});
  if (asksStrip) fetched(strip, () => ask(`hosts/${encodeURIComponent(d.domain)}/requests`, { signal }),
    (answer) => stripOf(answer, signal), signal);
  askRobots(robots, d, `https://${d.domain}/`, signal);
  const top = el("div", {}, pages(d.busiest_pages)), outText = el("span", {}), topText = el("span", {});
  const say = (place) => {
    put(outText, inPlaceText(place === "text" ? place : ""));
    put(topText, "by number of links to them: " + inPlaceText(place));
  };
  const linksTo = (place) => {
    say(place);
    if (asksSQL) fetched(out, () => ask("query", { body: { sql: linksOut(d.domain, place) }, signal }), outOf, signal);
  };
  linksTo(said.place);
  return [head, covered,
    asksStrip && section("The last requests", "and the gaps between them", strip),
    el("div", { class: "columns" }, section("Pages by state", null,
      bars(Object.entries(d.pages_by_state), { words: plain, colour: stateColour,
        links: (state, text) => pagesLink({ domain: d.domain, state }, text) })),
      section("Errors", null, errors(d)), deciding),
    section("robots.txt", robotsMeta(d.robots), robots),
    section("Who links here", "links in the text first", linkers(d.linked_from, { said, question, signal,
      view: "host/" + encodeURIComponent(d.domain), draw: linking, chosen: linksTo,
      label: "links counted here and in the sections below",
      of: (other) => { put(top, pages(other.busiest_pages)); return other.linked_from; } })),
    asksSQL && section("What it links to", outText, out),
    section("Top pages", [topText, offers("duplicates") && [" · ", duplicatesLink(d.domain, "near-duplicates")]], top),
    section("Runs", null, runs(d.runs))];
}

function chipsOf(d) {
  return [chip(d.class, classColour(d.class)), d.known && chip(d.coverage, coverColour(d.coverage)),
    d.min_depth !== null && d.min_depth !== undefined && chip("depth " + d.min_depth),
    d.later && decidedChip("later"), d.tags.map(tagLink), d.rule && el("span", { class: "soft" }, "by " + d.rule)];
}

// decidedClass returns the class that was decided for a host; empty: none.
function decidedClass(d) { return d.later ? "later" : /^decision /.test(d.rule) ? d.class : ""; }

// askedNext says when the next request to a host may be made.
function askedNext(d) {
  if ((d.trouble && !d.again_at) || d.request_count >= d.request_limit) return "in the next run";
  const at = d.again_at || d.next_request;
  return at && Date.parse(at) > Date.now() ? ago(at) : "allowed now";
}

function coverage(d) {
  const asked = d.class !== "stub" && d.class !== "blacklist"; // listed hosts have neither clock nor budget
  const list = (progress, n) => pagesLink({ domain: d.domain, progress }, number(n));
  return el("div", { class: "columns" }, section("Coverage", null,
    el("p", { class: "lead" }, whyOf(d)),
    el("div", { class: "figures" }, figure("visited", list("visited", d.pages_visited),
      [percent(d.pages_visited, d.pages_known) + " of ", list("", d.pages_known)]),
      figure("waiting", list("waiting", d.pages_waiting)),
      figure("missing", d.links_omitted ? number(d.known_missing) : list("missing", d.known_missing)),
      figure("visits, all runs", number(d.crawl_count))),
      meter(d.pages_visited, d.pages_known, "good", "pages visited")),
  section("Clock and budget", null, facts([["between two requests", asked && milliseconds(d.delay_ms)],
    ["Crawl-delay", d.crawl_delay_ms > 0 && milliseconds(d.crawl_delay_ms)],
    ["response time", milliseconds(d.smoothed_ms)], ["time-outs in a row", d.timeouts > 0 && number(d.timeouts)],
    ["answers that asked Ripple to wait", d.rate_limited > 0 && number(d.rate_limited)],
    ["next request", asked ? askedNext(d) : "never, because of its class"],
    ["trouble", d.trouble && d.trouble + (d.again_at ? ", next try " + ago(d.again_at) : "")],
    ["requests of every kind", number(d.requests)]]),
  asked && [el("p", { class: "between" }, el("span", { class: "soft" }, "budget of run #" + d.run_id),
    el("span", { class: "num" }, `${number(d.request_count)} of ${number(d.request_limit)}`)),
  meter(d.request_count, d.request_limit, d.request_count >= d.request_limit ? "bad" : "accent",
    "requests of the budget")]));
}

function whyOf(d) {
  const use = d.preferences ? ` robots.txt says about the use of pages: ${d.preferences.split("\n").join("; ")}.` : "";
  return coverageOf(d) + wallOf(d) + handsOf(d) + use;
}

function handsOf({ changed_hands: h }) {
  return h ? ` It has likely changed hands. Its front page in run #${h.before.run_id}: ${frontText(h.before)}; ` +
    `in run #${h.after.run_id}: ${frontText(h.after)}.` : "";
}

function wallOf(d) {
  return d.wall === "suspected"
    ? " A wall is suspected: nearly all of its pages show the same few words and lead nowhere on the host." : "";
}

// answered shows what came instead of pages; null: nothing is known to have come.
function answered(d) {
  const these = (answer, pages) => pagesLink({ domain: d.domain, answer, progress: "visited" },
    count(pages, "page"));
  const rules = d.answered.map((a) => (a.answer === "parked" ? ["for sale", ruleText(a)]
    : ["walls", [these(a.answer, d.walled_pages), ": ", ruleText(a)]]));
  const probe = d.missing_probe, missing = probe && ["missing pages", [d.missing_pages, "; ", probeText(probe)]];
  const soft = d.soft404_pages > 0 && ["soft 404", these("soft404", d.soft404_pages)];
  const all = [...rules, missing, soft].filter(Boolean);
  return all.length > 0 && section("What it answers instead of pages", null, facts(all));
}

function coverageOf(d) {
  const needy = d.need_scripts ? ` ${count(d.need_scripts, "page likely shows", "pages likely show")} nothing without scripts.` : "";
  const late = d.render_timed_out || d.render_tried_once ? ` The scripts of ${count(d.render_timed_out, "page")} ran out of time, `
    + `and therefore ${count(d.render_tried_once, "page was", "pages were")} tried once.` : "";
  const scripts = needy + late;
  const all = d.pages_visited === d.pages_known ?
    d.pages_known === 1 ? "The only known page was visited." : `All ${count(d.pages_known, "known page")} were visited.`
    : `All pages within reach were visited: ${number(d.pages_visited)} of ${count(d.pages_known, "known page")}.`;
  const ruled = / without ([\d,]+ pages?) that rules leave out$/.exec(d.coverage);
  if (d.coverage.startsWith("complete")) return all + (ruled ? ` Rules leave out ${ruled[1]}.` : "") + scripts;
  const text = d.coverage.slice(0, 1).toUpperCase() + d.coverage.slice(1);
  return text + (d.known_missing ? `; ${count(d.known_missing, "page is", "pages are")} known to be missing.` : ".") +
    (d.links_omitted ? ` ${count(d.links_omitted, "link was", "links were")} counted but not recorded.` : "") + scripts;
}

// stripOf draws the requests; the desk sends the newest first.
function stripOf({ requests }, signal) {
  if (!requests.length) return empty("There are no recent requests to this host.");
  return gapStrip({ requests: [...requests].reverse(), signal, what: (r) => {
    const answer = r.status_code ? `${r.status_code} in ${milliseconds(r.response_ms)}`
      : r.error_message || "no answer";
    const promise = r.promised_ms ? `, promised ${milliseconds(r.promised_ms)}` : "";
    const gap = r.gap_ms ? `gap ${milliseconds(r.gap_ms)}${promise}` : "the first";
    return [clock(r.at), r.kind, answer, gap, r.url].filter(Boolean).join(" · ");
  } });
}

function robotsMeta(robots) {
  return robots.status_code ? `${robots.status_code}, fetched ${ago(robots.robots_fetched_at)}` : null;
}

// askRobots shows robots.txt with the line that decides about a page.
function askRobots(element, d, url, signal) {
  if (!d.robots.status_code) { put(element, empty("robots.txt was not fetched.")); return; }
  const field = el("input", { type: "text", class: "search", value: url, "aria-label": "Page to test",
    spellcheck: "false" }), verdict = el("p", { class: "lead", role: "status" }), file = el("div", {});
  const test = async () => {
    try {
      const { data } = await ask("pages", { said: { url: field.value.trim() }, signal });
      const rule = data.robots;
      put(verdict, rule ? [chip(rule.allowed ? "allowed" : "disallowed", rule.allowed ? "good" : "bad"),
        rule.rule ? ` by line ${rule.line}: ${rule.rule}` : " " + rule.why,
        rule.group && el("span", { class: "soft" }, ` · group "${rule.group}", as ${rule.agent}`)]
        : "There is no copy of its host's robots.txt.");
      put(file, robotsFile(d.robots.robots_txt, rule && rule.rule ? rule.line : 0));
    } catch (error) {
      if (error.name !== "AbortError") put(verdict, error.message);
    }
  };
  put(file, robotsFile(d.robots.robots_txt, 0));
  put(element, el("form", { class: "filters", onsubmit: (event) => { event.preventDefault(); test(); } }, field,
    el("button", { class: "button" }, "Which line decides?")), verdict, file);
  test();
}

const mostLines = 400;

function robotsFile(text, deciding) {
  if (!text.trim()) return empty("robots.txt is empty or missing: everything is allowed.");
  const lines = text.split(/\r\n|\r|\n/), first = Math.max(0, Math.min(deciding - 20, lines.length - mostLines)),
    shown = lines.slice(first, first + mostLines);
  const list = el("ol", { class: "listing", start: first + 1 },
    shown.map((line, i) => el("li", { class: first + i + 1 === deciding ? "deciding" : null }, line || " ")));
  list.style.setProperty("--first", first);
  return [list, lines.length > shown.length && el("p", { class: "soft" },
    `${number(lines.length - shown.length)} more lines`)];
}

function errors({ domain, errors: list }) {
  return list.length ? bars(list.map((e) => [e.error, e.pages]), { colour: () => "bad",
    links: (error, text) => pagesLink({ domain, error }, text) })
    : empty("No visit has ended in an error.");
}

function linking({ hosts, pages: from, from: list }) {
  if (!list.length) return empty("No other host has such a link.");
  return [el("p", { class: "soft" }, count(hosts, "host") + ", " + count(from, "page")),
    table([{ title: "host", class: "name", cell: (f) => hostLink(f.domain, f.domain_shown) },
      { title: "origin", cell: (f) => f.quality_origin || "–" },
      { title: "pages", class: "num", cell: (f) => number(f.pages) },
      { title: "links", class: "num", cell: (f) => number(f.links) },
      { title: "in the text", class: "num", cell: (f) => number(f.editorial) },
      { title: "anchor", cell: (f) => f.anchor || "–" },
      { title: "from", class: "name", cell: (f) => pageLink(f.from_url) },
      { title: "to", class: "name", cell: (f) => pageLink(f.to_url) }], list, { most: 20 })];
}

// linksOut returns the query for the hosts that a host links to; in the text alone, if that is the chosen place.
function linksOut(domain, place) {
  const [only, by] = place === "text" ? [" AND l.editorial > 0", "l.editorial"] : ["", "l.links"];
  return `SELECT t.domain, l.pages, l.links, l.editorial
FROM host_links l JOIN hosts f ON f.id = l.from_id JOIN hosts t ON t.id = l.to_id
WHERE f.domain = '${domain.replaceAll("'", "''")}'${only} ORDER BY ${by} DESC, t.domain LIMIT 50`;
}

function outOf({ rows }) {
  if (!rows.length) return empty("It links to no other host.");
  return table([{ title: "host", class: "name", cell: (r) => hostLink(r[0]) },
    { title: "pages", class: "num", cell: (r) => number(r[1]) },
    { title: "links", class: "num", cell: (r) => number(r[2]) },
    { title: "in the text", class: "num", cell: (r) => number(r[3]) }], rows, { most: 20 });
}

function pages(list) {
  if (!list.length) return empty("No link leads to a page of this host.");
  return table([{ title: "page", class: "name", cell: (p) => [pageLink(p.url),
    p.title && el("span", { class: "soft title" }, p.title)] }, { title: "state", cell: (p) => state(p.state) },
    { title: "links in", class: "num", cell: (p) => number(p.links_in) }], list, { most: 20 });
}

function runs(list) {
  return table([{ title: "run", cell: (r) => "#" + r.run_id },
    { title: "oldest visit", cell: (r) => moment(r.first_visit) },
    { title: "visited", class: "num", cell: (r) => number(r.pages) },
    { title: "kept", class: "num", cell: (r) => number(r.kept) },
    { title: "processed", class: "num", cell: (r) => number(r.processed) },
    { title: "requests", class: "num", cell: (r) => number(r.requests) }], list);
}
