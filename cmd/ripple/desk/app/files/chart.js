// Charts: a line over time, and bars side by side, with axes, units and the value under the pointer
// or at the cursor keys.

import { el, svg, put } from "./dom.js";
import { number } from "./words.js";

const edge = { left: 46, right: 8, top: 8, bottom: 20 };

// ticks returns at most most+1 round values from 0 to high or a little above.
function ticks(high, most = 4) {
  if (!(high > 0)) return [0, 1];
  const rough = high / most, power = 10 ** Math.floor(Math.log10(rough));
  const step = [1, 2, 2.5, 5, 10].map((n) => n * power).find((n) => n >= rough * 0.999);
  const list = [];
  for (let i = 0; i <= Math.ceil(high / step - 0.001); i++) list.push(Number((i * step).toPrecision(12)));
  return list;
}

// sized redraws whenever the width of its element changes. The drawing keeps that width.
function sized(box, draw, signal) {
  const watch = new ResizeObserver(() => requestAnimationFrame(() => draw(Math.max(160, box.clientWidth))));
  watch.observe(box);
  signal.addEventListener("abort", () => watch.disconnect());
}

// lineChart returns an element and show, which takes the points {at, value}, the oldest first.
export function lineChart({ title, unit, colour, signal, end = "now" }) {
  const picture = el("div", { class: "plot", tabindex: "0", role: "img", "aria-label": title });
  const latest = el("b", { class: "latest" }), said = el("span", { class: "soft" });
  const box = el("figure", { class: "chart" }, el("figcaption", {}, title, el("span", { class: "spacer" }), said,
    latest), picture);
  let points = [], width = 0, at = -1;
  const draw = () => {
    if (!width) return;
    const last = points[points.length - 1], shown = at >= 0 && points[at] ? points[at] : last;
    latest.textContent = shown ? number(shown.value) + " " + unit : "";
    said.textContent = at >= 0 && shown ? before(last.at - shown.at) : "";
    picture.setAttribute("aria-label", title + (shown ? `: ${number(shown.value)} ${unit}` : ": nothing yet"));
    put(picture, points.length < 2 ? el("p", { class: "empty" }, "The chart begins with the second sample, in a second.")
      : drawLine(points, width, colour, at, end));
  };
  const hover = (index) => { at = index; draw(); };
  picture.addEventListener("pointermove", (event) => {
    const part = (event.clientX - picture.getBoundingClientRect().left - edge.left) / (width - edge.left - edge.right);
    hover(nearest(points, part));
  });
  for (const name of ["pointerleave", "blur"]) picture.addEventListener(name, () => hover(-1));
  picture.addEventListener("keydown", (event) => {
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!by || !points.length) return;
    event.preventDefault();
    hover(Math.min(Math.max((at < 0 ? points.length - 1 : at) + by, 0), points.length - 1));
  });
  sized(picture, (now) => { width = now; draw(); }, signal);
  return { element: box, show: (list) => { points = list; if (at < 0 || !picture.matches(":hover")) draw(); } };
}

function nearest(points, part) {
  if (points.length < 2) return -1;
  const first = points[0].at, wanted = first + part * (points[points.length - 1].at - first);
  let best = 0;
  points.forEach((point, i) => { if (Math.abs(point.at - wanted) < Math.abs(points[best].at - wanted)) best = i; });
  return best;
}

function before(ms) {
  const seconds = Math.round(ms / 1000);
  return seconds < 1 ? "now" : seconds < 120 ? `${seconds} s before` : `${Math.round(seconds / 60)} min before`;
}

const tall = 120;

function drawLine(points, width, colour, at, end) {
  const marks = ticks(Math.max(...points.map((point) => point.value)), 3), high = marks[marks.length - 1];
  const first = points[0].at, whole = Math.max(1, points[points.length - 1].at - first);
  const x = (t) => edge.left + ((t - first) / whole) * (width - edge.left - edge.right);
  const y = (v) => edge.top + (1 - v / high) * (tall - edge.top - edge.bottom);
  const stretches = [[]]; // a point after a gap begins another
  for (const point of thin(points, width)) {
    if (point.gap) stretches.push([]);
    stretches[stretches.length - 1].push(point);
  }
  const lines = stretches.filter((list) => list.length).map((list) => ({
    path: list.map((point, i) => (i ? "L" : "M") + x(point.at).toFixed(1) + " " + y(point.value).toFixed(1)).join(""),
    ground: `L${x(list[list.length - 1].at).toFixed(1)} ${y(0)}L${x(list[0].at).toFixed(1)} ${y(0)}Z` }));
  const drawing = svg("svg", { viewBox: `0 0 ${width} ${tall}`, width, height: tall, class: "line " + colour,
    "aria-hidden": "true" },
    ...marks.map((mark) => axisMark(mark, y(mark), width)), ...timeMarks(whole, x, first, end),
    ...lines.flatMap(({ path, ground }) =>
      [svg("path", { class: "under", d: path + ground }), svg("path", { class: "over", d: path })]));
  if (points[at]) drawing.append(...cross(x(points[at].at), y(points[at].value)));
  return drawing;
}

