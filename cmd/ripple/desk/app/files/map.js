// Map: the graph of hosts, drawn by the viewer of the exported map, growing while the crawl runs.

import { ask, offers, wordsOf } from "./api.js";
import { propose } from "./decide.js";
import { el, put, address, at, button, harmless } from "./dom.js";
import { live } from "./live.js";
import { seen } from "./stream.js";
import { isDark } from "./theme.js";
import { loading, failed, empty } from "./parts.js";
import { show as draw, renew, restyle, leave } from "./viewer.js";

const columns = ["class", "cover", "stance", "community", "depth", "x", "y", "trust", "pagerank", "harmonic", "in", "out",
  "pages", "visited", "from", "to", "weight", "harmonic_rank", "pagerank_rank"];
const look = 30000; // ms between two reads of a growing terrain

export function show(view, said, signal) {
  const note = el("div", { class: "map-note" }, loading("Laying out the map…"));
  let app = null, timer = 0;
  let kind = wordsOf("graph", "kind").includes(said.kind) ? said.kind : "", drawn = kind; // of links: chosen, and shown
  document.body.classList.add("mapped");
  put(view, el("h1", { class: "hidden", tabindex: "-1" }, "Map"), note);
  signal.addEventListener("abort", () => {
    clearTimeout(timer);
    document.body.classList.remove("mapped");
    if (app) leave(app);
  });
  const choose = (next) => { kind = next; again(); };
  const again = async () => {
    clearTimeout(timer);
    await seen(signal);
    if (signal.aborted) return;
    try {
      const asked = kind, answer = await ask("graph", { said: { kind }, signal });
      const data = harmless(answer.data, columns); // the viewer does not clean texts
      if (signal.aborted || asked !== kind) return;
      if (!data.names.length) put(note, empty("There is nothing to draw yet."));
      else if (!app) app = begin(note, data, signal, again, { chosen: () => kind, choose });
      else {
        if (kind !== drawn) counting(app, data);
        renew(app, data);
      }
      drawn = kind;
      if (data.names.length) caption(data, app);
    } catch (error) {
      if (error.name === "AbortError") return;
      if (!app) put(note, failed(error, again));
      else captions([el("span", {}, `The map was not read again: ${error.message}. It shows links of kind ` +
        `"${drawn || "any"}", as they were. `), button("Try again", again, { class: "link" })]);
    }
    if (live.status && live.status.mode === "crawl") timer = setTimeout(again, look);
  };
  again();
}

// begin replaces the note with the viewer's elements and starts the viewer, which decides as other views do. done is
// called when decisions are in force. kinds is the choice of a kind of links. The title stays, because it may have the
// focus.
function begin(note, data, signal, done, kinds) {
  const drawn = document.getElementById("map-stage").content.cloneNode(true), stage = drawn.getElementById("stage");
  stage.replaceWith(el("div", { id: "stage" }, ...stage.childNodes)); // here the view is the main part
  note.replaceWith(drawn);
  document.getElementById("links").closest("label").after(el("label", { title: "Links of this kind alone" }, "Kind ",
    el("select", { id: "kind", onchange: (event) => kinds.choose(event.target.value) },
      ["", ...wordsOf("graph", "kind")].map((name) =>
        el("option", { value: name, selected: name === kinds.chosen() }, name || "any")))));
  const app = draw(data, {
    read: () => new URLSearchParams(location.hash.replace(/^[^?]*\??/, "")),
    write: (said) => {
      if (kinds.chosen()) said.set("kind", kinds.chosen());
      if (at("map")) history.replaceState(null, "", "#/map?" + said);
    },
    dark: isDark,
    decide: offers("decisions") && ((place, decisions) => {
      place.classList.add("foresight");
      propose(place, { decisions }, { signal, done });
    }),
    dossier: (name) => address("host/" + encodeURIComponent(name)),
  });
  document.addEventListener("theme", () => restyle(app), { signal });
  return app;
}

// counting chooses which links count, as an answer says: only anchors are in the text.
function counting(app, data) {
  app.count = data.counted;
  document.getElementById("count").value = data.counted;
}

function caption(data, app) {
  put(document.getElementById("counts"), app.g.counts);
  captions(data.partial, data.left_out);
}

// captions replaces the warnings below the counts.
function captions(...all) {
  for (const old of document.getElementById("head").querySelectorAll(".caption")) old.remove();
  for (const text of all) if (text) document.getElementById("counts").after(el("p", { class: "caption warn", role: "status" }, text));
}
