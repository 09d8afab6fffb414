// The graph as typed arrays.

// readGraph reads the view in which the counted links count, else the one that opens; with the hosts outside, if there are
// any and they are wanted.
function readGraph(raw, counted, outside) {
  const view = raw.other && counted && counted !== raw.counted ? raw.other : raw;
  const shown = raw.shown || {}; // the names that a person is shown in another form
  const g = { names: raw.names, shown: raw.names.map((name, v) => shown[v] || name), titles: raw.titles, classes: raw.classes, palette: raw.palette || [], level: raw.level, n: raw.names.length,
    covers: raw.covers, stances: raw.stances, reasons: raw.reasons, busiest: raw.busiest, more: raw.more || [], figures: raw.figures || [], counts: view.counts };
  for (const name of ["x", "y"]) g[name] = decode(view[name], Float32Array);
  for (const name of ["trust", "pagerank", "harmonic"]) g[name] = decode(view[name], Float64Array);
  for (const name of ["in", "out", "pages", "visited", "from", "to"]) g[name] = decode(raw[name], Uint32Array);
  for (const name of ["class", "cover", "stance", "depth"]) g[name] = decode(raw[name], Int32Array);
  g.community = decode(view.community, Int32Array);
  g.weight = decode(view.weight, Uint32Array);
  if (raw.other) {
    const weight = g.weight;
    for (const name of ["from", "to", "weight"]) g[name] = g[name].filter((_, i) => weight[i] > 0);
  }
  g.counted = view === raw ? raw.counted : counted;
  if (outside && raw.outside) addOutside(g, raw.outside);
  g.labels = g.shown.map((name, v) => reading(name.slice(g.names[v].length)) || g.names[v]);
  g.lower = g.shown.map((name) => name.toLowerCase());
  g.lowerTitles = g.titles.map((title) => title.toLowerCase());
  g.origin = (v) => g.classes[g.class[v]] === "quality";
  g.outward = group(g.n, g.from);
  g.inward = group(g.n, g.to);
  return g;
}

// aliens are letters of other scripts that look like Latin ones.
const aliens = /^[-0-9\u0430\u0441\u0501\u0435\u04bb\u0456\u0458\u04cf\u043e\u0440\u051b\u0455\u051d\u0445\u0443\u0475\u043a\u043c\u0442\u03bf\u03bd\u03c1\u03b1\u03c5]+$/u;

// reading returns the Unicode form in " (b\u00fccher.example)". It is empty if that could pass for another name: a
// label has several scripts, or only letters that look like Latin ones.
function reading(more) {
  const text = more.slice(2, -1);
  return more.includes(", ") || text.split(".").some((label) => /[^-0-9]/.test(label) && aliens.test(label)) ? "" : text;
}

function decode(text, Type) {
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < bytes.length; i++) bytes[i] = binary.charCodeAt(i);
  return new Type(bytes.buffer);
}

// group lists the links by one of their ends: those of node v are
// links[first[v]] to links[first[v + 1] - 1].
function group(n, ends) {
  const first = new Uint32Array(n + 1);
  for (const v of ends) first[v + 1]++;
  for (let v = 0; v < n; v++) first[v + 1] += first[v];
  const next = first.slice(0, n);
  const links = new Uint32Array(ends.length);
  for (let i = 0; i < ends.length; i++) links[next[ends[i]]++] = i;
  return { first, links };
}

// neighbours returns [node, weight] of the links of v, the heaviest first.
function neighbours(g, v, outward) {
  const { first, links } = outward ? g.outward : g.inward;
  const far = outward ? g.to : g.from;
  const list = [];
  for (let i = first[v]; i < first[v + 1]; i++) list.push([far[links[i]], g.weight[links[i]]]);
  return list.sort((a, b) => b[1] - a[1] || g.trust[b[0]] - g.trust[a[0]] || a[0] - b[0]);
}

// radii gives every node its radius in the units of the layout. The same formula
// is in atlas.go, for the room that the layout leaves.
function radii(g, metric) {
  const values = g[metric];
  const all = new Float32Array(g.n).fill(2);
  if (!values) return all;
  let most = 0;
  for (const value of values) most = Math.max(most, value);
  for (let v = 0; v < g.n; v++) all[v] = 1 + 5 * Math.sqrt(most > 0 ? values[v] / most : 0);
  return all;
}

// bounds returns the box around the nodes that are kept, or around all of them.
function bounds(g, kept) {
  const b = { left: Infinity, top: Infinity, right: -Infinity, bottom: -Infinity };
  for (let v = 0; v < g.n; v++) {
    if (kept && !kept[v]) continue;
    b.left = Math.min(b.left, g.x[v]); b.right = Math.max(b.right, g.x[v]);
    b.top = Math.min(b.top, g.y[v]); b.bottom = Math.max(b.bottom, g.y[v]);
  }
  return b.left < Infinity ? b : { left: -1, top: -1, right: 1, bottom: 1 };
}

// keepPlaces puts the nodes of a later graph where an earlier one had them, and new ones next to
// nodes that they are linked with, in a widening spiral.
function keepPlaces(before, g) {
  const known = new Map(before.names.map((name, v) => [name, v])), placed = new Uint8Array(g.n), crowd = new Map();
  const put = (v, x, y) => { g.x[v] = x; g.y[v] = y; placed[v] = 1; };
  for (let v = 0; v < g.n; v++) {
    const was = known.get(g.names[v]);
    if (was !== undefined) put(v, before.x[was], before.y[was]);
  }
  const order = [...g.names.keys()].filter((v) => !placed[v]).sort((a, b) => g.trust[b] - g.trust[a] || a - b);
  for (const v of order) {
    const [beside] = [...neighbours(g, v, false), ...neighbours(g, v, true)].map(([u]) => u).filter((u) => placed[u]);
    if (beside === undefined) { placed[v] = 1; continue; } // no link to a placed node: use the layout's position
    const turn = (crowd.get(beside) || 0) + 1, far = 9 + 3.2 * Math.sqrt(turn), angle = 2.39996 * turn + beside;
    crowd.set(beside, turn);
    put(v, g.x[beside] + far * Math.cos(angle), g.y[beside] + far * Math.sin(angle));
  }
}

// makeGrid sorts the nodes into squares for picking.
function makeGrid(g) {
  const b = bounds(g);
  const side = Math.max(b.right - b.left, b.bottom - b.top, 1) / Math.max(1, Math.ceil(Math.sqrt(g.n / 4)));
  const columns = Math.floor((b.right - b.left) / side) + 1, rows = Math.floor((b.bottom - b.top) / side) + 1;
  const at = (x, y) => [Math.floor((x - b.left) / side), Math.floor((y - b.top) / side)];
  const keys = new Uint32Array(g.n);
  for (let v = 0; v < g.n; v++) {
    const [column, row] = at(g.x[v], g.y[v]);
    keys[v] = column + columns * row;
  }
  return { at, columns, rows, ...group(columns * rows, keys) };
}

// eachNear calls visit for every node whose square is within reach of a point.
function eachNear(grid, x, y, reach, visit) {
  const [left, top] = grid.at(x - reach, y - reach), [right, bottom] = grid.at(x + reach, y + reach);
  for (let row = Math.max(0, top); row <= Math.min(grid.rows - 1, bottom); row++) {
    for (let column = Math.max(0, left); column <= Math.min(grid.columns - 1, right); column++) {
      const key = column + grid.columns * row;
      for (let i = grid.first[key]; i < grid.first[key + 1]; i++) visit(grid.links[i]);
    }
  }
}
