// A table of any length that contains only its visible rows. Rows are requested by position when they
// become visible. From the first answer on, the scrollbar represents all of them.

import { el, put } from "./dom.js";
import { number } from "./words.js";

const chunk = 200; // rows per request
const mostChunks = 40; // kept
const mostTall = 12e6; // px; browsers cannot make elements much taller than that
const patience = 80; // ms without scrolling before rows are requested

// makeGrid returns an element and its methods. columns are {name, title, class, cell(row), sort, wide}, where wide is the
// width in the terms of the style sheet; without it, that has the widths. label names the grid, fetchRows(offset, limit, signal) resolves to {total, rows}, and open(row) is called for the row on
// which Enter is pressed.
export function makeGrid({ label, columns, fetchRows, open, empty, sorted, onsort, failed, signal }) {
  const g = { columns, fetchRows, open, empty, failed, signal, total: -1, chunks: new Map(), asked: new Map(), at: 0,
    tall: 33, shown: [0, 0] };
  g.head = el("div", { class: "grid-row grid-head", role: "row", "aria-rowindex": 1 },
    columns.map((c) => headCell(c, sorted, onsort)));
  g.room = el("div", { class: "grid-room", role: "presentation" });
  g.rows = el("div", { class: "grid-rows", role: "rowgroup" });
  g.box = el("div", { class: "grid", role: "grid", tabindex: "0", "aria-label": label, "aria-rowcount": -1 }, g.head,
    g.room, g.rows);
  if (columns.every((c) => c.wide)) widen(g);
  g.box.addEventListener("scroll", () => draw(g), { passive: true });
  g.box.addEventListener("keydown", (event) => key(g, event));
  g.box.addEventListener("click", (event) => click(g, event));
  const watch = new ResizeObserver(() => requestAnimationFrame(() => { measure(g); draw(g); }));
  watch.observe(g.box);
  signal.addEventListener("abort", () => { watch.disconnect(); forget(g); });
  ask(g, 0);
  return { element: g.box, reload: () => reload(g), total: () => g.total };
}

// widen sets the widths of columns. The grid scrolls to the side if there is no room for the smallest.
function widen(g) {
  const least = g.columns.reduce((sum, c) => sum + Number(/\d+(?=px)/.exec(c.wide)[0]), 14 * g.columns.length + 18);
  g.box.style.setProperty("--columns", g.columns.map((c) => c.wide).join(" "));
  g.box.style.setProperty("--least", least + "px");
}

function headCell(c, sorted, onsort) {
  const is = sorted && c.sort && sorted.name === c.sort;
  const arrow = is ? (sorted.desc ? " ↓" : " ↑") : "";
  const sort = is ? (sorted.desc ? "descending" : "ascending") : c.sort ? "none" : null;
  return el("div", { class: "cell " + (c.class || ""), role: "columnheader", "aria-sort": sort },
    c.sort ? el("button", { type: "button", class: "sorter", onclick: () => onsort(c.sort) }, c.title + arrow)
    : c.title);
}

// reload begins again from the first row.
function reload(g) {
  forget(g);
  g.chunks.clear();
  Object.assign(g, { total: -1, at: 0 });
  g.box.scrollTop = 0;
  ask(g, 0);
  draw(g);
}

function forget(g) {
  clearTimeout(g.timer);
  for (const question of g.asked.values()) question.abort();
  g.asked.clear();
}

// ask fetches the rows of a chunk, unless they are present or already requested.
async function ask(g, index) {
  if (g.chunks.has(index) || g.asked.has(index)) return;
  const question = new AbortController();
  g.asked.set(index, question);
  try {
    const { total, rows } = await g.fetchRows(index * chunk, chunk, question.signal);
    if (question.signal.aborted) return;
    g.chunks.set(index, rows);
    if (g.chunks.size > mostChunks) g.chunks.delete(farthest(g, index));
    if (total !== g.total) { g.total = total; measure(g); }
    draw(g);
  } catch (error) {
    if (error.name !== "AbortError" && !g.signal.aborted) g.failed(error);
  } finally {
    if (g.asked.get(index) === question) g.asked.delete(index);
  }
}

function farthest(g, index) {
  return [...g.chunks.keys()].reduce((a, b) => (Math.abs(b - index) > Math.abs(a - index) ? b : a));
}

