// Parts that several views use.

import { el, put, chip, button, pageLink } from "./dom.js";
import { askFresh, Failure } from "./api.js";
import { number, span, plain, stateColour } from "./words.js";

// heading begins a view. The title takes the focus when the view is entered.
export function heading(title, ...more) {
  return el("div", { class: "heading" }, el("h1", { tabindex: "-1" }, title), ...more);
}

export function section(title, more, ...children) {
  return el("section", { class: "block" }, title && el("h2", {}, title,
    more ? el("span", { class: "soft" }, more) : null), ...children);
}

// loading is shown while an answer is awaited.
export function loading(text = "Loading…") {
  return el("p", { class: "loading", role: "status" }, el("span", { class: "spinner", "aria-hidden": "true" }), text);
}

export function empty(text, ...more) {
  return el("div", { class: "empty" }, el("p", {}, text), ...more);
}

// failed shows why there is no answer, and how to try again.
export function failed(error, again, name = "Try again") {
  const known = error instanceof Failure;
  return el("div", { class: "failed", role: "alert" },
    el("p", {}, known ? error.message : "This view could not be drawn: " + error),
    again && button(name, again));
}

// fetched shows that an answer is loading, then what draw makes of it, or why there is none.
export async function fetched(element, question, draw, signal) {
  const again = () => fetched(element, question, draw, signal);
  const renew = () => fetched(element, () => askFresh(question), draw, signal);
  put(element, loading());
  try {
    const answer = await question();
    if (signal.aborted) return;
    const entered = document.activeElement.id === "view"; // it had no title yet
    put(element, draw(answer.data));
    const title = element.querySelector("h1");
    if (entered && title) title.focus({ preventScroll: true });
    tellAge(answer.age, renew);
  } catch (error) {
    if (error.name !== "AbortError" && !signal.aborted) put(element, failed(error, again));
  }
}

// tellAge shows in the heading how old an answer is, if it is not current, with a button to refresh it.
export function tellAge(age, renew) {
  const head = document.querySelector("#view .heading"), old = head && head.querySelector(".age");
  if (old) old.remove();
  if (!head || !(age >= 2)) return;
  head.append(el("span", { class: "age soft" }, `as of ${span(Math.round(age))} ago `,
    button("refresh", renew, { class: "link" })));
}

export function state(name) { return chip(plain(name), stateColour(name)); }

// facts returns a list of names and values without empty ones.
export function facts(list) {
  const said = list.filter(([, value]) => value !== "" && value !== null && value !== undefined && value !== false);
  return el("dl", { class: "facts" }, said.map(([name, value]) => [el("dt", {}, name), el("dd", {}, value)]));
}

export function figure(name, value, more) {
  return el("div", { class: "figure" }, el("span", { class: "soft" }, name), el("b", {}, value),
    more && el("span", { class: "soft more" }, more));
}

// table shows rows of columns {title, cell(row), class}. On a narrow screen a row becomes a card. Columns with a name
// and value(row) can be sorted by, if onsort is given: it is called with "name", or "-name" for the descending order,
// which is also the form of sort. inner(row) returns what a button at the beginning of the row opens.
export function table(columns, rows, { caption, most = 200, sort = "", onsort, inner } = {}) {
  const head = el("tr", {}), body = el("tbody", {}), rest = el("p", { class: "rest" });
  let order = sort, list = rows;
  const rowOf = (row) => {
    const line = el("tr", {}, columns.map((c) => {
      const cell = el("td", { class: c.class }, c.cell(row));
      cell.dataset.title = c.title;
      if (cell.textContent === "–") cell.classList.add("nil");
      return cell;
    }));
    if (inner) line.firstChild.prepend(opener(line, columns.length, () => inner(row)));
    return line;
  };
  const grow = (from) => {
    body.append(...list.slice(from, from + most).map(rowOf));
    const left = rows.length - from - most;
    put(rest, left > 0 && button(`Show ${number(Math.min(left, most))} of ${number(left)} more`,
      () => grow(from + most)));
  };
  const draw = () => {
    const held = [...head.children].findIndex((th) => th.contains(document.activeElement));
    list = arranged(columns, rows, order);
    put(head, columns.map((c) => headOf(c, order, onsort && ((next) => { order = next; draw(); onsort(next); }))));
    if (held >= 0) head.children[held].querySelector("button").focus();
    put(body);
    grow(0);
  };
  draw();
  return el("div", { class: "sheet" }, el("table", { class: onsort && "sortable" },
    caption && el("caption", {}, caption), el("thead", {}, head), body), rest);
}

