// Names next to nodes, the most important first, without overlaps.

const cellSide = 64;

// makeLabels returns the state of the layer above the nodes.
function makeLabels(canvas) {
  return { canvas, paper: canvas.getContext("2d"), widths: new Map(), taken: new Map(), named: [] };
}

function drawLabels(app) {
  const { labels, camera: c } = app, paper = labels.paper, ratio = app.ratio;
  const width = Math.round(c.width * ratio), height = Math.round(c.height * ratio);
  if (labels.canvas.width !== width || labels.canvas.height !== height) Object.assign(labels.canvas, { width, height });
  paper.setTransform(ratio, 0, 0, ratio, 0, 0);
  paper.clearRect(0, 0, c.width, c.height);
  paper.textBaseline = "middle";
  paper.lineJoin = "round";
  labels.taken.clear();
  drawArrows(app);
  for (const v of app.origins) if (app.lit(v)) drawRing(app, v, 1.5, 1.5);
  for (const v of [app.selected, app.hovered]) if (v >= 0) drawRing(app, v, 3, 2);
  keepClear(app);
  labels.named = [];
  let room = Math.max(12, Math.round((c.width * c.height) / 20000));
  for (const v of wanted(app)) {
    if (room <= 0) break;
    if (drawLabel(app, v)) room--;
  }
  labels.canvas.dataset.named = labels.named.slice(0, 60).join(" ");
}

// wanted lists nodes in the order in which they get names, each once.
function* wanted(app) {
  const named = new Set();
  for (const list of [[app.selected, app.hovered], app.origins, app.selected >= 0 ? app.near.slice(0, 60) : [], app.order.subarray(0, 6000)]) {
    for (const v of list) {
      if (v < 0 || named.has(v) || !app.lit(v)) continue;
      named.add(v);
      yield v;
    }
  }
}

// keepClear takes the ground of the cards and of the largest nodes, which names must not
// lie under or cover.
function keepClear(app) {
  const c = app.camera;
  for (const { left, top, width, height } of app.cards) take(app.labels, left, top, width, height);
  let kept = 0;
  for (const v of app.order) {
    const r = pixels(c, app.radius[v]);
    if (r < 4 || kept > 300) return;
    const [x, y] = toScreen(c, app.g.x[v], app.g.y[v]);
    if (x < -r || y < -r || x > c.width + r || y > c.height + r || !app.lit(v)) continue;
    take(app.labels, x - r * 0.8, y - r * 0.8, r * 1.6, r * 1.6);
    kept++;
  }
}

function drawRing(app, v, gap, width) {
  const [x, y] = toScreen(app.camera, app.g.x[v], app.g.y[v]);
  const paper = app.labels.paper;
  paper.strokeStyle = css(app.ink);
  paper.lineWidth = width;
  paper.beginPath();
  paper.arc(x, y, pixels(app.camera, app.radius[v]) + gap, 0, 2 * Math.PI);
  paper.stroke();
}

const mostArrows = 500;

// drawArrows shows which way links lead: those of the selection, and all that are
// in view where these are few.
function drawArrows(app) {
  const { g, strong, links } = app, paper = app.labels.paper;
  paper.globalAlpha = 0.9;
  for (const [u, v, colour] of strong.slice(0, mostArrows)) drawArrow(app, u, v, colour, 7);
  paper.globalAlpha = 0.45;
  if (links === "all" && app.selected < 0) {
    const seen = [];
    for (let i = 0; i < g.from.length && i < 20000 && seen.length <= mostArrows; i++) {
      if (app.lit(g.from[i]) && app.lit(g.to[i]) && inView(app.camera, g.x[g.to[i]], g.y[g.to[i]])) seen.push(i);
    }
    if (seen.length <= mostArrows) for (const i of seen) drawArrow(app, g.from[i], g.to[i], app.thread, 4.5);
  }
  paper.globalAlpha = 1;
}

function inView(c, x, y) {
  const [px, py] = toScreen(c, x, y);
  return px >= 0 && py >= 0 && px <= c.width && py <= c.height;
}

// drawArrow puts a head on the link from u to v, at the rim of v, unless the link is
// too short for one.
function drawArrow(app, u, v, colour, size) {
  const c = app.camera, paper = app.labels.paper;
  const [ax, ay] = toScreen(c, app.g.x[u], app.g.y[u]), [bx, by] = toScreen(c, app.g.x[v], app.g.y[v]);
  const far = Math.hypot(bx - ax, by - ay), gap = pixels(c, app.radius[v]) + (app.g.origin(v) ? 3 : 1);
  if (far < gap + pixels(c, app.radius[u]) + 2 * size) return;
  const dx = (bx - ax) / far, dy = (by - ay) / far, x = bx - dx * gap, y = by - dy * gap;
  paper.fillStyle = css(colour);
  paper.beginPath();
  paper.moveTo(x, y);
  paper.lineTo(x - dx * size - dy * size * 0.42, y - dy * size + dx * size * 0.42);
  paper.lineTo(x - dx * size + dy * size * 0.42, y - dy * size - dx * size * 0.42);
  paper.fill();
}

