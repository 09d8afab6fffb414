// Marked nodes: with the shift key or x, to decide on several hosts together.

const verdicts = ["quality", "stub", "blacklist", "later"];
const namedMarks = 4; // names of marked nodes that are listed

function toggleMark(app, v) {
  if (v < 0) return;
  if (!app.marked.delete(v)) app.marked.add(v);
  marksChanged(app);
}

// markWithin marks what stands out in a rectangle of the screen.
function markWithin(app, { left, top, right, bottom }) {
  for (let v = 0; v < app.g.n; v++) {
    const [x, y] = toScreen(app.camera, app.g.x[v], app.g.y[v]);
    if (x >= left && x <= right && y >= top && y <= bottom && app.lit(v)) app.marked.add(v);
  }
  marksChanged(app);
}

function clearMarks(app) {
  app.marked.clear();
  marksChanged(app);
}

// marksChanged takes back what was computed for other marks.
function marksChanged(app) {
  document.getElementById("verdict").replaceChildren();
  showMarked(app);
  measure(app);
  redraw(app);
}

// showMarked shows how many nodes are marked, and what can be done with them.
function showMarked(app) {
  const { g, marked } = app, names = [...marked].map((v) => g.names[v]), card = document.getElementById("marked");
  const held = card.contains(document.activeElement) && document.activeElement.textContent;
  const button = (text, act) => {
    const made = make("button", { type: "button", class: "all" }, text);
    made.addEventListener("click", () => act(made));
    return made;
  };
  card.hidden = !marked.size;
  document.getElementById("marked-count").textContent = marked.size ? count(marked.size) + " marked" : "";
  const some = [...marked].slice(0, namedMarks).map((v) => g.labels[v]).join(", ");
  document.getElementById("marked-names").textContent = some + (marked.size > namedMarks ? ", …" : "");
  const buttons = [button("copy names", (made) => copyText(made, names.join("\n") + "\n")), button("clear", () => clearMarks(app))];
  if (g.level === "host") buttons.unshift(...verdicts.map((verdict) => button(verdict, () => decideMarked(app, verdict))));
  document.getElementById("verdicts").replaceChildren(...buttons);
  const again = buttons.find((one) => one.textContent === held);
  if (again) again.focus();
  const own = document.querySelector("#panel .mark");
  if (own) own.setAttribute("aria-pressed", String(marked.has(app.selected)));
}

// decideMarked leaves a decision to the page, if it can decide. Otherwise it shows the entries to copy.
function decideMarked(app, verdict) {
  const hosts = [...app.marked].map((v) => app.g.names[v]).sort(), place = document.getElementById("verdict");
  if (app.page.decide) return app.page.decide(place, hosts.map((host) => ({ host, class: verdict })));
  const text = hosts.map((host) => `[[decision]]\nhost = ${JSON.stringify(host)}\nclass = "${verdict}"\n`).join("\n");
  const listing = make("pre", { tabindex: "0" }, text), copy = make("button", { type: "button", class: "all" }, "copy entries");
  copy.addEventListener("click", () => copyText(copy, text, listing));
  place.replaceChildren(make("p", {}, "Save them to a file and run ", make("code", {}, "ripple decide --from FILE"), "."), listing, copy);
  measure(app);
  redraw(app);
}

// copyText copies a text. Where the browser does not allow it, the listing is selected instead.
async function copyText(button, text, listing) {
  const name = button.textContent;
  try {
    await navigator.clipboard.writeText(text);
    button.textContent = "copied";
  } catch {
    if (listing) getSelection().selectAllChildren(listing);
    button.textContent = listing ? "selected: press Ctrl+C" : "the browser does not allow it";
  }
  setTimeout(() => { button.textContent = name; }, 2000);
}
