// The meaning of the colours.

const hues = [
  ["#3f6fd8", "#7ba4ff"], ["#e0762a", "#ffa866"], ["#1f9a6b", "#56d6a4"], ["#c93f63", "#ff87a3"], ["#7d52c1", "#b894f5"], ["#1d93b5", "#63cdea"],
  ["#b0881a", "#e9c555"], ["#b4489f", "#ec8fd8"], ["#6b8f1d", "#b2d65a"], ["#9a6240", "#d3a07c"], ["#4f5fb0", "#97a3ec"], ["#c25a3c", "#f29a7f"],
];
const depths = [["#7a1f5c", "#ffe08a"], ["#b5375f", "#ffab6b"], ["#dd6a4a", "#f2768a"], ["#e0a03a", "#bb6bd0"], ["#9fb83f", "#7f7ae0"], ["#4aa58c", "#5f93d8"]];
const coverColours = {
  "complete": ["#1f9a6b", "#56d6a4"], "complete but for rules": ["#3c9f72", "#72d0a6"], "complete to max-depth": ["#5fae86", "#8fe0bd"], "not visited": ["#9aa1ab", "#727b88"], "listed": ["#c98a12", "#f2bd4d"], "outside": ["#7c7a89", "#a3a1b2"],
};
const stanceColours = {
  "refused": ["#c8433f", "#ff7d76"], "permitted": ["#1f9a6b", "#56d6a4"], "other preferences": ["#c98a12", "#f2bd4d"], "no preference": ["#9aa1ab", "#727b88"],
  "outside": ["#7c7a89", "#a3a1b2"],
};
const cutColours = [
  ["#c8433f", "#ff7d76"], ["#7d52c1", "#b894f5"], ["#3f6fd8", "#7ba4ff"], ["#b4489f", "#ec8fd8"], ["#1d93b5", "#63cdea"],
  ["#9a6240", "#d3a07c"], ["#6b8f1d", "#b2d65a"], ["#4f5fb0", "#97a3ec"], ["#c25a3c", "#f29a7f"],
];
const plain = ["#8b929c", "#7d8694"];

// groupsOf returns the groups of a colouring, the largest first for communities,
// with label, colour for the theme and number of members that are kept, and the group of every node.
function groupsOf(g, colouring, dark, kept) {
  const of = new Int32Array(g.n);
  const groups = { class: classGroups, coverage: coverGroups, training: stanceGroups, community: communityGroups, depth: depthGroups }[colouring](g, of, dark ? 1 : 0);
  for (const group of groups) group.count = 0;
  for (let v = 0; v < g.n; v++) if (!kept || kept[v]) groups[of[v]].count++;
  return { of, groups };
}

function classGroups(g, of, theme) {
  const colours = g.palette.map((shade) => [shade.light, shade.dark]), known = g.palette.map((shade) => shade.class);
  const rank = (label) => known.includes(label) ? known.indexOf(label) : known.length;
  const order = g.classes.map((label, i) => i).sort((a, b) => rank(g.classes[a]) - rank(g.classes[b]) || a - b);
  for (let v = 0; v < g.n; v++) of[v] = order.indexOf(g.class[v]);
  return order.map((i) => ({ label: g.classes[i], colour: (colours[rank(g.classes[i])] || hues[i % hues.length])[theme] }));
}

// coverGroups puts complete hosts first and those left out on purpose last. Between them are the
// reasons why hosts were cut, the most frequent first.
function coverGroups(g, of, theme) {
  const count = g.covers.map(() => 0);
  for (const c of g.cover) count[c]++;
  const rank = (label) => label.startsWith("complete") ? 0 : label in coverColours ? 2 : 1;
  const order = g.covers.map((label, i) => i)
    .sort((a, b) => rank(g.covers[a]) - rank(g.covers[b]) || count[b] - count[a] || a - b);
  const place = new Map(order.map((cover, i) => [cover, i]));
  for (let v = 0; v < g.n; v++) of[v] = place.get(g.cover[v]);
  let cut = 0;
  return order.map((i) => {
    const label = g.covers[i], colour = coverColours[label] || cutColours[cut++ % cutColours.length];
    return { label, colour: colour[theme] };
  });
}

// stanceGroups puts a refusal first and silence last.
function stanceGroups(g, of, theme) {
  const known = Object.keys(stanceColours).filter((label) => g.stances.includes(label));
  for (let v = 0; v < g.n; v++) of[v] = known.indexOf(g.stances[g.stance[v]]);
  return known.map((label) => ({ label, colour: stanceColours[label][theme] }));
}

// communities returns by community the number of its nodes, and the greatest of them, after which it is named.
function communities(g) {
  const count = new Map(), head = new Map();
  for (let v = 0; v < g.n; v++) {
    const c = g.community[v];
    count.set(c, (count.get(c) || 0) + 1);
    if (!head.has(c) || g.trust[v] > g.trust[head.get(c)]) head.set(c, v);
  }
  return { count, head };
}

// communityGroups leaves the small communities together.
function communityGroups(g, of, theme) {
  const { count, head } = communities(g);
  const large = [...count.keys()].filter((c) => count.get(c) > 1).sort((a, b) => count.get(b) - count.get(a) || a - b).slice(0, 3 * hues.length);
  const place = new Map(large.map((c, i) => [c, i]));
  for (let v = 0; v < g.n; v++) of[v] = place.has(g.community[v]) ? place.get(g.community[v]) : large.length;
  const groups = large.map((c, i) => ({ label: isOutside(g, head.get(c)) ? "outside" : g.labels[head.get(c)], colour: shade(hues[i % hues.length][theme], Math.floor(i / hues.length), theme) }));
  if (place.size < count.size) groups.push({ label: "smaller communities", colour: plain[theme] });
  return groups;
}

// shade mixes a colour with grey, more for each round through the hues.
function shade(colour, round, theme) {
  const grey = parts(plain[theme]), share = [0, 0.38, 0.62][round];
  return "#" + parts(colour).map((part, i) => Math.round(part + (grey[i] - part) * share).toString(16).padStart(2, "0")).join("");
}

function depthGroups(g, of, theme) {
  const known = [...new Set(g.depth)].filter((d) => d >= 0).sort((a, b) => a - b).slice(0, 40);
  const place = new Map(known.map((d, i) => [d, i]));
  const groups = known.map((d) => ({ label: d === 0 ? "0, an origin" : "" + d, colour: depths[Math.min(d, depths.length - 1)][theme] }));
  let rest = false;
  for (let v = 0; v < g.n; v++) {
    of[v] = place.has(g.depth[v]) ? place.get(g.depth[v]) : known.length;
    rest = rest || of[v] === known.length;
  }
  if (rest) groups.push({ label: "unknown", colour: plain[theme] });
  return groups;
}

// parts splits "#rrggbb" into numbers.
function parts(colour) {
  return [1, 3, 5].map((i) => parseInt(colour.slice(i, i + 2), 16));
}

// paint gives every node red, green, blue and opacity. Those that are not lit step back, those that are not kept
// are not seen.
function paint(g, { of, groups }, lit, kept) {
  const colours = new Uint8Array(4 * g.n);
  const palette = groups.map((group) => parts(group.colour));
  for (let v = 0; v < g.n; v++) {
    colours.set(palette[of[v]], 4 * v);
    colours[4 * v + 3] = lit(v) ? 255 : kept[v] ? 45 : 0;
  }
  return colours;
}