// drawLabel returns whether there was room for the name of v.
function drawLabel(app, v) {
  const { camera: c, g, labels } = app;
  const [x, y] = toScreen(c, g.x[v], g.y[v]), r = pixels(c, app.radius[v]);
  if (x < -r || y < -r || x > c.width + r || y > c.height + r) return false;
  const origin = app.prominent.has(v), must = v === app.selected || v === app.hovered || origin;
  if (!must && r < 2.2 && app.selected < 0) return false; // with a selection, only its neighbours get names here
  const size = Math.round(Math.min(10.5 + app.radius[v] * 0.7, 15)) + (origin ? 1 : 0);
  const text = short(g.shown[v]), width = textWidth(labels, text, size, must), rim = r + (must ? 8 : 4);
  const boxes = places(c, x, y, rim, width, size, must), tall = size * 1.24;
  const fits = ([left, middle]) => left > 2 && left + width < c.width - 2 && middle > tall / 2 && middle < c.height - tall / 2;
  const place = boxes.find((box) => fits(box) && free(labels, box[0] - 2, box[1] - tall / 2, width + 4, tall)) || (must && (boxes.find(fits) || boxes[0]));
  if (!place) return false;
  take(labels, place[0] - 2, place[1] - tall / 2, width + 4, tall);
  if (must) tie(app, x, y, rim, place, width, size);
  writeLabel(app, text, place, size, must);
  labels.named.push(g.names[v]);
  return true;
}

// places lists the possible places of a name, nearest first: next to its node, below and above. A
// name that must be shown may also be farther away, inside the view.
function places(c, x, y, rim, width, size, must) {
  const lefts = [x + rim, x - rim - width, x - width / 2], off = rim + size * 0.5;
  const list = [[lefts[0], y], [lefts[1], y], [lefts[2], y + off], [lefts[2], y - off]];
  for (let away = 1; must && away <= 10; away++) {
    for (const dy of [away * size, -away * size]) {
      for (const left of lefts) list.push([Math.max(4, Math.min(left, c.width - width - 4)), y + dy]);
    }
  }
  return list;
}

// tie draws a thread from a node to its name, if the name is farther away than usual.
function tie(app, x, y, rim, [left, middle], width, size) {
  const tx = Math.max(left, Math.min(x, left + width)), ty = middle + Math.sign(y - middle) * size * 0.5;
  const paper = app.labels.paper, far = Math.hypot(tx - x, ty - y);
  if (far < rim + size) return;
  paper.strokeStyle = css(app.ink);
  paper.globalAlpha = 0.5;
  paper.lineWidth = 1;
  paper.beginPath();
  paper.moveTo(x + ((tx - x) * (rim - 4)) / far, y + ((ty - y) * (rim - 4)) / far);
  paper.lineTo(tx, ty);
  paper.stroke();
  paper.globalAlpha = 1;
}

function writeLabel(app, text, [x, y], size, must) {
  const paper = app.labels.paper;
  paper.font = `${must ? 650 : 500} ${size}px system-ui, sans-serif`;
  paper.lineWidth = 3.5;
  paper.strokeStyle = css(app.ground);
  paper.globalAlpha = 0.85;
  paper.strokeText(text, x, y);
  paper.globalAlpha = 1;
  paper.fillStyle = css(app.ink);
  paper.fillText(text, x, y);
}

// short cuts a name that would cover half the map.
function short(name) {
  return name.length > 42 ? name.slice(0, 41) + "…" : name;
}

function textWidth(labels, text, size, bold) {
  const font = `${bold ? 650 : 500} 100px system-ui, sans-serif`, key = font + text;
  let width = labels.widths.get(key);
  if (width === undefined) {
    labels.paper.font = font;
    width = labels.paper.measureText(text).width / 100;
    labels.widths.set(key, width);
  }
  return width * size * 1.02;
}

function eachCell(left, top, width, height, visit) {
  for (let row = Math.floor(top / cellSide); row <= Math.floor((top + height) / cellSide); row++) {
    for (let column = Math.floor(left / cellSide); column <= Math.floor((left + width) / cellSide); column++) visit(row * 4096 + column);
  }
}

function free(labels, left, top, width, height) {
  let empty = true;
  eachCell(left, top, width, height, (key) => {
    for (const [l, t, w, h] of labels.taken.get(key) || []) {
      if (left < l + w && l < left + width && top < t + h && t < top + height) empty = false;
    }
  });
  return empty;
}

function take(labels, left, top, width, height) {
  eachCell(left, top, width, height, (key) => {
    if (!labels.taken.has(key)) labels.taken.set(key, []);
    labels.taken.get(key).push([left, top, width, height]);
  });
}
