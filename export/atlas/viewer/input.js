// Pointer, wheel, keys and cards.

function listen(app) {
  const layer = app.labels.canvas;
  const pointers = new Map();
  layer.addEventListener("pointerdown", (event) => press(app, pointers, event));
  layer.addEventListener("pointermove", (event) => drag(app, pointers, event));
  for (const name of ["pointerup", "pointercancel"]) layer.addEventListener(name, (event) => release(app, pointers, event));
  layer.addEventListener("pointerleave", () => { if (!pointers.size) hover(app, -1); });
  layer.addEventListener("wheel", (event) => wheel(app, event), { passive: false });
  layer.addEventListener("dblclick", (event) => { zoom(app.camera, 2, event.clientX, event.clientY); moved(app); });
  const { signal } = app.ended;
  addEventListener("keydown", (event) => key(app, event), { signal });
  addEventListener("resize", () => { measure(app); redraw(app); }, { signal });
  addEventListener("hashchange", () => { if (location.hash !== app.hash) { readView(app); restyle(app); } }, { signal });
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => { if (!app.theme) restyle(app); }, { signal });
  listenCards(app);
}

function listenCards(app) {
  const on = (id, name, act) => document.getElementById(id).addEventListener(name, act);
  on("query", "input", () => showResults(app));
  on("search", "submit", (event) => { event.preventDefault(); const [first] = showResults(app); if (first !== undefined) select(app, first, true); });
  for (const id of ["colour", "size", "links", "count", "outside"]) on(id, "change", (event) => choose(app, id, event.target.value));
  for (const id of Object.keys(noFilters)) on(id, "change", (event) => setFilters(app, { [id]: valid(app, id, event.target.value) }));
  on("unfilter", "click", () => { setFilters(app, noFilters); document.querySelector("#filters summary").focus(); });
  on("filters", "toggle", () => { measure(app); redraw(app); });
  on("zoom-in", "click", () => step(app, 1.5));
  on("zoom-out", "click", () => step(app, 1 / 1.5));
  on("fit", "click", () => { fly(app.camera, whole(app.camera)); moved(app); });
  for (const format of ["png", "svg"]) on(format, "click", () => savePicture(app, format));
  if (document.getElementById("theme")) on("theme", "click", () => flip(app));
}

function press(app, pointers, event) {
  pointers.set(event.pointerId, { x: event.clientX, y: event.clientY, far: 0, marks: event.shiftKey, from: [event.clientX, event.clientY] });
  app.labels.canvas.setPointerCapture(event.pointerId);
  app.labels.canvas.focus({ preventScroll: true });
}

function drag(app, pointers, event) {
  const pointer = pointers.get(event.pointerId);
  if (!pointer) return hover(app, event.pointerType === "touch" ? -1 : pick(app, event.clientX, event.clientY), event.clientX, event.clientY);
  const dx = event.clientX - pointer.x, dy = event.clientY - pointer.y;
  pointer.far += Math.abs(dx) + Math.abs(dy);
  if (pointer.marks) {
    const [x, y] = pointer.from;
    app.box = { left: Math.min(x, event.clientX), top: Math.min(y, event.clientY), right: Math.max(x, event.clientX), bottom: Math.max(y, event.clientY) };
    hover(app, -1);
    return redraw(app);
  }
  if (pointers.size === 2) pinch(app, pointers, event, pointer);
  else if (pointer.far > 4) { pan(app.camera, dx, dy); app.labels.canvas.classList.add("dragging"); hover(app, -1); }
  if (pointers.size === 2 || pointer.far > 4) { pointer.x = event.clientX; pointer.y = event.clientY; moved(app); }
}

// pinch zooms around the middle of two fingers and moves along with it.
function pinch(app, pointers, event, pointer) {
  const other = [...pointers.values()].find((p) => p !== pointer);
  const before = Math.hypot(pointer.x - other.x, pointer.y - other.y), after = Math.hypot(event.clientX - other.x, event.clientY - other.y);
  pan(app.camera, (event.clientX - pointer.x) / 2, (event.clientY - pointer.y) / 2);
  if (before > 0 && after > 0) zoom(app.camera, after / before, (event.clientX + other.x) / 2, (event.clientY + other.y) / 2);
  pointer.far += 10;
  other.far += 10;
}

