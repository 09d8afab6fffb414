// Puts the parts together. One object, app, is the whole state of the page.

// show draws a graph as it was written, see graph.js, on the page's elements. Page says
// where the view is kept, see view.js; the rest of it is optional: dark, whether the
// ground is dark, dossier, the address where more is told of a node, and decide, which shows in an element what
// decisions on hosts would change.
function show(raw, page) {
  const g = readGraph(raw);
  const app = { g, page, raw, count: g.counted, ended: new AbortController(), camera: makeCamera(g), labels: makeLabels(document.getElementById("labels")), grid: makeGrid(g),
    colour: "class", size: "trust", links: "all", outside: "hidden", theme: "", filters: { ...noFilters }, selected: -1, hovered: -1, focus: -1, marked: new Set(), box: null, near: [], strong: [], origins: [], prominent: new Set(), ratio: 1, cost: 0, busy: -1000, last: 0, lit: () => true };
  document.getElementById("counting").hidden = !raw.other;
  document.getElementById("layer").hidden = !raw.outside;
  openPainter(app, true);
  app.grouping = groupsOf(g, app.colour, isDark(app));
  showLegend(app);
  measure(app);
  setReach(app.camera);
  const said = readView(app);
  restyle(app);
  if (!said) Object.assign(app.camera, whole(app.camera)); // next to the panel, if there is one
  listen(app);
  return app;
}

// renew shows a later graph of the same terrain. What was shown stays where it was,
// and so does the view.
function renew(app, raw) {
  const g = readGraph(raw, app.count, app.outside === "shown"), selected = g.names.indexOf(app.g.names[app.selected]);
  const chosen = app.focus < 0 ? null : app.grouping.groups[app.focus].label;
  const focus = groupsOf(g, app.colour, isDark(app)).groups.findIndex((group) => group.label === chosen);
  keepPlaces(app.g, g);
  const places = new Map(g.names.map((name, v) => [name, v]));
  app.marked = new Set([...app.marked].map((v) => places.get(app.g.names[v])).filter((v) => v !== undefined));
  app.raw = raw;
  document.getElementById("layer").hidden = !raw.outside;
  adopt(app, g, selected, focus);
  restyle(app);
}

// recount shows the graph as the links that are to count have it, with the hosts outside or without. Its other nodes are
// the same.
function recount(app) {
  const g = readGraph(app.raw, app.count, outsideWanted(app));
  app.marked = new Set([...app.marked].filter((v) => v < g.n));
  adopt(app, g, app.selected < g.n ? app.selected : -1, -1);
  Object.assign(app.camera, whole(app.camera), { flight: null });
  document.getElementById("counts").textContent = app.g.counts;
}

function adopt(app, g, selected, focus) {
  Object.assign(app, { g, selected, hovered: -1, focus, grid: makeGrid(g) });
  app.labels.spots.clear();
  app.camera.box = bounds(g);
  setReach(app.camera);
  openPainter(app, true);
}

// leave ends what a view has begun, before its elements go.
function leave(app) {
  app.ended.abort();
  clearTimeout(app.keeping);
  cancelAnimationFrame(app.waiting);
  delete document.documentElement.dataset.drawn;
}

// setReach bounds how far one can zoom.
function setReach(c) {
  const fit = whole(c).scale;
  Object.assign(c, { least: fit / 3, most: Math.max(60, fit * 8) });
}

// openPainter prefers WebGL2 and falls back to a plain canvas, also when the
// graphics card goes away.
function openPainter(app, tryWebGL) {
  const stage = document.getElementById("stage"), canvas = make("canvas", { "aria-hidden": "true" });
  if (app.canvas) app.canvas.remove();
  app.painter = tryWebGL && makeWebGL(canvas, app.g);
  app.canvas = canvas;
  if (!app.painter) {
    app.canvas = tryWebGL ? make("canvas", { "aria-hidden": "true" }) : canvas; // a canvas keeps its first context
    app.painter = makeCanvas(app.canvas, app.g);
  }
  const shown = app.canvas; // losing an earlier one does not matter
  shown.addEventListener("webglcontextlost", () => { if (shown === app.canvas) { openPainter(app, false); restyle(app); } });
  stage.prepend(shown);
  document.documentElement.dataset.painter = app.painter.name;
}

function measure(app) {
  const box = document.getElementById("stage").getBoundingClientRect();
  app.ratio = Math.min(devicePixelRatio || 1, 2.5);
  const width = Math.max(box.width, 1), height = Math.max(box.height, 1);
  const cards = [...document.querySelectorAll(".card:is(#head, #legend, #panel, #tools, #marked, .bar)")].filter((card) => !card.hidden)
    .map((card) => card.getBoundingClientRect()).filter((r) => r.width > 0);
  Object.assign(app.camera, { width, height, free: freeArea(width, height, cards, app.camera.box) });
  app.cards = cards;
}

function isDark(app) {
  if (app.page.dark) return app.page.dark();
  return app.theme ? app.theme === "dark" : matchMedia("(prefers-color-scheme: dark)").matches;
}

