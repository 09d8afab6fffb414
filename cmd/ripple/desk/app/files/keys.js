// Keyboard shortcuts, and the list of them.

import { el, button } from "./dom.js";
import { flip } from "./theme.js";

const general = [["?", "this list"], ["/", "search in this view"], ["t", "light or dark"],
  ["Esc", "close, or leave a field"], ["Tab", "to the next control"]];
const inside = [["↑ ↓ PgUp PgDn Home End", "through the hosts, or pages"], ["Enter", "open the host, or page"],
  ["q s b l", "quality, stub, blacklist, later, in Suggest"],
  ["Space", "mark a suggestion"], ["← →", "through the points of a chart"], ["Ctrl+Enter", "run the query, in Ask"],
  ["+ − 0", "zoom the map, show all of it"],
  ["arrows", "move the map"], ["x", "mark the selected host of the map"]];

// listenKeys handles keys. views returns the available views, as {name, key, title}.
export function listenKeys(views) {
  let going = false; // g was pressed: the key of a view follows
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented ||
      document.querySelector("dialog[open]")) return;
    const field = event.target instanceof Element && event.target.closest("input, textarea, select");
    if (field) { if (event.key === "Escape") field.blur(); return; }
    const view = going && views().find((v) => v.key === event.key);
    going = event.key === "g";
    if (view) { event.preventDefault(); location.hash = "#/" + view.name; return; }
    const act = { "?": () => showKeys(views()), "/": focusSearch, t: flip }[event.key];
    if (act && act() !== false) event.preventDefault();
  });
}

function focusSearch() {
  const field = document.querySelector("#view input[type=search], #view input.search, #view textarea");
  if (!field) return false;
  field.focus();
  field.select();
}

export function showKeys(views) {
  const list = (name, keys) => el("section", {}, el("h3", {}, name),
    el("dl", { class: "keys" }, keys.map(([key, text]) => [el("dt", {}, key.split(" ").map((k) => el("kbd", {}, k))),
    el("dd", {}, text)])));
  const dialog = el("dialog", { class: "card", "aria-label": "Keyboard shortcuts" },
    el("h2", {}, "Keyboard shortcuts"),
    el("div", { class: "columns" }, list("Go to", views.map((v) => ["g " + v.key, v.title])),
      el("div", {}, list("Everywhere", general), list("Inside", inside))),
      el("div", { class: "buttons" }, el("a", { href: "/help/", target: "_blank" }, "Documentation"),
        button("Close", () => dialog.close())));
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
}
