// The cards: what is known about the selected node, search results, the legend.

// make builds an element; text is only ever text.
function make(tag, attributes, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

function count(number) {
  return number.toLocaleString("en");
}

function dotOf(app, v) {
  const dot = make("span", { class: "dot", "aria-hidden": "true" });
  dot.style.setProperty("--dot", app.grouping.groups[app.grouping.of[v]].colour);
  return dot;
}

// nodeRow is a button that selects a node.
function nodeRow(app, v, more) {
  const button = make("button", { type: "button", class: "row", title: [app.g.titles[v], app.g.shown[v]].filter(Boolean).join("\n") },
    dotOf(app, v), make("span", { class: "name" }, app.g.labels[v]), make("span", { class: "more" }, more));
  button.addEventListener("click", (event) => event.shiftKey ? toggleMark(app, v) : select(app, v, true));
  return button;
}

function showPanel(app) {
  const panel = document.getElementById("panel"), v = app.selected, g = app.g;
  panel.hidden = v < 0;
  panel.replaceChildren();
  if (v < 0) return;
  const close = make("button", { type: "button", class: "close", "aria-label": "Close", title: "Close (Esc)" }, "×");
  close.addEventListener("click", () => select(app, -1));
  panel.append(close, make("h2", {}, g.labels[v]));
  if (g.labels[v] !== g.names[v]) panel.append(make("p", { class: "title" }, g.names[v]));
  else if (g.shown[v] !== g.names[v]) panel.append(make("p", { class: "title" }, g.shown[v].slice(g.names[v].length + 1)));
  if (g.titles[v]) panel.append(make("p", { class: "title" }, g.titles[v]));
  panel.append(chips(app, v));
  if (g.reasons[v]) panel.append(make("p", { class: "reason" }, g.reasons[v]));
  panel.append(isOutside(g, v) ? outsideFacts(g, v) : facts(g, v), ...busiestPages(g, v));
  panel.append(...linkList(app, "out", "Links to", neighbours(g, v, true)), ...linkList(app, "in", "Linked from", neighbours(g, v, false)));
  panel.scrollTop = 0;
}

function chips(app, v) {
  const g = app.g, chip = make("span", { class: "chip" }, dotOf(app, v), g.classes[g.class[v]]);
  const list = make("div", { class: "chips" }, chip);
  if (g.depth[v] >= 0) list.append(make("span", { class: "chip" }, "depth " + g.depth[v]));
  const { count, head } = communities(g), c = g.community[v];
  if (c >= 0 && count.get(c) > 1 && !isOutside(g, v)) list.append(make("span", { class: "chip" }, "community of " + g.labels[head.get(c)]));
  const mark = make("button", { type: "button", class: "chip mark", "aria-pressed": String(app.marked.has(v)), title: "Mark (x)" }, "mark");
  mark.addEventListener("click", () => toggleMark(app, v));
  list.append(mark);
  if (app.page.dossier && !isOutside(g, v)) list.append(make("a", { class: "chip", href: app.page.dossier(g.names[v]) }, "all about it"));
  if (/^[a-z0-9-]+(\.[a-z0-9-]+)+(:[0-9]+)?$/.test(g.names[v])) {
    list.append(make("a", { class: "chip", href: "https://" + g.names[v] + "/", target: "_blank", rel: "noopener noreferrer nofollow" }, "open ↗"));
  }
  return list;
}

function facts(g, v) {
  const list = make("dl", {});
  const add = (name, value) => list.append(make("dt", {}, name), make("dd", {}, value));
  add("pages visited", count(g.visited[v]) + " of " + count(g.pages[v]));
  add("links in", count(g.in[v]));
  add("links out", count(g.out[v]));
  add("trust", share(g.trust[v]) + ", no. " + count(place(g.trust, v)));
  add("PageRank", share(g.pagerank[v]) + ", no. " + count(place(g.pagerank, v)));
  add("harmonic centrality", g.harmonic[v].toLocaleString("en", { maximumSignificantDigits: 4 }) + ", no. " + count(place(g.harmonic, v)));
  g.more.forEach((name, i) => { if (g.figures[v][i]) add(name, g.figures[v][i]); });
  return list;
}

// busiestPages lists the pages of a node that most links lead to.
function busiestPages(g, v) {
  const pages = g.busiest[v] || [];
  if (!pages.length) return [];
  const rows = pages.map(([url, title, links]) => make("li", {}, make("a",
    { class: "row", href: url, title: url, target: "_blank", rel: "noopener noreferrer nofollow" },
    make("span", { class: "name" }, title || url.replace(/^https:\/\//, "")), make("span", { class: "more" }, count(links) + " in"))));
  return [make("h3", {}, "Busiest pages"), make("ul", {}, ...rows)];
}

function share(value) {
  return (100 * value).toLocaleString("en", { maximumSignificantDigits: 3 }) + " %";
}

// place returns how many nodes have more, and one.
function place(values, v) {
  let better = 1;
  for (const value of values) if (value > values[v]) better++;
  return better;
}

const shown = 40;

function linkList(app, kind, name, list) {
  const rows = make("ul", {});
  const fill = (from, to) => rows.append(...list.slice(from, to).map(([v, weight]) => make("li", {}, nodeRow(app, v, weight > 1 ? "× " + count(weight) : ""))));
  fill(0, shown);
  const parts = [make("h3", { class: kind }, name, make("span", { class: "more" }, count(list.length))), rows];
  if (!list.length) rows.append(make("li", { class: "none" }, "none in this map"));
  if (list.length > shown) {
    const all = make("button", { type: "button", class: "all" }, "show " + count(Math.min(list.length, 2000) - shown) + " more");
    all.addEventListener("click", () => { fill(shown, 2000); all.remove(); });
    parts.push(all);
  }
  return parts;
}

function showLegend(app) {
  document.getElementById("ring").hidden = !app.g.classes.includes("quality");
  const { of, groups } = app.grouping;
  document.getElementById("groups").replaceChildren(...groups.map((group, i) => {
    const dot = make("span", { class: "dot", "aria-hidden": "true" });
    dot.style.setProperty("--dot", group.colour);
    const button = make("button", { type: "button", class: "row", "aria-pressed": String(app.focus === i), title: "Show only these" },
      dot, make("span", { class: "name" }, group.label), make("span", { class: "more" }, count(group.count)));
    button.addEventListener("click", () => focusGroup(app, app.focus === i ? -1 : i));
    return make("li", {}, button);
  }));
}

function showTip(app, px, py) {
  const tip = document.getElementById("tip"), v = app.hovered, g = app.g;
  tip.hidden = v < 0;
  if (v < 0) return;
  const group = app.grouping.groups[app.grouping.of[v]].label;
  tip.replaceChildren(make("b", {}, g.labels[v]));
  if (g.shown[v] !== g.labels[v]) tip.append(make("span", {}, g.labels[v] === g.names[v] ? g.shown[v] : g.names[v]));
  if (g.titles[v]) tip.append(make("span", {}, g.titles[v]));
  tip.append(make("span", {}, [g.classes[g.class[v]], g.depth[v] >= 0 ? "depth " + g.depth[v] : "", count(g.in[v]) + " in, " + count(g.out[v]) + " out", isOutside(g, v) ? "" : count(g.visited[v]) + " of " + count(g.pages[v]) + " pages"].filter(Boolean).join(" · ")));
  tip.style.left = Math.min(px + 14, app.camera.width - tip.offsetWidth - 8) + "px";
  tip.style.top = Math.min(py + 14, app.camera.height - tip.offsetHeight - 8) + "px";
}

// find ranks names and titles: equal, begins with, contains.
function find(g, query, most) {
  const wanted = query.trim().toLowerCase(), found = [];
  if (!wanted) return found;
  for (let v = 0; v < g.n; v++) {
    const score = match(g.lower[v], wanted) || (g.lowerTitles[v].includes(wanted) ? 4 : 0);
    if (score) found.push([score, v]);
  }
  found.sort((a, b) => a[0] - b[0] || g.trust[b[1]] - g.trust[a[1]] || a[1] - b[1]);
  return found.slice(0, most).map(([, v]) => v);
}

// match returns 1 for equal, 2 for begins with, 3 for contains, 0 for none.
function match(name, wanted) {
  const at = name.indexOf(wanted);
  if (at < 0) return 0;
  return at > 0 ? 3 : name.length > wanted.length ? 2 : 1;
}

function showResults(app) {
  const query = document.getElementById("query").value, results = document.getElementById("results");
  const found = find(app.g, query, 40);
  results.hidden = !query.trim();
  results.replaceChildren(...found.map((v) => make("li", {}, nodeRow(app, v, count(app.g.in[v]) + " in"))));
  if (!found.length) results.append(make("li", { class: "none" }, "nothing found"));
  return found;
}
