// The view in the address: x=..&y=..&z=..&node=..&colour=..&size=..&links=..&count=..&outside=..&theme=.., and the filters: &min-links=..&min-weight=..&max-depth=..&coverage=..&training=..
// The page reads and writes it: page.read returns what the address says, page.write
// takes what it is to say.

const choices = { colour: ["class", "coverage", "training", "community", "depth"], size: ["trust", "pagerank", "harmonic", "in", "out", "pages", "visited", "same"], links: ["all", "selected", "none"], count: ["text", "all"], outside: ["hidden", "shown"] };

// readView takes from the address what is there and valid, and returns whether that
// is a place to look at.
function readView(app) {
  app.hash = location.hash;
  const said = app.page.read();
  for (const [name, values] of Object.entries(choices)) {
    if (values.includes(said.get(name))) app[name] = said.get(name);
    document.getElementById(name).value = app[name];
  }
  if (app.raw.other && app.count !== app.g.counted || outsideWanted(app) !== Boolean(app.g.outside)) recount(app);
  for (const name of Object.keys(noFilters)) app.filters[name] = valid(app, name, said.get(name) || "");
  if (anyFilter(app) && innerWidth > 700) document.getElementById("filters").open = true;
  if (["dark", "light"].includes(said.get("theme"))) app.theme = said.get("theme");
  const node = said.has("node") ? app.g.names.indexOf(said.get("node")) : -1;
  app.selected = node;
  const [x, y, z] = ["x", "y", "z"].map((name) => said.has(name) ? Number(said.get(name)) : NaN);
  const there = Number.isFinite(x) && Number.isFinite(y) && z > 0 && Number.isFinite(z);
  Object.assign(app.camera, there ? { x, y, scale: bounded(app.camera, z), flight: null } : whole(app.camera));
  return there;
}

// keepView writes the view into the address, once the hand rests. The page says whether
// it does, and all is drawn as it stays.
function keepView(app) {
  delete document.documentElement.dataset.resting;
  clearTimeout(app.keeping);
  app.keeping = setTimeout(() => writeView(app), 200);
}

function writeView(app) {
  const c = app.camera.flight ? app.camera.flight.to : app.camera;
  const said = new URLSearchParams({ x: c.x.toFixed(2), y: c.y.toFixed(2), z: c.scale.toPrecision(4) });
  if (app.selected >= 0) said.set("node", app.g.names[app.selected]);
  for (const name of Object.keys(choices)) if (app[name] !== choices[name][0]) said.set(name, app[name]);
  for (const [name, value] of Object.entries(app.filters)) if (value) said.set(name, value);
  if (app.theme) said.set("theme", app.theme);
  try { app.page.write(said); } catch { /* some browsers refuse it on files */ }
  app.hash = location.hash;
  app.keeping = 0;
  tellRest(app);
}

function tellRest(app) {
  if (!app.keeping && !app.waiting && !app.camera.flight) document.documentElement.dataset.resting = "";
}
