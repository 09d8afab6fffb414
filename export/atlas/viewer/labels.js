// Names next to nodes. The greater node's name takes its place first, and a name without room is left out.

const cellSide = 64;

// makeLabels returns the state of the layer above the nodes.
function makeLabels(canvas) {
  return { canvas, paper: canvas.getContext("2d"), widths: new Map(), taken: new Map(), spots: new Map(), named: [] };
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
  drawRings(app, app.origins.filter(app.lit), 1.5, 1.5);
  drawRings(app, [app.selected, app.hovered].filter((v) => v >= 0), 3, 2);
  drawRings(app, [...app.marked], 5, 2.5, app.ways[0]);
  keepClear(app);
  labels.named = [];
  let room = Math.max(12, Math.round((c.width * c.height) / 20000));
  for (const v of wanted(app)) {
    if (room <= 0) break;
    if (drawLabel(app, v)) room--;
  }
  if (app.box) drawBox(app);
  labels.canvas.dataset.named = labels.named.slice(0, 60).join(" ");
}

// drawBox draws the rectangle in which nodes will be marked.
function drawBox({ box, labels, ways }) {
  labels.paper.strokeStyle = labels.paper.fillStyle = css(ways[0]);
  labels.paper.lineWidth = 1;
  const sides = [box.left, box.top, box.right - box.left, box.bottom - box.top];
  labels.paper.strokeRect(...sides);
  labels.paper.globalAlpha = 0.1;
  labels.paper.fillRect(...sides);
  labels.paper.globalAlpha = 1;
}

// wanted lists nodes in the order in which they get names, each once.
function* wanted(app) {
  const named = new Set();
  for (const list of [[app.selected], [...app.marked], app.origins, app.selected >= 0 ? app.near.slice(0, 60) : [], app.order.subarray(0, 6000)]) {
    for (const v of list) {
      if (v < 0 || named.has(v) || !app.lit(v)) continue;
      named.add(v);
      yield v;
    }
  }
}

// keepClear takes the ground of the cards and of the largest nodes that can be seen, which names must not
// lie under or cover.
function keepClear(app) {
  const c = app.camera;
  for (const { left, top, width, height } of app.cards) take(app.labels, left, top, width, height, true);
  let kept = 0;
  for (const v of app.order) {
    const r = pixels(c, app.radius[v]);
    if (r < 2 || kept > 300) return;
    const [x, y] = toScreen(c, app.g.x[v], app.g.y[v]);
    if (x < -r || y < -r || x > c.width + r || y > c.height + r || !app.lit(v)) continue;
    take(app.labels, x - r * 0.8, y - r * 0.8, r * 1.6, r * 1.6);
    kept++;
  }
}

