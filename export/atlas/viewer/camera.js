// The camera: the centre of the view in units of the layout, and its scale in pixels per unit.

function makeCamera(g) {
  const free = { left: 0, top: 0, right: 1, bottom: 1 };
  return { x: 0, y: 0, scale: 1, width: 1, height: 1, least: 0.001, most: 200, box: bounds(g), free, flight: null };
}

// freeArea returns the part of the view that no card covers and that shows a box largest, in pixels: between
// the cards on a wide screen, below and above them on a narrow one.
function freeArea(width, height, cards, box) {
  const best = (free, [card, ...rest]) => {
    if (!card) return free;
    if (card.left >= free.right || card.right <= free.left || card.top >= free.bottom || card.bottom <= free.top) return best(free, rest);
    return [{ left: card.right + 16 }, { right: card.left - 16 }, { top: card.bottom + 12 }, { bottom: card.top - 12 }]
      .map((side) => best({ ...free, ...side }, rest)).reduce((a, b) => fitting(b, box) > fitting(a, box) ? b : a);
  };
  const free = best({ left: 16, top: 16, right: width - 16, bottom: height - 16 }, cards);
  if (free.right - free.left < 80) Object.assign(free, { left: 16, right: width - 16 });
  if (free.bottom - free.top < 80) Object.assign(free, { top: 16, bottom: height - 16 });
  return free;
}

// centred returns the place to look at for (x, y) to lie in the middle of the free area.
function centred(c, x, y, scale) {
  const { left, right, top, bottom } = c.free;
  return { x: x - ((left + right) / 2 - c.width / 2) / scale, y: y - ((top + bottom) / 2 - c.height / 2) / scale, scale };
}

// shifted returns the nearest view that has (x, y) in the free area, or null if it
// lies there already.
function shifted(c, x, y) {
  const look = c.flight ? c.flight.to : c, { left, right, top, bottom } = c.free, margin = 24;
  const px = (x - look.x) * look.scale + c.width / 2, py = (y - look.y) * look.scale + c.height / 2;
  const dx = Math.min(Math.max(px, left + margin), right - margin) - px;
  const dy = Math.min(Math.max(py, top + margin), bottom - margin) - py;
  return dx || dy ? { x: look.x - dx / look.scale, y: look.y - dy / look.scale, scale: look.scale } : null;
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

// whole returns the view that shows everything in the free area, with room for names.
function whole(c) {
  return centred(c, (c.box.left + c.box.right) / 2, (c.box.top + c.box.bottom) / 2, bounded(c, Math.min(fitting(c.free, c.box), 24)));
}

// fitting returns the scale at which a box fits into an area, with room for names.
function fitting({ left, right, top, bottom }, box) {
  const names = right - left > 600 ? 60 : 24, width = Math.max(right - left - 2 * names, 1), height = Math.max(bottom - top - 40, 1);
  return Math.min(width / Math.max(box.right - box.left, 20), height / Math.max(box.bottom - box.top, 20));
}

function bounded(c, scale) {
  return Math.min(Math.max(scale, c.least), c.most);
}

// zoom changes the scale around a point of the screen, which does not move.
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

// advance moves on, and returns whether the flight continues.
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
