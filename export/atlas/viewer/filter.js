// Filters: nodes and links that do not match them are not drawn.

const amounts = { "min-links": /^[1-9][0-9]{0,8}$/, "min-weight": /^[1-9][0-9]{0,8}$/, "max-depth": /^[0-9]{1,9}$/ };
const noFilters = { "min-links": "", "min-weight": "", "max-depth": "", coverage: "", training: "" };
const wordings = { coverage: "covers", training: "stances" }; // filters by a word, with the lists of words in the graph

// filtering returns which nodes are kept, and how strongly each link is drawn: 0 for one that is not, else the more the
// greater its weight.
function filtering(g, filters) {
  const links = Number(filters["min-links"]), weight = Number(filters["min-weight"]), depth = filters["max-depth"];
  const cover = filters.coverage && g.covers.indexOf(filters.coverage);
  const stance = filters.training && g.stances.indexOf(filters.training);
  const kept = new Uint8Array(g.n), shares = new Float32Array(g.from.length);
  for (let v = 0; v < g.n; v++) {
    kept[v] = g.in[v] + g.out[v] >= links && (depth === "" || g.depth[v] >= 0 && g.depth[v] <= Number(depth))
      && (cover === "" || g.cover[v] === cover) && (stance === "" || g.stance[v] === stance) ? 1 : 0;
  }
  let most = 1;
  for (const w of g.weight) most = Math.max(most, w);
  for (let i = 0; i < shares.length; i++) {
    if (g.weight[i] < weight || !kept[g.from[i]] || !kept[g.to[i]]) continue;
    shares[i] = Math.round(5 * (0.4 + 0.6 * Math.log2(1 + g.weight[i]) / Math.log2(1 + most))) / 5;
  }
  return { kept, shares };
}

function anyFilter(app) { return Object.values(app.filters).some(Boolean); }

function setFilters(app, changes) {
  Object.assign(app.filters, changes);
  app.labels.spots.clear();
  restyle(app);
}

// showFilters fills the fields, and says how much is left.
function showFilters(app) {
  const { g, filters, kept } = app;
  for (const [name, list] of Object.entries(wordings)) offer(document.getElementById(name), [...g[list]].sort());
  for (const [name, value] of Object.entries(filters)) if (document.getElementById(name).value !== value) document.getElementById(name).value = value;
  const some = anyFilter(app);
  document.getElementById("kept").textContent = some ? count(kept.reduce((a, b) => a + b, 0)) + " of " + count(g.n) : "";
  document.getElementById("unfilter").hidden = !some;
}

// offer fills a field with words to choose from, if these are not its words already.
function offer(field, words) {
  const listed = [...field.options].slice(1).map((option) => option.value);
  if (words.join("\n") === listed.join("\n") && field.options.length) return;
  field.replaceChildren(make("option", { value: "" }, "any"), ...words.map((word) => make("option", { value: word }, word)));
}

// valid returns a filter as the address or a field has it, or nothing if it cannot be one.
function valid(app, name, value) {
  return (name in amounts ? amounts[name].test(value) : app.g[wordings[name]].includes(value)) ? value : "";
}
