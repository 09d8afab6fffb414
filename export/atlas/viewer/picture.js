// Saves what is seen as a picture of points or of shapes, without the cards: names may lie where they are.

function savePicture(shown, format) {
  const app = { ...shown, cards: [] };
  if (format === "svg") return saveFile(new Blob([drawSVG(app)], { type: "image/svg+xml" }), "ripple-map.svg");
  app.painter.draw(app.camera, lookOf(app, false)); // WebGL keeps its picture only until the browser has shown it
  drawLabels(app);
  const both = make("canvas", { width: app.canvas.width, height: app.canvas.height }), paper = both.getContext("2d");
  for (const layer of [app.canvas, app.labels.canvas]) paper.drawImage(layer, 0, 0);
  redraw(shown);
  both.toBlob((blob) => saveFile(blob, "ripple-map.png"), "image/png");
}

function saveFile(blob, name) {
  const url = URL.createObjectURL(blob);
  make("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 10000);
}

// drawSVG draws both layers on a paper that keeps the shapes.
function drawSVG(app) {
  const { g, camera, radius, colours, shares, strong } = app, root = svgElement("svg", { viewBox: `0 0 ${camera.width} ${camera.height}`,
    width: camera.width, height: camera.height }), paper = svgPaper(root, app.labels.paper);
  root.append(svgElement("title", {}, document.title));
  drawCanvas({ canvas: {}, g, paper, radius, colours, shares, strong }, camera, { ...lookOf(app, false), ratio: 1 });
  drawLabels({ ...app, ratio: 1, labels: { ...app.labels, canvas: { dataset: {} }, paper, taken: new Map() } });
  return new XMLSerializer().serializeToString(root);
}

function svgElement(tag, attributes, text = "") {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, typeof value === "number" ? +value.toFixed(2) : value);
  element.append(text);
  return element;
}

// svgPaper returns what the viewer uses of a canvas context. It appends shapes to root; screen measures texts.
function svgPaper(root, screen) {
  let path = "";
  const put = (tag, attributes, text) => root.append(svgElement(tag, attributes, text));
  const at = (...numbers) => numbers.map((number) => +number.toFixed(2)).join(" ");
  const box = (x, y, width, height) => ({ x, y, width, height });
  const filled = () => ({ fill: paper.fillStyle, "fill-opacity": paper.globalAlpha });
  const stroked = () => ({ fill: "none", stroke: paper.strokeStyle, "stroke-opacity": paper.globalAlpha, "stroke-width": paper.lineWidth });
  const letters = (x, y) => {
    const [weight, size, ...family] = paper.font.split(" ");
    return { x, y, dy: "0.35em", "font-weight": weight, "font-size": size, "font-family": family.join(" "), "stroke-linejoin": "round" };
  };
  const paper = {
    font: "", fillStyle: "", strokeStyle: "", globalAlpha: 1, lineWidth: 1, setTransform() {}, clearRect() {},
    measureText(text) { screen.font = paper.font; return screen.measureText(text); },
    beginPath() { path = ""; },
    moveTo(x, y) { path += "M" + at(x, y); },
    lineTo(x, y) { path += "L" + at(x, y); },
    arc(x, y, r) { path += `M${at(x - r, y)}a${at(r, r)} 0 1 0 ${at(2 * r, 0)}a${at(r, r)} 0 1 0 ${at(-2 * r, 0)}`; },
    stroke() { if (path) put("path", { d: path, ...stroked() }); },
    fill() { if (path) put("path", { d: path, ...filled() }); },
    fillRect(...sides) { put("rect", { ...box(...sides), ...filled() }); },
    strokeRect(...sides) { put("rect", { ...box(...sides), ...stroked() }); },
    fillText(text, x, y) { put("text", { ...letters(x, y), ...filled() }, text); },
    strokeText(text, x, y) { put("text", { ...letters(x, y), ...stroked() }, text); },
  };
  return paper;
}