function drawRings(app, nodes, gap, width, colour = app.ink) {
  const paper = app.labels.paper, c = app.camera;
  paper.strokeStyle = css(colour);
  paper.lineWidth = width;
  paper.beginPath();
  for (const v of nodes) {
    const [x, y] = toScreen(c, app.g.x[v], app.g.y[v]), r = pixels(c, app.radius[v]) + gap;
    if (x < -r || y < -r || x > c.width + r || y > c.height + r) continue;
    paper.moveTo(x + r, y);
    paper.arc(x, y, r, 0, 2 * Math.PI);
  }
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
      if (app.shares[i] > 0 && app.lit(g.from[i]) && app.lit(g.to[i]) && inView(app.camera, g.x[g.to[i]], g.y[g.to[i]])) seen.push(i);
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

// drawLabel returns whether there was room for the name of v. A name that is drawn again takes the place
// that it had, if that is still free.
function drawLabel(app, v) {
  const { camera: c, g, labels } = app;
  const [x, y] = toScreen(c, g.x[v], g.y[v]), r = pixels(c, app.radius[v]);
  if (x < -r || y < -r || x > c.width + r || y > c.height + r) return false;
  const origin = app.prominent.has(v), must = v === app.selected || origin;
  if (!must && r < 2.2 && app.selected < 0 && !app.marked.has(v)) return false; // with a selection, only its neighbours get names here
  const size = Math.round(Math.min(10.5 + app.radius[v] * 0.7, 15)) + (origin ? 1 : 0);
  const text = short(g.labels[v]), width = textWidth(labels, text, size, must), rim = r + (app.marked.has(v) ? 11 : must ? 8 : 4);
  const spots = places(c, x, y, rim, width, size, must), tall = size * 1.24, had = labels.spots.get(v);
  const spot = spots.length && room(labels, spots, had, { c, x, y, rim, width, tall, size, urgent: must && app.prominent.size <= fewOrigins, first: v === app.selected });
  if (!spot) { labels.spots.delete(v); return false; }
  labels.spots.set(v, spots.indexOf(spot));
  take(labels, spot[0] - 2, spot[1] - tall / 2, width + 4, tall, true);
  tie(app, threadTo(x, y, rim, spot, width, size));
  writeLabel(app, text, spot, size, must);
  labels.named.push(g.names[v]);
  return true;
}

const near = 8; // places of a name that touch its node

// places lists the possible places of a name, nearest first: next to its node, below and above. A
// name that must be shown may also be farther away, inside the view.
function places(c, x, y, rim, width, size, must) {
  const lefts = [x + rim, x - rim - width, x - width / 2], off = rim + size * 0.5;
  const list = [[lefts[0], y], [lefts[1], y], [lefts[2], y + off], [lefts[2], y - off],
    ...[x - size, x + size - width].flatMap((left) => [[left, y + off], [left, y - off]])];
  for (let away = 1; must && away <= 7; away++) {
    for (const dy of [away * size, -away * size]) {
      for (const left of lefts) list.push([Math.max(4, Math.min(left, c.width - width - 4)), y + dy]);
    }
  }
  return list;
}

const fewOrigins = 12; // with more of them, their names yield too

// room returns the place for a name: the one that it had, else the first where nothing lies. An urgent name may
// cover nodes and threads, but no other name and no card. The name that comes first is always shown.
function room(labels, spots, had, { c, x, y, rim, width, tall, size, urgent, first }) {
  const inside = ([left, middle]) => left > 2 && left + width < c.width - 2 && middle > tall / 2 && middle < c.height - tall / 2;
  const open = (firm, crossing) => (spot) => inside(spot) && free(labels, spot[0] - 2, spot[1] - tall / 2, width + 4, tall, firm)
    && (crossing || threadTo(x, y, rim, spot, width, size).every(([px, py]) => free(labels, px, py, 1, 1, true)));
  if (had < near && open(false)(spots[had])) return spots[had];
  return spots.find(open(false)) || urgent && (spots.find(open(true)) || spots.find(open(true, true))) || first && (spots.find(inside) || spots[0]);
}

// threadTo returns points of the thread from a node to its name. There are none if the name is as near
// as usual.
function threadTo(x, y, rim, [left, middle], width, size) {
  const tx = Math.max(left, Math.min(x, left + width)), ty = middle + Math.sign(y - middle) * size * 0.5;
  const far = Math.hypot(tx - x, ty - y), points = [];
  if (far < rim + size) return points;
  for (let at = rim - 4; at < far; at += 6) points.push([x + ((tx - x) * at) / far, y + ((ty - y) * at) / far]);
  return [...points, [tx, ty]];
}

// tie draws the thread from a node to its name. Lesser names keep off it.
function tie(app, thread) {
  if (!thread.length) return;
  const paper = app.labels.paper;
  paper.strokeStyle = css(app.ink);
  paper.globalAlpha = 0.5;
  paper.lineWidth = 1;
  paper.beginPath();
  paper.moveTo(...thread[0]);
  paper.lineTo(...thread.at(-1));
  paper.stroke();
  paper.globalAlpha = 1;
  for (const [x, y] of thread) take(app.labels, x, y, 1, 1);
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

// free reports whether nothing lies in a box: no name, card or thread, and no node unless only what is firm counts.
function free(labels, left, top, width, height, firmOnly) {
  let empty = true;
  eachCell(left, top, width, height, (key) => {
    for (const [l, t, w, h, firm] of labels.taken.get(key) || []) {
      if ((firm || !firmOnly) && left < l + w && l < left + width && top < t + h && t < top + height) empty = false;
    }
  });
  return empty;
}

function take(labels, left, top, width, height, firm) {
  eachCell(left, top, width, height, (key) => {
    if (!labels.taken.has(key)) labels.taken.set(key, []);
    labels.taken.get(key).push([left, top, width, height, firm]);
  });
}
