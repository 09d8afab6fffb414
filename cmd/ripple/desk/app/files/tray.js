// Tray: a class is chosen for one host or for several that are marked, and the choices are decided together.

import { el, put, button } from "./dom.js";
import { decidedChip, propose } from "./decide.js";
import { number } from "./words.js";

export const keys = { q: "quality", s: "stub", b: "blacklist", l: "later" };

// makeTray returns a tray for hosts {host, seed}; seed is the page at which a crawl would begin, if it is not the front
// page. changed is called when something was marked, chosen or decided.
export function makeTray({ signal, changed }) {
  const staged = new Map(), marked = new Map(), decided = new Map(); // by name
  const outcome = el("div", { class: "foresight" }), top = el("div", { class: "buttons" });
  const element = el("div", { class: "tray block", hidden: true }, top, outcome);
  const draw = () => {
    put(top, el("span", { role: "status" }, marked.size > 0 ? number(marked.size) + " marked"
      : staged.size > 0 ? number(staged.size) + " chosen" : ""),
    marked.size > 0 && Object.entries(keys).map(([key, name]) => button([el("kbd", {}, key), " ", name],
      () => stage([...marked.values()], name), { class: "button" })),
    staged.size > 0 && marked.size === 0 && button("See what would change", decide, { class: "button main" }),
    (staged.size > 0 || marked.size > 0) && button("Clear", () => {
      staged.clear();
      marked.clear();
      renew();
    }));
    element.hidden = staged.size === 0 && marked.size === 0 && !outcome.hasChildNodes();
    changed();
  };
  const renew = () => { put(outcome); draw(); }; // what it says was computed for other choices
  const decide = () => propose(outcome, { decisions: [...staged.values()].map(({ host, seed, name }) =>
    ({ host, class: name, ...(name === "quality" && seed ? { seeds: [seed] } : {}) })) }, { signal, done: (d) => {
    for (const e of d.decisions) decided.set(e.host, e.class === "none" ? "" : e.class);
    staged.clear();
    draw();
  } });
  const toggle = (one) => {
    if (!marked.delete(one.host)) marked.set(one.host, one);
    draw();
  };
  // stage chooses a class for hosts; the same class again takes the choice back.
  const stage = (all, name) => {
    for (const one of all) {
      if (staged.has(one.host) && staged.get(one.host).name === name) staged.delete(one.host);
      else staged.set(one.host, { ...one, name });
      marked.delete(one.host);
      decided.delete(one.host);
    }
    renew();
  };
  const box = (one, more) => el("input", { type: "checkbox", "aria-label": "Mark " + one.host,
    checked: marked.has(one.host), onchange: () => toggle(one), ...more });
  // tell shows in line what is marked, chosen or decided for a host, the last two in verdict.
  const tell = ({ host }, line, verdict) => {
    line.classList.toggle("marked", marked.has(host));
    line.classList.toggle("settled", Boolean(decided.get(host)));
    put(verdict, decided.get(host) ? ["decided ", decidedChip(decided.get(host))]
      : staged.has(host) && decidedChip(staged.get(host).name));
    const mark = line.querySelector("input[type=checkbox]");
    if (mark) mark.checked = marked.has(host);
  };
  return { element, marked, stage, toggle, box, tell, open: (host) => !staged.has(host) && !decided.get(host) };
}
