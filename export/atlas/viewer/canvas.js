// Draws nodes and links on a plain canvas, if WebGL2 is not available.

function makeCanvas(canvas, g) {
  const p = { canvas, g, paper: canvas.getContext("2d", { alpha: false }), radius: null, colours: null, shares: null, strong: [] };
  return {
    name: "canvas",
    nodes: (radius, colours, shares) => Object.assign(p, { radius, colours, shares }),
    highlight: (list) => { p.strong = list; },
    draw: (camera, look) => drawCanvas(p, camera, look),
  };
}

function drawCanvas(p, c, look) {
  const { paper } = p;
  const width = Math.round(c.width * look.ratio), height = Math.round(c.height * look.ratio);
  if (p.canvas.width !== width || p.canvas.height !== height) Object.assign(p.canvas, { width, height });
  paper.setTransform(look.ratio, 0, 0, look.ratio, 0, 0);
  paper.globalAlpha = 1;
  paper.fillStyle = css(look.ground);
  paper.fillRect(0, 0, c.width, c.height);
  if (look.alpha > 0) drawFaint(p, c, look);
  for (const [u, v, colour] of p.strong) drawStrong(p, c, u, v, colour);
  drawNodes(p, c, look);
}

function css(colour) {
  return `rgb(${colour[0]},${colour[1]},${colour[2]})`;
}

// drawFaint strokes the links in one go for each colour and opacity.
function drawFaint({ paper, g, colours, shares }, c, look) {
  const bundles = new Map();
  for (let i = 0; i < Math.min(look.most, g.from.length); i++) {
    const at = 4 * g.from[i], opacity = shares[i] * Math.min(colours[at + 3], colours[4 * g.to[i] + 3]) / 255;
    if (!opacity) continue;
    const colour = css(colours.subarray(at, at + 3)), key = colour + opacity.toFixed(3);
    if (!bundles.has(key)) bundles.set(key, { colour, opacity, links: [] });
    bundles.get(key).links.push(i);
  }
  paper.lineWidth = 1 / look.ratio;
  for (const { colour, opacity, links } of bundles.values()) {
    paper.strokeStyle = colour;
    paper.globalAlpha = Math.min(1, look.alpha * opacity);
    paper.beginPath();
    for (const i of links) line(paper, c, g, g.from[i], g.to[i]);
    paper.stroke();
  }
}

// line adds a link to the path unless it is outside the view.
function line(paper, c, g, u, v) {
  const [ax, ay] = toScreen(c, g.x[u], g.y[u]), [bx, by] = toScreen(c, g.x[v], g.y[v]);
  if (Math.max(ax, bx) < 0 || Math.max(ay, by) < 0 || Math.min(ax, bx) > c.width || Math.min(ay, by) > c.height) return;
  paper.moveTo(ax, ay);
  paper.lineTo(bx, by);
}

function drawStrong({ paper, g }, c, u, v, colour) {
  paper.globalAlpha = 0.7;
  paper.strokeStyle = css(colour);
  paper.lineWidth = 1.4;
  paper.beginPath();
  line(paper, c, g, u, v);
  paper.stroke();
}

function drawNodes({ paper, g, radius, colours }, c, look) {
  paper.strokeStyle = css(look.ground);
  for (let v = 0; v < g.n; v++) {
    const [x, y] = toScreen(c, g.x[v], g.y[v]), r = pixels(c, radius[v]);
    if (!colours[4 * v + 3] || x < -r || y < -r || x > c.width + r || y > c.height + r) continue;
    paper.globalAlpha = colours[4 * v + 3] / 255;
    paper.fillStyle = css(colours.subarray(4 * v, 4 * v + 3));
    paper.beginPath();
    paper.arc(x, y, r, 0, 2 * Math.PI);
    paper.fill();
    if (r > 4) paper.stroke();
  }
}