// restyle works everything out again that depends on theme and choices.
function restyle(app) {
  const dark = isDark(app), g = app.g;
  document.documentElement.dataset.theme = dark ? "dark" : "light";
  app.ground = parts(dark ? "#0d1117" : "#f7f6f2");
  app.ink = parts(dark ? "#e6e9ee" : "#1c2128");
  app.thread = parts(dark ? "#6d7c92" : "#6f7680");
  app.ways = dark ? [parts("#ffa45c"), parts("#7ab2ff")] : [parts("#d0581b"), parts("#1b66d1")];
  Object.assign(app, filtering(g, app.filters));
  app.grouping = groupsOf(g, app.colour, dark, app.kept);
  app.radius = radii(g, app.size);
  app.order = Uint32Array.from(app.radius.keys()).sort((a, b) => app.radius[b] - app.radius[a] || a - b);
  app.origins = [...app.order].filter((v) => g.origin(v));
  app.prominent = new Set(app.origins.slice(0, 40)); // more names than that would hide the map
  app.camera.box = bounds(g, app.kept);
  if (app.selected >= 0 && !app.kept[app.selected]) app.selected = -1;
  app.marked = new Set([...app.marked].filter((v) => app.kept[v]));
  relight(app);
  showLegend(app);
  showFilters(app);
  showMarked(app);
  showPanel(app);
  showResults(app);
  measure(app);
}

// relight highlights the selection and its links, and dims the rest.
function relight(app) {
  const { g, grouping, focus, selected } = app;
  const drawn = (outward) => selected < 0 ? [] : neighbours(g, selected, outward)
    .filter(([v, weight]) => app.kept[v] && weight >= Number(app.filters["min-weight"])).map(([v]) => v);
  const [outward, inward] = [drawn(true), drawn(false)];
  app.near = [...outward, ...inward];
  const near = new Set([selected, ...app.near]);
  app.lit = (v) => app.kept[v] && (focus < 0 || grouping.of[v] === focus) && (selected < 0 || near.has(v));
  app.colours = paint(g, grouping, app.lit, app.kept);
  app.painter.nodes(app.radius, app.colours, app.shares);
  app.strong = app.links === "none" ? [] : [
    ...inward.map((v) => [v, selected, app.ways[1]]), ...outward.map((v) => [selected, v, app.ways[0]]),
  ];
  app.painter.highlight(app.strong);
  redraw(app);
  keepView(app);
}

function choose(app, name, value) {
  app[name] = value;
  if (name === "colour") app.focus = -1;
  if (name === "count" || name === "outside") recount(app);
  restyle(app);
}

function flip(app) {
  app.theme = isDark(app) ? "light" : "dark";
  restyle(app);
}

function focusGroup(app, group) {
  app.focus = group;
  relight(app);
  showLegend(app);
}

// select shows a node, and goes there: with centre to the middle of the free area,
// else only as far as no card covers the node.
function select(app, v, centre) {
  app.selected = v;
  if (v >= 0 && !app.kept[v]) setFilters(app, noFilters); // they would hide it
  if (v >= 0 && app.focus >= 0 && app.grouping.of[v] !== app.focus) focusGroup(app, -1); // which would hide it
  else relight(app);
  showPanel(app);
  measure(app);
  if (v < 0) return;
  const c = app.camera, x = app.g.x[v], y = app.g.y[v];
  const to = centre ? centred(c, x, y, Math.max(c.scale, Math.min(whole(c).scale * 3, c.most))) : shifted(c, x, y);
  if (to) {
    fly(c, to);
    moved(app);
  }
}

function hover(app, v, px, py) {
  if (v !== app.hovered) {
    app.hovered = v;
    app.labels.canvas.classList.toggle("over", v >= 0);
    redraw(app);
  }
  showTip(app, px, py);
}

// moved is called after every change of the camera.
function moved(app) {
  app.busy = performance.now();
  redraw(app);
  keepView(app);
}

function redraw(app) {
  if (!app.waiting && !app.ended.signal.aborted) app.waiting = requestAnimationFrame((now) => frame(app, now));
}

function frame(app, now) {
  app.waiting = 0;
  const flying = advance(app.camera, now), moving = flying || performance.now() - app.busy < 150;
  app.cost = moving && app.last ? now - app.last : 0;
  app.last = moving ? now : 0;
  app.widest = app.g.n ? pixels(app.camera, app.radius[app.order[0]]) : 0;
  app.painter.draw(app.camera, lookOf(app, moving));
  drawLabels(app);
  if (!document.documentElement.dataset.drawn) document.documentElement.dataset.drawn = Math.round(performance.now());
  if (flying) redraw(app);
  else if (moving) setTimeout(() => redraw(app), 160); // once more, with every link
  tellRest(app);
}

// lookOf says how links are drawn: fainter the more there are, and fewer while
// moving where drawing all takes long.
function lookOf(app, moving) {
  const c = app.camera, m = app.g.from.length, zoomed = Math.min(Math.max(c.scale / whole(c).scale, 1), 8);
  const crowd = Math.sqrt(m + 1) * Math.max(1, m / 20000) ** 0.3 * Math.max(1, 1000 / Math.sqrt(c.width * c.height)) ** 0.7;
  const alpha = Math.min(0.5, (isDark(app) ? 16 : 18) / crowd * Math.sqrt(zoomed));
  app.slow = moving ? app.slow || app.cost > 60 && app.cost < 1000 : false;
  return { ground: app.ground, ratio: app.ratio, alpha: app.links === "all" ? alpha * (app.selected >= 0 ? 0.6 : 1) : 0, most: app.slow ? 4000 : m };
}