// thin keeps one point for each pixel of width.
function thin(points, width) {
  const every = Math.max(1, Math.ceil(points.length / width));
  return points.filter((point, i) => i % every === 0 || point.gap || i === points.length - 1);
}

// progress turns the history of a run into points with a rate. Where the run paused, a gap begins.
export function progress({ points, every_seconds: every }) {
  return points.slice(1).map((point, i) => {
    const at = Date.parse(point.at), passed = (at - Date.parse(points[i].at)) / 1000, gap = passed > 3 * every + 2;
    return { at, gap, waiting: point.pages_to_visit,
      rate: gap || passed <= 0 ? 0 : (point.pages_requested - points[i].pages_requested) / passed };
  });
}

function axisMark(mark, y, width) {
  return svg("g", { class: "axis" }, svg("line", { x1: edge.left, x2: width - edge.right, y1: y, y2: y }),
    svg("text", { x: edge.left - 6, y: y + 3.5, "text-anchor": "end" },
      mark >= 10000 ? mark / 1000 + "k" : mark.toLocaleString("en", { maximumSignificantDigits: 3 })));
}

function timeMarks(whole, x, first, end) {
  const text = whole < 120000 ? Math.round(whole / 1000) + " s" : whole < 7200000
    ? Math.round(whole / 60000) + " min" : Math.round(whole / 3600000) + " h";
  return [svg("text", { class: "axis", x: x(first), y: tall - 5 }, text + (end === "now" ? " ago" : " before")),
    svg("text", { class: "axis", x: x(first + whole), y: tall - 5, "text-anchor": "end" }, end)];
}

function cross(x, y) {
  return [svg("line", { class: "cross", x1: x, x2: x, y1: edge.top, y2: tall - edge.bottom }),
    svg("circle", { class: "cross", cx: x, cy: y, r: 3.5 })];
}

// gapStrip draws the last requests of a host, one bar each. A bar is as high as the gap before the request, and
// a line shows the promised gap. what describes a request in words.
export function gapStrip({ requests, what, signal }) {
  const picture = el("div", { class: "plot", tabindex: "0", role: "img" }), said = el("p", { class: "said soft" });
  const least = requests.filter((r) => r.gap_ms > 0).length, broken = requests.filter(isBroken).length;
  picture.setAttribute("aria-label", `${least} gaps, ${broken} shorter than promised`);
  const rest = requests.some((r) => r.promised_ms > 0)
    ? "Each bar is a request: its height is the gap that was kept, the line the gap that was promised."
    : "Each bar is a visit, as high as the gap before it in its run. Promised gaps are known only while a crawl runs.";
  let width = 0, at = -1;
  const draw = () => { if (width) put(picture, drawStrip(requests, width, at));
    said.textContent = at < 0 ? rest : what(requests[at]); };
  const hover = (index) => { at = requests[index] ? index : -1; draw(); };
  picture.addEventListener("pointermove", (event) => hover(
    Math.floor(((event.clientX - picture.getBoundingClientRect()
    .left - edge.left) / (width - edge.left - edge.right)) * requests.length)));
  for (const name of ["pointerleave", "blur"]) picture.addEventListener(name, () => hover(-1));
  picture.addEventListener("keydown", (event) => {
    const by = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
    if (!by) return;
    event.preventDefault();
    hover(Math.min(Math.max((at < 0 ? requests.length : at) + by, 0), requests.length - 1));
  });
  sized(picture, (now) => { width = now; draw(); }, signal);
  return el("figure", { class: "chart" }, picture, said);
}

function isBroken(r) { return r.gap_ms > 0 && r.gap_ms < r.promised_ms; }

