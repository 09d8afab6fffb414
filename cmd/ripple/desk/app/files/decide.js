// Decide: the class of a host. It is chosen, its effect is computed, and it is saved and applied.

import { ask, askFresh } from "./api.js";
import { el, put, named, button, chip, copier } from "./dom.js";
import { failed, loading, table } from "./parts.js";
import { number, count, plain, classColour } from "./words.js";

const classes = [
  ["quality", "Quality", "An origin: crawled to the end, and depth is counted from it."],
  ["stub", "Stub", "Recorded as a target of links, never visited."],
  ["blacklist", "Blacklist", "Never visited, and its links count for nothing."],
  ["later", "Later", "Its class stays as it is; it is not suggested for now."],
];
let forms = 0; // number of forms made; the buttons of each need a name of their own

// decidedChip shows a decision.
export function decidedChip(name) {
  return chip(name, name === "later" ? "calm" : classColour(name));
}

// decideForm returns a form for a decision about a host. {chosen, tags, note} is the earlier decision, and seed a page
// at which a crawl of the host would begin. done is called with the answer once the decision is in force.
export function decideForm(host, { chosen = "", tags = [], note = "", seed = "", done, signal }) {
  const group = "decide-" + ++forms, what = el("p", { class: "soft" }, "Choose a class for this host."),
    outcome = el("div", { class: "foresight", role: "status" });
  const words = el("input", { type: "text", class: "field", value: tags.join(", "), placeholder: "radio, local",
    autocapitalize: "none" });
  const remark = el("textarea", { class: "field", rows: "1", maxlength: "1000", placeholder: "why, or who was asked" });
  remark.value = note;
  const foresee = button("See what would change",
    () => propose(outcome, body(), { done, signal, from: foresee }), { class: "button" });
  const rest = el("div", { class: "fields", hidden: true },
    el("label", {}, el("span", { class: "soft" }, "tags"), words),
    el("label", {}, el("span", { class: "soft" }, "note"), remark), el("div", { class: "buttons" }, foresee));
  const form = el("form", { class: "decide", onsubmit: (event) => { event.preventDefault();
    if (known()) foresee.click(); } },
  el("fieldset", { class: "segments" }, el("legend", { class: "hidden" }, "Class of " + host),
    classes.map(([name, title]) => el("label", {}, el("input", { type: "radio", name: group, value: name,
      checked: name === chosen }), el("span", {}, title)))),
  what, rest, outcome);
  const known = () => classes.find(([name]) => name === chosen);
  const say = () => { put(what, known()[2]); rest.hidden = false; };
  form.addEventListener("input", (event) => {
    if (event.target.type === "radio") { chosen = event.target.value; say(); }
    put(outcome); // it was computed for another choice
  });
  if (known()) say();
  const body = () => ({ host, class: chosen, note: remark.value.trim(),
    tags: words.value.split(",").map((word) => word.trim()).filter(Boolean),
    ...(seed && chosen === "quality" ? { seeds: [seed] } : {}) });
  return form;
}

// propose shows in outcome what decisions would change. They can then be saved, and undone. done is called with each
// answer once the decisions are in force; from is the button that was pressed.
export async function propose(outcome, body, { done, signal, from, write = false, undo = false }) {
  const next = (more, version, how) => propose(outcome, { ...more, version },
    { done, signal, from, write: true, ...how });
  if (from) from.disabled = true;
  put(outcome, loading(write ? "Saving and applying…" : "Computing the changes…"));
  try {
    const { data } = await askFresh(() => ask("decisions", { body: { ...body, dry_run: !write }, signal }));
    put(outcome, write
      ? settled(data, undo, () => next({ decisions: data.before, undo: data.undo }, data.version, { undo: true }))
      : foresight(data, () => next(body, data.version), () => put(outcome)));
    if (data.written && done) done(data);
  } catch (error) {
    if (error.name !== "AbortError") put(outcome, failed(error, () => propose(outcome, body, { done, signal, from })));
  }
  if (from) from.disabled = false;
}

// foresight shows what a decision would change, with a button to save it.
function foresight(d, write, cancel) {
  if (!d.path) return [el("p", {}, sentence(d.reason)), entry(d)];
  return [d.change ? changes(d.change, "would change") : el("p", {}, sentence(d.reason)), entry(d),
    el("div", { class: "buttons" }, button("Save and apply", write, { class: "button main" }),
      button("Cancel", cancel)),
    el("p", { class: "soft" }, "It is saved to ", el("code", {}, d.path), " and applied at once.")];
}

// settled shows the result of decisions, with a button to undo them.
function settled(d, undone, undo) {
  if (!d.written) return [el("p", {}, sentence(d.reason)), entry(d)];
  const how = { reload: "The running crawl uses it from now on.", reclassify: "The map has been updated." };
  const follows = Object.hasOwn(how, d.applied) ? how[d.applied] : sentence(d.reason);
  const said = undone ? "Undone: the entries are as they were before. " : d.decisions.length === 1
    ? ["Decided: ", decidedChip(d.class), " "] : `${count(d.decisions.length, "host")} decided. `;
  return [el("p", {}, said, follows), d.change && changes(d.change, "changed"),
    undone ? el("p", { class: "soft" }, "Visits that were made meanwhile stay.")
      : el("div", { class: "buttons" }, button("Undo", undo))];
}

function sentence(text) { return text ? text[0].toUpperCase() + text.slice(1) + "." : ""; }

function entry(d) {
  return el("div", { class: "paste" }, el("pre", { tabindex: "0" }, el("code", {}, d.toml.trim())),
    copier(d.toml, "Copy entry"));
}

// changes lists the changes of classes, states and distances, and some of the pages.
function changes(c, verb) {
  if (!c.pages_changed) return el("p", {}, "No page ", verb === "changed" ? "has changed." : "would change.");
  const turns = [...c.classes, ...c.states].map((t) => el("li", {}, el("b", {}, number(t.pages)), " ",
    plain(t.from) + " → " + plain(t.to)));
  const distances = Object.entries(c.depths).filter(([, n]) => n > 0).map(([name, n]) => el("li", {},
    el("b", {}, number(n)), " " + depths[name]));
  return [el("p", {}, `${number(c.pages_changed)} of ${count(c.pages, "page")} ${verb}; then ` +
    `${count(c.pages_waiting, "page waits", "pages wait")} to be visited.`),
  el("ul", { class: "turns" }, turns, distances), turnedPages(c)];
}

const depths = { nearer: "move nearer to an origin", farther: "move farther from all origins",
  gained: "come within reach", lost: "go out of reach" };

function turnedPages(c) {
  const become = (before, after) => (before === after ? plain(after) : plain(before) + " → " + plain(after));
  return c.turned_pages.length > 0 && el("details", {}, el("summary", {}, c.turned_more > 0
    ? `The first ${c.turned_pages.length} of ${number(c.turned_pages.length + c.turned_more)} pages` : "The pages"),
  table([{ title: "page", class: "name", cell: (p) => named(p.url) },
    { title: "class", cell: (p) => become(p.class_before, p.class) },
    { title: "state", cell: (p) => become(p.state_before, p.state) }], c.turned_pages));
}