function headOf(c, order, choose) {
  const name = order.replace(/^-/, ""), is = choose && c.name && c.name === name, down = is && order !== name;
  if (!choose || !c.value) return el("th", { class: c.class, scope: "col" }, c.title);
  const first = /\bnum\b/.test(c.class) ? "-" : ""; // the largest numbers first
  const next = is ? (down ? "" : "-") + name : first + c.name;
  return el("th", { class: c.class, scope: "col", "aria-sort": is ? (down ? "descending" : "ascending") : "none" },
    el("button", { type: "button", class: "sorter", onclick: () => choose(next) }, c.title + (is ? (down ? " ↓" : " ↑") : "")));
}

// arranged sorts rows. Those without a value come last in both directions.
function arranged(columns, rows, order) {
  const name = order.replace(/^-/, ""), c = columns.find((one) => one.value && one.name === name);
  if (!c) return rows;
  const lacks = (value) => value === null || value === undefined || value === "" || Number.isNaN(value);
  const values = new Map(rows.map((row) => [row, c.value(row)])), way = order === name ? 1 : -1;
  return [...rows].sort((a, b) => {
    const [x, y] = [values.get(a), values.get(b)];
    if (lacks(x) || lacks(y)) return lacks(x) - lacks(y);
    return x < y ? -way : x > y ? way : 0;
  });
}

// opener returns a button that shows more below a row, and hides it again.
function opener(line, width, more) {
  const open = button("", () => {
    const shown = open.getAttribute("aria-expanded") === "true";
    open.setAttribute("aria-expanded", String(!shown));
    if (shown) line.nextSibling.remove();
    else line.after(el("tr", { class: "inner" }, el("td", { colspan: width }, more())));
  }, { class: "opener", "aria-expanded": "false", "aria-label": "What links here" });
  return open;
}

// confirmed asks the user before an action that cannot be undone.
export function confirmed(question, more, name) {
  return new Promise((resolve) => {
    const dialog = el("dialog", { class: "card", "aria-label": question }, el("h2", {}, question), el("p", {}, more),
      el("div", { class: "buttons" }, button("Cancel", () => dialog.close("")),
        button(name, () => dialog.close("yes"), { class: "button danger" })));
    dialog.addEventListener("close", () => { resolve(dialog.returnValue === "yes"); dialog.remove(); });
    document.body.append(dialog);
    dialog.showModal();
  });
}

// route draws a shortest path: pages as stations, with the link that leads to each.
export function route(origin, depth, path) {
  return el("section", { class: "route" }, el("h3", {}, origin, el("span", { class: "soft" }, "depth " + depth)),
    el("ol", {}, path.map((step) => el("li", {}, step.kind &&
      el("span", { class: "leg" }, step.anchor ? '"' + step.anchor + '"' : "",
      el("span", { class: "soft" }, [step.kind, step.place].filter(Boolean).join(", "))),
      el("span", { class: "station" }, pageLink(step.url))))));
}

// choice returns a labelled select. change is called with the chosen value.
export function choice(label, values, value, change) {
  const select = el("select", { "aria-label": label, onchange: () => change(select.value) },
    values.map(([name, text]) => el("option", { value: name, selected: name === value }, text)));
  return el("label", { class: "choice" }, el("span", { class: "soft" }, label), select);
}
