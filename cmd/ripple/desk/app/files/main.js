// The frame: the bar, the views by address, and the form for a missing token.

import { el, put, swatch, visible } from "./dom.js";
import { enter, setToken, describe, offers } from "./api.js";
import { live, listen, start } from "./live.js";
import { apply, flip } from "./theme.js";
import { listenKeys, showKeys } from "./keys.js";
import { failed, empty, heading, loading } from "./parts.js";
import { number, clock, conditionColour } from "./words.js";
import * as now from "./now.js";
import * as map from "./map.js";
import * as hosts from "./hosts.js";
import * as host from "./host.js";
import * as pages from "./pages.js";
import * as page from "./page.js";
import * as suggest from "./suggest.js";
import * as broken from "./broken.js";
import * as runs from "./runs.js";
import * as asking from "./ask.js";
import * as files from "./files.js";
import * as duplicates from "./duplicates.js";
import * as outside from "./outside.js";
import * as control from "./control.js";
import * as terrain from "./terrain.js";

// A view needs the endpoints that are listed with it.
const views = [
  { name: "now", key: "n", title: "Now", module: now, needs: ["status", "stats", "hosts"] },
  { name: "now", key: "n", title: "Terrain", module: terrain, needs: ["terrain"] }, // of several machines
  { name: "map", key: "m", title: "Map", module: map, needs: ["graph"] },
  { name: "hosts", key: "h", title: "Hosts", module: hosts, needs: ["hosts"] },
  { name: "pages", key: "l", title: "Pages", module: pages, needs: ["pages/list"] },
  { name: "page", key: "p", title: "Page", module: page, needs: ["pages"] },
  { name: "suggest", key: "s", title: "Suggest", module: suggest, needs: ["suggest"] },
  { name: "outside", key: "o", title: "Outside", module: outside, needs: ["inlinks"] },
  { name: "broken", key: "b", title: "Broken", module: broken, needs: ["broken", "broken/targets"] },
  { name: "runs", key: "r", title: "Runs", module: runs, needs: ["runs", "diff"] },
  { name: "ask", key: "a", title: "Ask", module: asking, needs: ["query"] },
  { name: "files", key: "f", title: "Files", module: files, needs: ["files", "tickets"] },
  { name: "control", key: "c", title: "Control", module: control, needs: ["pause", "unpause", "stop", "reload"] },
];
const view = document.getElementById("view"), links = document.getElementById("views"),
  pulse = document.getElementById("pulse");
let leaving = new AbortController(), shown = null, life = new AbortController();

// readAddress parses "#/host/a.org?x=1".
function readAddress() {
  const [path, query = ""] = location.hash.replace(/^#\/?/, "").split(/\?(.*)/s), [name, ...rest] = path.split("/");
  let what = rest.join("/");
  try { what = decodeURIComponent(what); } catch { /* as it is */ }
  return { name: name || "now", what, said: Object.fromEntries(new URLSearchParams(query)) };
}

function showView() {
  const { name, what, said } = readAddress();
  const known = name === "host" && what && offers("hosts") ? { name: "hosts", title: what, module: host }
    : name === "duplicates" && offers("duplicates") ? { name: "pages", title: "Near-duplicates", module: duplicates }
      : whole().find((v) => v.name === name);
  leaving.abort();
  leaving = new AbortController();
  view.className = "view-" + (known ? name : "none");
  document.title = (known ? visible(known.title, 100) + " · " : "") + "Ripple";
  for (const link of links.querySelectorAll("a")) link.setAttribute("aria-current",
    known && link.dataset.name === known.name ? "page" : "false");
  const current = links.querySelector('[aria-current="page"]');
  if (current) current.scrollIntoView({ block: "nearest", inline: "center" });
  if (!known) put(view, heading("Nothing here"), nowhere(name));
  else known.module.show(view, said, leaving.signal, what);
  if (shown !== null) { scrollTo(0, 0); focusTitle(); }
  shown = name;
}

// nowhere explains why there is no such view.
function nowhere(name) {
  const apart = offers("terrain") && (name === "host" || views.some((v) => v.name === name)) && live.status;
  return apart ? terrain.whole(live.status.unite)
    : empty("There is no such view.", el("a", { href: "#/now" }, "Go to Now"));
}

// noteFault records an error in the document, where tests and people can find it.
function noteFault(text) { document.documentElement.dataset.fault = String(text); }

function focusTitle() {
  (view.querySelector("h1") || view).focus({ preventScroll: true });
}

// showPulse shows in the bar whether the crawl is running and the desk is connected.
// Meanwhile the last view stays, greyed.
function showPulse({ status: s, line, lost }) {
  document.documentElement.dataset.line = line === true ? "up" : line === null ? "none" : "down";
  if (line && line !== true) {
    put(pulse, swatch("bad"), line.code === 401 ? "no token" : `disconnected since ${clock(lost).slice(0, 5)}, trying again`);
    pulse.title = line.message;
    if (line.code === 401) askToken(line);
    return;
  }
  if (!s) return;
  pulse.title = "";
  const c = s.condition;
  put(pulse, swatch(conditionColour(c.name)), el("span", { class: "label" }, c.label),
    c.fetches && el("span", { class: "num more" }, number(s.pages_per_second) + "/s"));
}

function askToken(error) {
  leaving.abort();
  leaving = new AbortController();
  const field = el("input", { type: "password", class: "search", "aria-label": "Token", autocomplete: "off",
    required: true });
  put(view, heading("The desk needs its token"), el("form",
    { class: "filters token", onsubmit: (event) => { event.preventDefault(); setToken(field.value); begin(); } },
    field, el("button", { class: "button main" }, "Enter")),
    error && error.code !== 401 && el("p", {}, error.message),
    el("p", { class: "soft" },
      "It was printed after \"Bearer\" when the desk started, or it is in the token file."));
  field.focus();
}

// begin asks the desk for its endpoints, and shows the views that they suffice for.
async function begin() {
  life.abort();
  life = new AbortController();
  Object.assign(live, { line: null, status: null });
  put(view, loading());
  try {
    await enter(life.signal);
    await describe(life.signal);
  } catch (error) {
    if (error.name !== "AbortError") ([401, 403, 404].includes(error.code) ? askToken : showFailure)(error);
    return;
  }
  put(links, whole().map((v) => {
    const link = el("a", { href: "#/" + v.name, title: "g " + v.key }, v.title);
    link.dataset.name = v.name;
    return link;
  }));
  start(life.signal);
  showView();
}

// whole returns the views whose endpoints this desk has.
function whole() { return views.filter((v) => v.needs.every(offers)); }

function showFailure(error) { put(view, heading("Ripple"), failed(error, begin)); }

document.getElementById("skip").addEventListener("click", () => view.focus());
document.getElementById("flip").addEventListener("click", flip);
document.getElementById("keys").addEventListener("click", () => showKeys(whole()));
addEventListener("hashchange", () => {
  if (whole().length && !location.hash.startsWith("#token=")) showView(); else begin();
});
addEventListener("error", (event) => noteFault(event.message));
addEventListener("unhandledrejection", ({ reason }) => { if (!reason ||
  reason.name !== "AbortError") noteFault(reason); });
apply();
listenKeys(whole);
listen(showPulse, new AbortController().signal);
begin();
