// Elements. Text from a server is only ever text: nothing in this application parses markup, and
// characters that could reorder or hide a line are shown as their numbers.

import { ask } from "./api.js";

const svgSpace = "http://www.w3.org/2000/svg";
const mostText = 2000; // characters of one text; a title may have any length
const whole = ["d", "href", "value"]; // attributes that are used and not read: they must not be cut
const packed = /^[A-Za-z0-9+/]*=*$/;
const unsafe = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u206f]/gu;

// visible makes a text readable: it shows control characters, including those that change the
// writing direction, as their numbers, and cuts the text to most characters. Joiners and direction
// marks stay, because writing systems and emoji need them.
export function visible(text, most = mostText) {
  const all = String(text), cut = all.length > most ? all.slice(0, most).replace(/[\ud800-\udbff]$/u, "") + "…" : all;
  return cut.replace(unsafe, (c) => "\\u" + c.codePointAt(0).toString(16).padStart(4, "0"));
}

// harmless makes every text within a value readable, except for the members in names: these are
// long columns of the map, numbers in base64.
export function harmless(value, names = []) {
  if (typeof value === "string") return visible(value);
  if (Array.isArray(value)) return value.map((one) => harmless(one));
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) =>
    [name, names.includes(name) && packed.test(inner) ? inner : harmless(inner, names)]));
}

// el builds an element. Properties that begin with "on" are listeners, false and null
// ones are left out, the rest are attributes. Children are elements, texts or lists of them.
export function el(tag, properties, ...children) {
  return fill(document.createElement(tag), properties, children);
}

// svg is el for drawings.
export function svg(tag, properties, ...children) {
  return fill(document.createElementNS(svgSpace, tag), properties, children);
}

function fill(element, properties, children) {
  for (const [name, value] of Object.entries(properties || {})) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (whole.includes(name)) element.setAttribute(name, value === true ? "" : value);
    else element.setAttribute(name, value === true ? "" : visible(value));
  }
  element.append(...nodes(children));
  return element;
}

function nodes(children) {
  return children.flat(9).filter((child) => child !== null && child !== undefined && child !== false)
    .map((child) => child instanceof Node ? child : document.createTextNode(visible(child)));
}

// put replaces the content of an element. A link that had the focus gets it back.
export function put(element, ...children) {
  const held = element.contains(document.activeElement) && document.activeElement.getAttribute("href");
  element.replaceChildren(...nodes(children));
  const again = held && [...element.querySelectorAll("a")].find((link) => link.getAttribute("href") === held);
  if (again) again.focus({ preventScroll: true });
  return element;
}

// swatch is a coloured dot. Colours are names in the style sheet.
export function swatch(colour) {
  const dot = el("span", { class: "dot", "aria-hidden": "true" });
  dot.style.setProperty("--dot", `var(--${colour})`);
  return dot;
}

// chip is a short label, with a dot if it has a colour.
export function chip(text, colour, title) {
  return el("span", { class: "chip", title }, colour && swatch(colour), text);
}

// address returns the address of a view and of what it shows.
export function address(view, said = {}) {
  const kept = Object.entries(said).filter(([, value]) => value !== "" && value !== null && value !== undefined);
  const query = new URLSearchParams(kept).toString();
  return "#/" + view + (query ? "?" + query : "");
}

// at reports whether the address is that of a view. It may already be that of the next one.
export const at = (view) => location.hash.split("?")[0] === "#/" + view;

// keep records in the address what a view shows. The way back undoes changes, but not those of a search: every pause in
// typing would be a step.
export function keep(view, said, changes = {}) {
  const next = address(view, said);
  if (!at(view) || location.hash === next) return;
  const step = Object.keys(changes).some((name) => name !== "search");
  history[step ? "pushState" : "replaceState"](null, "", next);
}

export function hostLink(domain, text) {
  const link = el("a", { class: "name", href: address("host/" + encodeURIComponent(domain)), title: text && domain },
    text || domain);
  return text ? link : read(link, domain);
}

