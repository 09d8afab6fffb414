// Broken: links that lead nowhere, by target or by origin. The desk counts all of them; some are listed.

import { ask } from "./api.js";
import { el, put, named, chip, pageLink, outside, keep, button, save, csv } from "./dom.js";
import { heading, section, empty, failed, fetched, table, state, choice } from "./parts.js";
import { number, count, plain, answerColour } from "./words.js";

const most = { targets: 1000, links: 5000, csv: 100000 }; // listed; in a CSV file
const rest = 200; // ms without a key stroke before the search starts
const columns = ["quality_origin", "from_url", "anchor", "to_url", "state", "status_code", "error_message", "kind",
  "rel", "place", "answer"];
const groups = [["", "target"], ["origin", "origin"]];

export function show(view, said, signal) {
  const chosen = { by: "", origin: "", state: "", search: "", sort: "", ...said };
  const total = el("span", { class: "soft total", role: "status" }), selects = el("span", { class: "selects" }),
    sheet = el("div", {}), page = { chosen, total, selects, sheet, signal, asked: new AbortController() };
  const search = el("input", { type: "search", class: "search", placeholder: "Search pages, anchors, errors   /",
    "aria-label": "Search broken links", value: chosen.search, maxlength: 250 });
  let timer = 0;
  page.remember = (changes) => { Object.assign(chosen, changes); keep("broken", chosen, changes); };
  page.renew = (changes) => { page.remember(changes); build(page); };
  search.addEventListener("input", () => { clearTimeout(timer);
    timer = setTimeout(() => page.renew({ search: search.value.trim() }), rest); });
  signal.addEventListener("abort", () => { clearTimeout(timer); page.asked.abort(); });
  put(view, heading("Broken links", total), el("div", { class: "filters" }, search, selects), sheet);
  build(page);
}

// build shows the links that are chosen now.
function build(page) {
  page.asked.abort();
  page.asked = new AbortController();
  const { chosen } = page, { signal } = page.asked;
  const said = { quality_origin: chosen.origin, state: chosen.state, search: chosen.search };
  const questions = async () => {
    const counts = await ask("broken/targets", { said: { ...said, limit: chosen.by ? 0 : most.targets }, signal });
    const links = chosen.by && await ask("broken", { said: { ...said, limit: most.links }, signal });
    return { data: { counts: counts.data, links: links && links.data }, age: counts.age };
  };
  put(page.total, "");
  fetched(page.sheet, questions, ({ counts, links }) => draw(page, said, counts, links), signal);
}

function draw(page, said, counts, links) {
  const { chosen } = page, drawing = { sort: chosen.sort, onsort: (sort) => page.remember({ sort }) };
  put(page.total, counts.links === counts.all_links ? count(counts.links, "link")
    : `${number(counts.links)} of ${count(counts.all_links, "link")}`, " to ", count(counts.target_count, "target"));
  drawFilters(page, said, counts);
  const isWalled = (l) => l.answer === "challenge", walled = links && links.filter(isWalled);
  const broken = links && links.filter((l) => !isWalled(l));
  const none = !counts.links && empty(counts.all_links ? "No broken link matches."
    : "No link whose target was requested is broken.");
  return [none || [listed(broken, counts.links, counts.targets, counts.target_count),
    section(null, null, broken ? linkTable(broken, drawing) : targetTable(counts.targets, drawing))],
  counts.walled_links > 0 && [
    section("Not known to be broken", count(counts.walled_links, "link") + " to pages that show a wall to crawlers",
      listed(walled, counts.walled_links, counts.walled_targets, counts.walled_target_count),
      walled ? linkTable(walled) : targetTable(counts.walled_targets))]].flat(2);
}

// listed reports that there are more links, or targets, than are listed.
function listed(links, allLinks, targets, allTargets) {
  return links ? cutAt(links.length, allLinks, "links") : cutAt(targets.length, allTargets, "targets that most pages link to");
}

// cutAt reports that there are more than are listed.
function cutAt(listed, all, what) {
  return listed < all && el("p", { class: "soft", role: "status" },
    `All are counted. Listed are the first ${number(listed)} ${what}; `, el("code", {}, "ripple broken"), " prints all.");
}

function drawFilters({ chosen, selects, sheet, signal, renew }, said, counts) {
  const offered = (list, text) => [["", "all"], ...list.map(({ name, links }) => [name, `${text(name)} (${number(links)})`])];
  const file = button("CSV", async () => {
    file.disabled = true;
    try {
      const { data } = await ask("broken", { said: { ...said, limit: most.csv }, signal });
      save(csv(columns, data.map((l) => columns.map((c) => l[c]))), "broken.csv", "text/csv");
    } catch (error) {
      if (error.name !== "AbortError" && !signal.aborted) put(sheet, failed(error));
    }
    file.disabled = false;
  }, { title: counts.links > most.csv && `the first ${number(most.csv)} links; "ripple broken --csv" writes all` });
  const held = selects.contains(document.activeElement) && document.activeElement.getAttribute("aria-label");
  put(selects, choice("group by", groups, chosen.by, (by) => renew({ by, sort: "" })),
    choice("origin", offered(counts.origins, (name) => name), chosen.origin, (origin) => renew({ origin })),
    choice("state", offered(counts.states, plain), chosen.state, (value) => renew({ state: value })), file);
  if (held) selects.querySelector(`[aria-label="${held}"]`).focus();
}

// classOf returns the state by which a target is filtered: a soft 404 is none of its own.
function classOf(l) { return l.answer === "soft404" ? l.answer : l.state; }

// The columns of a target, which a link has, too.
function ofTarget(title) {
  return [{ title, name: "to", value: (l) => l.to_url, class: "name",
    cell: (l) => [pageLink(l.to_url), " ", outside(l.to_url, "↗")] },
  { title: "state", name: "state", value: classOf, cell: (l) => (l.answer === "soft404" ? chip(plain(l.answer), answerColour(l.answer)) : state(l.state)) },
  { title: "status", name: "status", value: (l) => l.status_code, class: "num", cell: (l) => l.status_code || "–" },
  { title: "why", name: "why", value: (l) => l.error_message, cell: (l) => l.error_message }];
}

function targetTable(targets, drawing) {
  return table([...ofTarget("target"),
    { title: "links", name: "links", value: (t) => t.links, class: "num", cell: (t) => number(t.links) },
    { title: "origins", name: "origins", value: (t) => t.origins, class: "num", cell: (t) => number(t.origins) }],
  targets, { ...drawing, inner: (t) => [table(ofSource(), t.first_links), t.links > t.first_links.length &&
    el("p", { class: "soft" }, `The first ${number(t.first_links.length)} of ${number(t.links)} pages; all are at `,
      pageLink(t.to_url, "the target"), ".")] });
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
