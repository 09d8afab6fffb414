// Suggest: hosts worth adding, a line each with its evidence inside, and decisions about one or many of them.

import { ask, offers } from "./api.js";
import { el, put, chip, button, hostLink, pageLink, named, copier, tagLink, keep } from "./dom.js";
import { heading, section, table, empty, fetched, choice } from "./parts.js";
import { decideForm, decidedChip } from "./decide.js";
import { keys, makeTray } from "./tray.js";
import { number, count, coverColour } from "./words.js";

const most = 500; // candidates of each kind
const mostOutside = 20; // candidates outside the terrain
const least = [["", "any origin"], ["2", "2 origins or more"], ["3", "3 origins or more"], ["5", "5 origins or more"]];
const orders = [["", "origins"], ["links", "links"], ["trust", "trust"], ["pages", "pages known"], ["name", "name"]];

export function show(view, said, signal) {
  const chosen = { min_origins: said.min_origins || "", search: said.search || "", sort: said.sort || "",
    group: said.group || "" };
  const box = el("div", {}), total = el("span", { class: "soft total", role: "status" });
  const state = { chosen, total, signal, rows: [], arrange: () => {} };
  state.tray = makeTray({ signal, changed: () => { for (const r of state.rows) if (r.line) tell(r, state); } });
  const renew = (changes) => { Object.assign(chosen, changes); keep("suggest", chosen, changes); state.arrange(); };
  const search = el("input", { type: "search", class: "search", placeholder: "Search hosts, titles, origins   /",
    "aria-label": "Search suggestions", value: chosen.search, spellcheck: "false", autocapitalize: "none",
    oninput: () => renew({ search: search.value }) });
  const load = () => fetched(box, async () => {
    const said = { min_origins: chosen.min_origins, limit: most };
    const [found, decided, outside] = await Promise.all([ask("suggest", { said, signal }),
      offers("decisions") ? ask("decisions", { signal }) : null,
      offers("suggest/outside") ? ask("suggest/outside", { said: { ...said, limit: mostOutside }, signal }) : null]);
    return { age: found.age, data: { found: found.data, decided: decided && decided.data, outside: outside && outside.data } };
  }, (data) => draw(data, state), signal);
  put(view, heading("Suggest", total), el("div", { class: "filters" }, search,
    choice("linked from", least, chosen.min_origins, (value) => { renew({ min_origins: value }); load(); }),
    choice("sort by", orders, chosen.sort, (value) => renew({ sort: value })),
    choice("group by", [["", "nothing"], ["site", "site"]], chosen.group, (value) => renew({ group: value }))), box);
  load();
}

function draw({ found, decided, outside }, state) {
  const known = new Set(decided ? decided.decisions.map((d) => d.host) : []); // the snapshot may be older
  const open = (list) => list.filter((c) => !known.has(c.domain));
  const place = el("div", { class: "candidates" });
  Object.assign(state, { origins: found.origins, decisions: decided,
    rows: [...open(found.discovered), ...open(found.stubs)].map((c, i) => ({ c, rank: i, host: c.domain, seed: seedOf(c),
      text: [c.entity, c.entity_shown, c.domain, c.title, ...c.linked_from.map((o) => o.quality_origin)]
        .join(" ").toLowerCase() })) });
  state.arrange = () => arrange(place, state);
  state.arrange();
  listen(place, state);
  return [decided && decided.reason && el("p", { class: "lead soft" },
    `Decisions can only be copied here: ${decided.reason}.`),
  decided && el("p", { class: "soft hint" }, "↑ ↓ a line, Space marks it, Enter opens it; ",
    Object.entries(keys).map(([key, name]) => [el("kbd", {}, key), " ", name, " "])),
  place, state.tray.element, decided && decided.decisions.length > 0 &&
    section("Decided", `in ${decided.path}`, decisions(decided.decisions)),
  found.owners.length > 0 && owners(found.owners),
  outside && outside.hosts.length > 0 && fromOutside(outside)];
}

// owners lists hosts of different sites that say of each other that one person is behind them.
function owners(all) {
  return section("One owner", "sites that name each other with rel=me, and could be one entity",
    el("ul", { class: "owners" }, all.map((o) => el("li", {},
      el("p", {}, o.hosts.map((host, i) => [i > 0 && ", ", hostLink(host)])),
      el("ul", { class: "citing" }, o.links.map((l) =>
        el("li", {}, pageLink(l.from_url), el("span", { class: "soft" }, " → "), pageLink(l.to_url)))),
      block(o)))));
}

// arrange draws the lines that match the search, in the chosen order and groups.
function arrange(place, state) {
  const { search, sort, group } = state.chosen, word = search.trim().toLowerCase();
  const rows = state.rows.filter((r) => r.text.includes(word));
  if (sort === "name") rows.sort((a, b) => (a.c.entity < b.c.entity ? -1 : 1));
  else if (sort) rows.sort((a, b) => b.c[sort] - a.c[sort] || a.rank - b.rank);
  const held = place.contains(document.activeElement) && document.activeElement.dataset.entity;
  const kinds = [["discovered", "Discovered", "", "hidden"], ["stub", "Stubs", "never visited, but linked to"]];
  const lists = kinds.map(([name, title, more, shown]) => {
    const some = rows.filter((r) => (r.c.class === "stub") === (name === "stub"));
    return some.length > 0 && [el("h2", { class: shown }, title, el("span", { class: "soft" }, more)), group === "site"
      ? [...Map.groupBy(some, (r) => r.c.site)].map(([site, its]) => el("section", { class: "site" },
        its.length > 1 && el("h3", {}, site, el("span", { class: "soft" }, count(its.length, "host"))),
        lines(its, state)))
      : lines(some, state)];
  });
  put(state.total, count(rows.length, "candidate"));
  put(place, rows.length > 0 ? lists : empty(state.rows.length > 0 ? "Nothing matches the search."
    : "No other host is linked from that many origins."));
  const all = [...place.querySelectorAll(".candidate")];
  const at = all.find((line) => line.dataset.entity === held);
  for (const line of all) line.tabIndex = line === (at || all[0]) ? 0 : -1;
  if (at) at.focus({ preventScroll: true });
}