// measure makes room for all rows, within what the browser supports.
function measure(g) {
  g.tall = parseFloat(getComputedStyle(g.box).getPropertyValue("--row-tall")) || 33;
  const whole = Math.max(0, g.total) * g.tall, room = Math.min(whole, mostTall);
  g.room.style.height = room + "px";
  const inner = g.box.clientHeight - g.head.offsetHeight;
  g.fits = Math.max(1, Math.floor(inner / g.tall));
  g.ratio = room > inner ? (whole - inner) / (room - inner) : 1; // real pixels per pixel of the scrollbar
  g.box.setAttribute("aria-rowcount", g.total < 0 ? -1 : g.total + 1);
}

function draw(g) {
  if (g.total === 0) return put(g.rows, el("div", { class: "empty" }, g.empty()));
  const top = g.box.scrollTop * (g.ratio || 1), first = Math.max(0, Math.floor(top / g.tall) - 4);
  const last = g.total < 0 ? g.fits || 20 : Math.min(g.total, first + (g.fits || 20) + 9);
  g.shown = [first, last];
  const rows = [];
  for (let i = first; i < last; i++) rows.push(rowOf(g, i, g.box.scrollTop + i * g.tall - top));
  put(g.rows, rows);
  const active = g.rows.querySelector("[aria-selected=true]");
  g.box.setAttribute("aria-activedescendant", active ? active.id : "");
  clearTimeout(g.timer);
  g.timer = setTimeout(() => want(g), g.total < 0 ? 0 : patience);
}

// want requests the visible rows, and cancels requests for rows that are no longer visible.
function want(g) {
  if (g.total < 0) return;
  const from = Math.floor(g.shown[0] / chunk), to = Math.floor(Math.max(g.shown[0], g.shown[1] - 1) / chunk);
  for (const [index, question] of g.asked) if (index < from || index > to) { question.abort(); g.asked.delete(index); }
  for (let index = from; index <= to; index++) ask(g, index);
}

function rowAt(g, i) {
  const rows = g.chunks.get(Math.floor(i / chunk));
  return rows && rows[i % chunk];
}

function rowOf(g, i, y) {
  const row = rowAt(g, i), own = row || {};
  const line = el("div", { class: "grid-row" + (row ? "" : " coming"), role: "row", id: "row-" + i,
    "aria-rowindex": i + 2, "aria-selected": String(i === g.at) },
    g.columns.map((c) => el("div", { class: "cell " + (c.class || ""), role: "gridcell" }, row ? c.cell(own, i) : "")));
  line.style.transform = `translateY(${Math.round(y)}px)`;
  line.dataset.place = i;
  return line;
}

function click(g, event) {
  const line = event.target.closest(".grid-row[data-place]");
  if (!line || event.target.closest("a, button")) return;
  go(g, Number(line.dataset.place));
  const row = rowAt(g, g.at);
  if (row) g.open(row);
}

function key(g, event) {
  if (event.target !== g.box || event.ctrlKey || event.metaKey || event.altKey || g.total <= 0) return;
  const page = Math.max(1, g.fits - 1);
  const to = { ArrowDown: g.at + 1, ArrowUp: g.at - 1, PageDown: g.at + page, PageUp: g.at - page, Home: 0,
    End: g.total - 1 }[event.key];
  if (event.key === "Enter" && rowAt(g, g.at)) { event.preventDefault(); g.open(rowAt(g, g.at)); }
  if (to === undefined) return;
  event.preventDefault();
  go(g, to);
}

// go makes a row the current one and brings it into sight.
function go(g, to) {
  g.at = Math.min(Math.max(to, 0), g.total - 1);
  const top = g.box.scrollTop * g.ratio, inner = g.box.clientHeight - g.head.offsetHeight;
  if (g.at * g.tall < top) g.box.scrollTop = (g.at * g.tall) / g.ratio;
  else if ((g.at + 1) * g.tall > top + inner) g.box.scrollTop = Math.ceil(((g.at + 1) * g.tall - inner) / g.ratio);
  draw(g);
}

// totalText formats the number of rows.
export function totalText(total, one, more) {
  return total < 0 ? "" : number(total) + " " + (total === 1 ? one : more);
}
