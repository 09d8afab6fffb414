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

// table shows rows of columns {title, cell(row), class}. On a narrow screen a row becomes a card.
export function table(columns, rows, { caption, most = 200 } = {}) {
  const body = el("tbody", {}), rest = el("p", { class: "rest" });
  const add = (from, to) => body.append(...rows.slice(from, to).map((row) => el("tr", {}, columns.map((c) => {
    const cell = el("td", { class: c.class }, c.cell(row));
    cell.dataset.title = c.title;
    if (cell.textContent === "–") cell.classList.add("nil");
    return cell;
  }))));
  const grow = (from) => {
    add(from, from + most);
    const left = rows.length - from - most;
    put(rest, left > 0 && button(`Show ${number(Math.min(left, most))} of ${number(left)} more`,
      () => grow(from + most)));
  };
  grow(0);
  return el("div", { class: "sheet" }, el("table", {}, caption && el("caption", {}, caption),
    el("thead", {}, el("tr", {}, columns.map((c) => el("th", { class: c.class, scope: "col" }, c.title)))), body),
    rest);
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
      el("span", { class: "leg" }, step.anchor ? "“" + step.anchor + "”" : "",
      el("span", { class: "soft" }, [step.kind, step.place].filter(Boolean).join(", "))),
      el("span", { class: "station" }, pageLink(step.url))))));
}

// choice returns a labelled select. change is called with the chosen value.
export function choice(label, values, value, change) {
  const select = el("select", { "aria-label": label, onchange: () => change(select.value) },
    values.map(([name, text]) => el("option", { value: name, selected: name === value }, text)));
  return el("label", { class: "choice" }, el("span", { class: "soft" }, label), select);
}