function lines(rows, state) { return el("ol", {}, rows.map((r) => line(r, state))); }

function line(r, state) {
  const { c } = r, name = c.domain ? hostLink(c.domain, c.entity_shown)
    : el("span", { class: "name" }, c.entity_shown || c.entity);
  const mark = state.decisions && c.domain && state.tray.box(r, { tabindex: "-1" });
  const more = el("div", { class: "more", hidden: true }), verdict = el("span", { class: "verdict" });
  r.line = el("li", { class: "candidate", tabindex: "-1" }, el("div", { class: "line" }, mark || el("span", {}), name,
    el("span", { class: "title" }, c.title || ""), verdict,
    chip(`${number(c.origins)} of ${count(state.origins, "origin")}`, "class-quality"),
    el("span", { class: "soft num" }, count(c.links, "link")),
    el("span", { class: "soft num" }, count(c.pages, "page")),
    button("Evidence", () => unfold(r, more, state), { class: "link", tabindex: "-1", "aria-expanded": "false",
      "aria-label": "Evidence for " + (c.domain || c.entity) })), more);
  r.line.dataset.entity = c.entity;
  r.verdict = verdict;
  r.unfold = () => unfold(r, more, state);
  tell(r, state);
  return r.line;
}

// unfold opens or closes the evidence of a line.
function unfold({ c, line }, more, state) {
  if (!more.hasChildNodes()) put(more, evidence(c, state));
  more.hidden = !more.hidden;
  line.querySelector("[aria-expanded]").setAttribute("aria-expanded", String(!more.hidden));
}

function evidence(c, { decisions: decided, signal }) {
  return [el("div", {}, el("p", { class: "chips" }, chip("trust " + c.trust.toPrecision(3)),
    c.hosts > 1 && chip(count(c.hosts, "host")), c.coverage && chip(c.coverage, coverColour(c.coverage)),
    c.known_missing > 0 && chip(number(c.known_missing) + " missing", "warm")),
  el("ul", { class: "citing" }, c.linked_from.map(citing))),
  el("div", { class: "sides" }, decided && c.domain && decideForm(c.domain, { seed: seedOf(c), signal }),
    c.block && (decided && c.domain ? el("details", { open: !decided.path },
      el("summary", {}, "As a [[quality]] entry"), block(c)) : block(c)))];
}

function tell(r, state) { state.tray.tell(r, r.line, r.verdict); }

// listen handles the keys of the list: through the lines, and what the marked ones, or the present one, should be.
function listen(place, state) {
  let going = false; // g was pressed: the key of a view follows
  place.addEventListener("keydown", (event) => {
    const here = event.target.classList.contains("candidate") && event.target;
    if (!here || event.ctrlKey || event.metaKey || event.altKey) return;
    const view = going;
    going = event.key === "g";
    const r = state.rows.find((one) => one.line === here), all = [...place.querySelectorAll(".candidate")];
    const go = (to) => { if (!all[to]) return;
      here.tabIndex = -1;
      all[to].tabIndex = 0;
      all[to].focus(); };
    const at = all.indexOf(here), choosing = !view && r.c.domain && state.decisions && keys[event.key];
    if (choosing) { state.tray.stage(state.tray.marked.size > 0 ? [...state.tray.marked.values()] : [r], choosing);
      go(next(all, at, state)); }
    else if (event.key === "ArrowDown" || event.key === "j") go(at + 1);
    else if (event.key === "ArrowUp" || event.key === "k") go(at - 1);
    else if (event.key === "Home") go(0);
    else if (event.key === "End") go(all.length - 1);
    else if (event.key === "Enter") r.unfold();
    else if (event.key === " " && r.c.domain && state.decisions) state.tray.toggle(r);
    else return;
    event.preventDefault();
  });
}

// next returns the position of the next line that nothing is chosen for.
function next(all, at, state) {
  const waits = (line) => { const r = state.rows.find((one) => one.line === line);
    return r.c.domain && state.tray.open(r.c.domain); };
  const after = all.findIndex((line, i) => i > at && waits(line));
  return after < 0 ? at : after;
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

// fromOutside lists hosts outside the terrain that link to the most origins.
function fromOutside({ release, origins, hosts }) {
  return section("From outside", `by the web graph ${release}, a sample of the web`, table([
    { title: "host", class: "name", cell: (h) => named(h.host) },
    { title: "links to", cell: (h) => `${number(h.origins.length)} of ${count(origins, "origin")}` },
    { title: "harmonic rank", class: "num", cell: (h) => (h.harmonic_rank === null ? "–" : "#" + number(h.harmonic_rank)) },
    { title: "entry", cell: (h) => (h.block ? copier(h.block + "\n", "Copy block") : "–") }], hosts),
  el("p", {}, el("a", { href: "#/outside" }, "All that link to origins from outside")));
}

// decisions lists those in the file. A decision is changed in the view of its host.
function decisions(list) {
  return table([{ title: "host", class: "name", cell: (d) => hostLink(d.host) },
    { title: "decided", cell: (d) => decidedChip(d.class) },
    { title: "tags", cell: (d) => (d.tags.length ? d.tags.map((tag) => [tagLink(tag), " "]) : "–") },
    { title: "note", cell: (d) => d.note || "–" }], list, { most: 50 });
}