function release(app, pointers, event) {
  const pointer = pointers.get(event.pointerId);
  pointers.delete(event.pointerId);
  app.labels.canvas.classList.remove("dragging");
  const { box } = app, done = pointer && event.type === "pointerup";
  app.box = null;
  if (done && pointer.far <= 4) (pointer.marks ? toggleMark : select)(app, pick(app, event.clientX, event.clientY));
  else if (done && pointer.marks) markWithin(app, box);
  else redraw(app);
}

function wheel(app, event) {
  event.preventDefault();
  const lines = event.deltaMode === 1 ? 16 : 1;
  zoom(app.camera, Math.exp(-Math.max(-300, Math.min(300, event.deltaY * lines)) * (event.ctrlKey ? 0.01 : 0.0016)), event.clientX, event.clientY);
  moved(app);
}

function step(app, factor) {
  const c = app.camera;
  fly(c, { scale: bounded(c, (c.flight ? c.flight.to.scale : c.scale) * factor) });
  moved(app);
}

const arrows = { ArrowLeft: [1, 0], ArrowRight: [-1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };

function key(app, event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const field = event.target instanceof Element && event.target.closest("input, select");
  if (event.key === "Escape") return escape(app, field);
  if (field) return enterResults(app, event);
  const act = { "/": () => document.getElementById("query").focus(), "+": () => step(app, 1.5), "=": () => step(app, 1.5), "-": () => step(app, 1 / 1.5), 0: () => document.getElementById("fit").click(), x: () => toggleMark(app, app.selected), t: !app.page.dark && (() => flip(app)) }[event.key];
  if (act) { event.preventDefault(); act(); }
  if (arrows[event.key]) travel(app, event);
}

// travel moves through a list where the focus is in one, else over the map.
function travel(app, event) {
  const row = event.target.closest && event.target.closest("li");
  event.preventDefault();
  if (row && event.key.match(/Up|Down/)) {
    const next = event.key === "ArrowDown" ? row.nextElementSibling : row.previousElementSibling;
    const target = next ? next.querySelector("button") : event.key === "ArrowUp" && row.closest("#results") && document.getElementById("query");
    if (target) target.focus();
    return;
  }
  const [dx, dy] = arrows[event.key], far = event.shiftKey ? 240 : 80;
  pan(app.camera, dx * far, dy * far);
  moved(app);
}

// enterResults leads from the search field to the first result. With the shift key Enter marks it.
function enterResults(app, event) {
  if (event.key === "Enter" && event.shiftKey && event.target.id === "query") {
    event.preventDefault();
    const [first = -1] = showResults(app);
    toggleMark(app, first);
  }
  const first = document.querySelector("#results button");
  if (event.key === "ArrowDown" && event.target.id === "query" && first) { event.preventDefault(); first.focus(); }
}

function escape(app, field) {
  const query = document.getElementById("query");
  if (query.value) { query.value = ""; showResults(app); }
  else if (app.selected >= 0) select(app, -1);
  else if (app.marked.size) clearMarks(app);
  else if (app.focus >= 0) focusGroup(app, -1);
  if (field) field.blur();
  app.labels.canvas.focus({ preventScroll: true });
}

// pick returns the node under a point of the screen, -1 for none.
function pick(app, px, py) {
  const c = app.camera, [x, y] = toWorld(c, px, py);
  let best = -1, nearest = Infinity;
  eachNear(app.grid, x, y, (app.widest + 8) / c.scale, (v) => {
    if (!app.kept[v]) return;
    const [vx, vy] = toScreen(c, app.g.x[v], app.g.y[v]);
    const over = Math.hypot(vx - px, vy - py) - Math.max(pixels(c, app.radius[v]), 5);
    if (over < 1 && over < nearest) { nearest = over; best = v; }
  });
  return best;
}