export function pageLink(url, text) {
  const link = el("a", { class: "name", href: address("page", { url }), title: text && url }, text || url);
  return text ? link : read(link, url);
}

// pagesLink links to the pages that a number counts. said are their filters.
export function pagesLink(said, text) { return el("a", { class: "name", href: address("pages", said) }, text); }

// hostsLink links to the hosts that a number counts.
export function hostsLink(said, text) { return el("a", { class: "name", href: address("hosts", said) }, text); }

// named returns the text of a host or an address, with both forms of the host's name.
export function named(text) { return read(el("span", {}, text), text); }

const readings = new Map(); // display forms of hosts with an A-label
let unread = new Map(); // elements that wait for one, by host

// read appends the display form to a host or an address, if the host has an A-label. The desk provides it.
function read(element, text) {
  const host = /^(?:https?:\/\/)?([^/?#]*)/.exec(text)[1];
  if (!/(^|\.)xn--/.test(host)) return element;
  if (readings.has(host)) { element.append(readings.get(host)); return element; }
  if (!unread.size) setTimeout(askReadings);
  if (!unread.has(host)) unread.set(host, []);
  unread.get(host).push(element);
  return element;
}

async function askReadings() {
  const batch = unread, hosts = [...batch.keys()];
  unread = new Map();
  for (let i = 0; i < hosts.length; i += 50) {
    const some = hosts.slice(i, i + 50);
    let shown;
    try { shown = (await ask("shown", { said: { hosts: some.join(" ") } })).data.shown; } catch { continue; }
    for (const host of some) {
      readings.set(host, Object.hasOwn(shown, host) ? visible(shown[host].slice(host.length)) : "");
      for (const element of batch.get(host)) element.append(readings.get(host));
    }
  }
}

// tagLink links to the hosts with a tag.
export function tagLink(tag) { return el("a", { class: "chip tag", href: address("hosts", { tag }) }, tag); }

// outside links to a page of the web. Anything that is not a web address stays text.
export function outside(url, text) {
  let target = null;
  try { target = new URL(url); } catch { /* no address */ }
  if (!target || !/^https?:$/.test(target.protocol) || target.username || target.password) return el("span", {}, text);
  return el("a", { href: target.href, target: "_blank", rel: "noopener noreferrer", class: "outside",
    "aria-label": "open " + url }, text);
}

// button returns a button that submits nothing.
export function button(text, onclick, properties = {}) {
  return el("button", { type: "button", class: "button", onclick, ...properties }, text);
}

// removable returns a button that shows a filter and removes it. remove is called with the button.
export function removable(text, remove) {
  return button([text, el("span", { "aria-hidden": "true" }, " ×")], (event) => remove(event.currentTarget),
    { class: "chip removable", "aria-label": `${text}: remove this filter` });
}

// copier returns a button that copies a text.
export function copier(text, name) {
  const made = button(name, async () => {
    try { await navigator.clipboard.writeText(text); made.textContent = "Copied";
      } catch { made.textContent = "Select and copy the text"; }
    setTimeout(() => { made.textContent = name; }, 2000);
  });
  return made;
}

// save makes the browser save a text, or a list of its parts, as a file.
export function save(text, name, type) {
  const url = URL.createObjectURL(new Blob([text].flat(), { type }));
  el("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}

// csv returns a table for spreadsheets. A cell that they would take for a formula, even after white space, is quoted
// with an apostrophe. Without columns there is no head.
export function csv(columns, rows) {
  const formula = /^[\s\u061c\u200b-\u200f\u2060\ufffd"']*[=+\-@|%\uff1d\uff0b\uff0d\uff20]|^[\t\r]/;
  const cell = (value) => {
    const text = value === null || value === undefined ? "" : String(value);
    const inert = typeof value !== "number" && formula.test(text) ? "'" + text : text;
    return /[",;\r\n]/.test(inert) || inert.trim() !== inert ? '"' + inert.replaceAll('"', '""') + '"' : inert;
  };
  return [columns, ...rows].filter(Boolean).map((row) => row.map(cell).join(",")).join("\r\n") + "\r\n";
}
