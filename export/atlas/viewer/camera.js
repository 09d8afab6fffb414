// Where we look: the middle of the view in units of the layout and pixels a unit.

function makeCamera(g) {
  return { x: 0, y: 0, scale: 1, width: 1, height: 1, least: 0.001, most: 200, box: bounds(g), flight: null };
}

function toScreen(c, x, y) {
  return [(x - c.x) * c.scale + c.width / 2, (y - c.y) * c.scale + c.height / 2];
}

function toWorld(c, px, py) {
  return [(px - c.width / 2) / c.scale + c.x, (py - c.height / 2) / c.scale + c.y];
}

// nodeScale turns a radius of the layout into pixels: slower than distances grow,
// so that zooming in opens room.
function nodeScale(c) {
  return c.scale > 1 ? c.scale ** 0.6 : c.scale;
}

// pixels returns the radius of a node on the screen, never too small to see.
function pixels(c, radius) {
  return Math.max(radius * nodeScale(c), 1.1 + 0.22 * radius);
}

// whole returns the view that shows everything beside the cards.
function whole(c) {
  const wide = c.width > 900;
  const left = wide ? 310 : 20, right = wide ? 120 : 20, top = wide ? 40 : 150, bottom = wide ? 40 : 200;
  const width = Math.max(c.width - left - right, 100), height = Math.max(c.height - top - bottom, 100);
  const scale = Math.min(width / Math.max(c.box.right - c.box.left, 20), height / Math.max(c.box.bottom - c.box.top, 20), 24);
  return {
    x: (c.box.left + c.box.right) / 2 + (right - left) / 2 / scale,
    y: (c.box.top + c.box.bottom) / 2 + (bottom - top) / 2 / scale,
    scale: bounded(c, scale),
  };
}

function bounded(c, scale) {
  return Math.min(Math.max(scale, c.least), c.most);
}

// zoom changes the scale around a point of the screen, which stays where it is.
function zoom(c, factor, px, py) {
  const [x, y] = toWorld(c, px, py);
  c.flight = null;
  c.scale = bounded(c, c.scale * factor);
  c.x = x - (px - c.width / 2) / c.scale;
  c.y = y - (py - c.height / 2) / c.scale;
}

function pan(c, dx, dy) {
  c.flight = null;
  c.x -= dx / c.scale;
  c.y -= dy / c.scale;
}

// fly starts a move to another view; advance carries it on.
function fly(c, to) {
  if (matchMedia("(prefers-reduced-motion: reduce)").matches) Object.assign(c, to);
  else c.flight = { from: { x: c.x, y: c.y, scale: c.scale }, to: { x: c.x, y: c.y, scale: c.scale, ...to }, begin: performance.now() };
}

// advance returns whether the flight goes on.
function advance(c, now) {
  if (!c.flight) return false;
  const { from, to, begin } = c.flight;
  const t = Math.min(Math.max((now - begin) / 450, 0), 1), eased = 1 - (1 - t) ** 3;
  c.scale = from.scale * (to.scale / from.scale) ** eased;
  c.x = from.x + (to.x - from.x) * eased;
  c.y = from.y + (to.y - from.y) * eased;
  if (t === 1) c.flight = null;
  return t < 1;
}
