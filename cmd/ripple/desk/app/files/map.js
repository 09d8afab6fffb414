// Map: the graph of hosts, drawn by the viewer of the exported map, growing while the crawl runs.

import { ask, offers } from "./api.js";
import { propose } from "./decide.js";
import { el, put, address, at, harmless } from "./dom.js";
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
  document.body.classList.add("mapped");
  put(view, el("h1", { class: "hidden", tabindex: "-1" }, "Map"), note);
  signal.addEventListener("abort", () => {
    clearTimeout(timer);
    document.body.classList.remove("mapped");
    if (app) leave(app);
  });
  const again = async () => {
    clearTimeout(timer);
    await seen(signal);
    if (signal.aborted) return;
    try {
      const data = harmless((await ask("graph", { signal })).data, columns); // the viewer does not clean texts
      if (signal.aborted) return;
      if (!data.names.length) put(note, empty("There is nothing to draw yet."));
      else if (app) renew(app, data);
      else app = begin(note, data, signal, again);
      if (data.names.length) caption(data, app);
    } catch (error) {
      if (error.name === "AbortError") return;
      if (!app) put(note, failed(error, again));
    }
    if (live.status && live.status.mode === "crawl") timer = setTimeout(again, look);
  };
  again();
}

// begin replaces the note with the viewer's elements and starts the viewer, which decides as other views do. done is
// called when decisions are in force. The title stays, because it may have the focus.
function begin(note, data, signal, done) {
  const drawn = document.getElementById("map-stage").content.cloneNode(true), stage = drawn.getElementById("stage");
  stage.replaceWith(el("div", { id: "stage" }, ...stage.childNodes)); // here the view is the main part
  note.replaceWith(drawn);
  const app = draw(data, {
    read: () => new URLSearchParams(location.hash.replace(/^[^?]*\??/, "")),
    write: (said) => { if (at("map")) history.replaceState(null, "", "#/map?" + said); },
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

function caption(data, app) {
  put(document.getElementById("counts"), app.g.counts);
  const head = document.getElementById("head");
  for (const old of head.querySelectorAll(".caption")) old.remove();
  for (const text of [data.partial, data.left_out]) if (text) document.getElementById("counts")
    .after(el("p", { class: "caption warn" }, text));
}
