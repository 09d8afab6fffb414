// The layer of hosts outside the terrain that link to it, by a web graph: nodes of their own around all others.

const outsideShade = { class: "outside", light: "#7c7a89", dark: "#a3a1b2" };

// addOutside appends the hosts of a layer to the nodes of a graph, in rings around them, and their links to its links.
function addOutside(g, layer) {
  const first = g.n, extra = layer.names.length, shown = layer.shown || {};
  const from = decode(layer.from, Uint32Array), to = decode(layer.to, Uint32Array), links = new Uint32Array(extra);
  for (const i of from) links[i]++;
  g.outside = { first, community: g.community.reduce((a, b) => Math.max(a, b), 0) + 1, release: layer.release,
    harmonic: decode(layer.harmonic_rank, Uint32Array), pagerank: decode(layer.pagerank_rank, Uint32Array) };
  Object.assign(g, { n: first + extra, palette: [...g.palette, outsideShade], names: [...g.names, ...layer.names],
    shown: [...g.shown, ...layer.names.map((name, i) => shown[i] || name)] });
  for (const name of ["titles", "reasons"]) g[name] = [...g[name], ...layer.names.map(() => "")];
  for (const name of ["busiest", "figures"]) g[name] = [...g[name], ...layer.names.map(() => [])];
  const grow = (name, value) => {
    const all = new g[name].constructor(first + extra);
    all.set(g[name]);
    for (let i = 0; i < extra; i++) all[first + i] = value(i);
    g[name] = all;
  };
  const word = (list) => { g[list] = [...g[list], "outside"]; return g[list].length - 1; };
  for (const [name, value] of [["class", word("classes")], ["cover", word("covers")], ["stance", word("stances")], ["depth", -1],
    ["community", g.outside.community], ["trust", 0], ["pagerank", 0], ["harmonic", 0], ["in", 0], ["pages", 0],
    ["visited", 0]]) grow(name, () => value);
  grow("out", (i) => links[i]);
  const rim = g.x.reduce((far, x, v) => Math.max(far, Math.hypot(x, g.y[v])), 0) + 16, ring = (i) => Math.sqrt(rim * rim + 24 * i);
  grow("x", (i) => ring(i) * Math.cos(2.39996 * i));
  grow("y", (i) => ring(i) * Math.sin(2.39996 * i));
  g.from = joined(g.from, from.map((i) => first + i));
  g.to = joined(g.to, to);
  g.weight = joined(g.weight, new Uint32Array(from.length).fill(1));
  const listed = extra < layer.all ? `the first ${count(extra)} of ${count(layer.all)} hosts` : `${count(extra)} host${extra === 1 ? "" : "s"}`;
  g.counts += `; ${listed} outside, by the web graph ${layer.release}`;
}

function joined(a, b) {
  const all = new a.constructor(a.length + b.length);
  all.set(a);
  all.set(b, a.length);
  return all;
}

function isOutside(g, v) { return Boolean(g.outside) && v >= g.outside.first; }

// outsideFacts lists what is known of a host outside: the web graph says no more.
function outsideFacts(g, v) {
  const list = make("dl", {}), { first, release, harmonic, pagerank } = g.outside;
  const add = (name, value) => list.append(make("dt", {}, name), make("dd", {}, value));
  const rank = (n) => (n ? "no. " + count(n) : "unknown");
  add("links out", count(g.out[v]));
  add("harmonic rank", rank(harmonic[v - first]));
  add("PageRank rank", rank(pagerank[v - first]));
  add("web graph", release);
  return list;
}

// outsideWanted reports whether the layer is to be shown, and exists.
function outsideWanted(app) { return app.outside === "shown" && Boolean(app.raw.outside); }