function drawStrip(requests, width, at) {
  const high = Math.max(...requests.map((r) => Math.max(Math.min(r.gap_ms || 0, 4 * (r.promised_ms || Infinity)),
    r.promised_ms || 0)), 1);
  const marks = ticks(high / 1000, 3), top = marks[marks.length - 1] * 1000,
    wide = (width - edge.left - edge.right) / Math.max(requests.length, 20);
  const y = (ms) => edge.top + (1 - Math.min(ms, top) / top) * (tall - edge.top - edge.bottom);
  const bars = requests.map((r, i) => {
    const x = edge.left + i * wide, kept = r.gap_ms || 0,
      name = isBroken(r) ? "short" : r.status_code >= 400 || r.status_code === 0 ? "error" : "kept";
    return svg("g", { class: name + (i === at ? " at" : "") },
      svg("rect", { x: (x + wide * 0.14).toFixed(1), y: y(kept).toFixed(1), width: Math.max(1, wide * 0.72).toFixed(1),
        height: Math.max(1, y(0) - y(kept)).toFixed(1), rx: 1 }),
      r.promised_ms > 0 && svg("line", { class: "promise", x1: x.toFixed(1), x2: (x + wide).toFixed(1),
        y1: y(r.promised_ms).toFixed(1), y2: y(r.promised_ms).toFixed(1) }));
  });
  return svg("svg", { viewBox: `0 0 ${width} ${tall}`, width, height: tall, class: "strip", "aria-hidden": "true" },
    ...marks.map((mark) => axisMark(mark, y(mark * 1000), width)),
    svg("text", { class: "axis", x: edge.left - 6, y: tall - 5, "text-anchor": "end" }, "s"), ...bars,
    svg("text", { class: "axis", x: edge.left, y: tall - 5 }, "oldest"),
    svg("text", { class: "axis", x: width - edge.right, y: tall - 5, "text-anchor": "end" },
    requests.length > 60 || requests.length === 20 ? "latest" : ""));
}

// bars lists names with numbers, the largest first, each with a bar relative to the largest.
export function bars(entries, { words = (name) => name, colour = () => "accent", links = null } = {}) {
  const list = entries.filter(([, n]) => n > 0).sort((a, b) => b[1] - a[1]);
  const most = Math.max(1, ...list.map(([, n]) => n));
  return el("ul", { class: "bars" }, list.map(([name, n]) => {
    const bar = el("span", { class: "bar-fill", "aria-hidden": "true" });
    bar.style.setProperty("--share", n / most);
    bar.style.setProperty("--bar", `var(--${colour(name)})`);
    return el("li", {}, links ? links(name, words(name)) : el("span", { class: "name" }, words(name)),
      el("span", { class: "amount" }, exact(n)), bar);
  }));
}

const exact = (n) => n.toLocaleString("en", { maximumFractionDigits: 4 });

// barChart draws names with numbers as horizontal bars, in their order. more are left out.
export function barChart(entries, title, more = 0) {
  const wide = 640, row = 22, names = 220, room = wide - names - 90;
  const most = Math.max(...entries.map(([, n]) => n)) || 1, high = entries.length * row + 4;
  const words = entries.slice(0, 8).map(([name, n]) => `${name}: ${exact(n)}`).join("; ");
  const label = `Bar chart, ${title}. ${words}${entries.length > 8 ? "; all values are in the table" : ""}`;
  return el("figure", { class: "chart" }, el("figcaption", {}, title),
    svg("svg", { viewBox: `0 0 ${wide} ${high}`, class: "row-bars", role: "img", "aria-label": label },
      ...entries.flatMap(([name, n], i) => {
        const y = i * row + 2, length = Math.max(1, (n / most) * room);
        return [svg("text", { x: names - 8, y: y + 14, "text-anchor": "end" }, svg("title", {}, name), short(name)),
          svg("rect", { x: names, y, width: length.toFixed(1), height: row - 6, rx: 2 }),
          svg("text", { x: (names + length + 6).toFixed(1), y: y + 14, class: "amount" }, exact(n))];
      })),
    more > 0 && el("p", { class: "soft" }, `${number(more)} more rows are in the table only.`));
}

// short cuts the middle of a name, as both ends of an address tell it apart.
function short(name) { return name.length <= 32 ? name : name.slice(0, 14) + "…" + name.slice(-17); }

// meter shows a part of a whole as a bar.
export function meter(part, whole, colour, label) {
  const bar = el("span", { class: "meter", role: "meter", "aria-valuemin": 0, "aria-valuemax": whole || 0,
    "aria-valuenow": part || 0, "aria-label": label });
  bar.style.setProperty("--share", whole > 0 ? Math.min(1, part / whole) : 0);
  bar.style.setProperty("--bar", `var(--${colour})`);
  return bar;
}
