// Draws nodes and links with WebGL2.

const nodeVertex = `#version 300 es
layout(location=0) in vec2 corner; layout(location=1) in vec2 place; layout(location=2) in float radius; layout(location=3) in vec4 tint;
uniform vec2 middle, view; uniform float scale, grow, ratio;
out vec2 at; out vec4 colour; out float size;
void main() {
  size = max(radius * grow, 1.1 + .22 * radius) * ratio + 1.;
  at = corner * size;
  colour = tint;
  vec2 p = (place - middle) * scale * ratio + at;
  gl_Position = vec4(p / view * vec2(2., -2.), 0., 1.);
}`;
const nodeFragment = `#version 300 es
precision highp float;
in vec2 at; in vec4 colour; in float size; uniform vec3 ground; uniform float ratio; out vec4 pixel;
void main() {
  float edge = size - 1. - length(at);
  float rim = size > 5. * ratio ? smoothstep(.4, 1.4, edge / ratio) : 1.;
  float cover = clamp(edge + .5, 0., 1.) * colour.a;
  pixel = vec4(mix(ground, colour.rgb, rim) * cover, cover);
}`;
const faintVertex = `#version 300 es
layout(location=0) in vec2 place; layout(location=1) in vec4 tint;
uniform vec2 middle, view; uniform float scale, ratio, alpha; out vec4 colour;
void main() {
  colour = vec4(tint.rgb, 1.) * tint.a * alpha;
  gl_Position = vec4((place - middle) * scale * ratio / view * vec2(2., -2.), 0., 1.);
}`;
const flatFragment = `#version 300 es
precision mediump float; in vec4 colour; out vec4 pixel; void main() { pixel = colour; }`;
const strongVertex = `#version 300 es
layout(location=0) in vec2 corner; layout(location=1) in vec4 ends; layout(location=2) in vec4 tint;
uniform vec2 middle, view; uniform float scale, ratio; out vec4 colour;
void main() {
  vec2 a = (ends.xy - middle) * scale * ratio, b = (ends.zw - middle) * scale * ratio;
  vec2 along = b - a; float far = max(length(along), 1e-3);
  float t = corner.x * .5 + .5, width = mix(2.2, .6, t) * ratio;
  vec2 p = mix(a, b, t) + vec2(-along.y, along.x) / far * corner.y * width * .5;
  colour = vec4(tint.rgb, 1.) * tint.a;
  gl_Position = vec4(p / view * vec2(2., -2.), 0., 1.);
}`;

// makeWebGL returns a painter, or null if WebGL2 is not available.
function makeWebGL(canvas, g) {
  const gl = canvas.getContext("webgl2", { antialias: true, premultipliedAlpha: true, alpha: false });
  if (!gl) return null;
  const programs = { node: link(gl, nodeVertex, nodeFragment), faint: link(gl, faintVertex, flatFragment), strong: link(gl, strongVertex, flatFragment) };
  if (!programs.node || !programs.faint || !programs.strong) return null;
  const p = { gl, g, programs, canvas, strong: 0, name: "webgl" };
  makeBuffers(p);
  gl.enable(gl.BLEND);
  gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
  return {
    name: "webgl",
    nodes: (radius, colours, shares) => fillNodes(p, radius, colours, shares),
    highlight: (list) => fillStrong(p, list),
    draw: (camera, look) => drawWebGL(p, camera, look),
  };
}

function link(gl, vertex, fragment) {
  const program = gl.createProgram();
  for (const [type, source] of [[gl.VERTEX_SHADER, vertex], [gl.FRAGMENT_SHADER, fragment]]) {
    const shader = gl.createShader(type);
    gl.shaderSource(shader, source);
    gl.compileShader(shader);
    gl.attachShader(program, shader);
  }
  gl.linkProgram(program);
  return gl.getProgramParameter(program, gl.LINK_STATUS) ? program : null;
}

function makeBuffers(p) {
  const { gl, g } = p;
  const corners = buffer(gl, new Float32Array([-1, -1, 1, -1, -1, 1, 1, 1]));
  p.radius = buffer(gl, new Float32Array(g.n));
  p.tint = buffer(gl, new Uint8Array(4 * g.n));
  p.ends = buffer(gl, new Float32Array(4));
  p.endTint = buffer(gl, new Uint8Array(4));
  p.faintTint = buffer(gl, new Uint8Array(8 * g.from.length));
  const places = new Float32Array(2 * g.n), lines = new Float32Array(4 * g.from.length);
  for (let v = 0; v < g.n; v++) places.set([g.x[v], g.y[v]], 2 * v);
  for (let i = 0; i < g.from.length; i++) lines.set([g.x[g.from[i]], g.y[g.from[i]], g.x[g.to[i]], g.y[g.to[i]]], 4 * i);
  p.nodeArrays = arrays(gl, [[corners, 2, gl.FLOAT, 0], [buffer(gl, places), 2, gl.FLOAT, 1], [p.radius, 1, gl.FLOAT, 1], [p.tint, 4, gl.UNSIGNED_BYTE, 1]]);
  p.faintArrays = arrays(gl, [[buffer(gl, lines), 2, gl.FLOAT, 0], [p.faintTint, 4, gl.UNSIGNED_BYTE, 0]]);
  p.strongArrays = arrays(gl, [[corners, 2, gl.FLOAT, 0], [p.ends, 4, gl.FLOAT, 1], [p.endTint, 4, gl.UNSIGNED_BYTE, 1]]);
}

function buffer(gl, data) {
  const b = gl.createBuffer();
  gl.bindBuffer(gl.ARRAY_BUFFER, b);
  gl.bufferData(gl.ARRAY_BUFFER, data, gl.DYNAMIC_DRAW);
  return b;
}

function refill(gl, b, data) {
  gl.bindBuffer(gl.ARRAY_BUFFER, b);
  gl.bufferData(gl.ARRAY_BUFFER, data, gl.DYNAMIC_DRAW);
}

// arrays binds [buffer, numbers, type, divisor] to the locations 0, 1, ...
function arrays(gl, list) {
  const all = gl.createVertexArray();
  gl.bindVertexArray(all);
  list.forEach(([b, numbers, type, divisor], location) => {
    gl.bindBuffer(gl.ARRAY_BUFFER, b);
    gl.enableVertexAttribArray(location);
    gl.vertexAttribPointer(location, numbers, type, type === gl.UNSIGNED_BYTE, 0, 0);
    gl.vertexAttribDivisor(location, divisor);
  });
  gl.bindVertexArray(null);
  return all;
}

function fillNodes(p, radius, colours, shares) {
  const { gl, g } = p;
  refill(gl, p.radius, radius);
  refill(gl, p.tint, colours);
  const tints = new Uint8Array(8 * g.from.length);
  for (let i = 0; i < g.from.length; i++) {
    const at = 4 * g.from[i], opacity = shares[i] * Math.min(colours[at + 3], colours[4 * g.to[i] + 3]);
    for (const end of [8 * i, 8 * i + 4]) {
      for (let k = 0; k < 3; k++) tints[end + k] = colours[at + k];
      tints[end + 3] = opacity;
    }
  }
  refill(gl, p.faintTint, tints);
}

// fillStrong takes [from, to, [red, green, blue]] for each link to stress.
function fillStrong(p, list) {
  const { gl, g } = p;
  const ends = new Float32Array(4 * list.length), tints = new Uint8Array(4 * list.length);
  list.forEach(([u, v, colour], i) => {
    ends.set([g.x[u], g.y[u], g.x[v], g.y[v]], 4 * i);
    tints.set([...colour, list.length > 400 ? 110 : 190], 4 * i);
  });
  refill(gl, p.ends, ends);
  refill(gl, p.endTint, tints);
  p.strong = list.length;
}

function drawWebGL(p, c, look) {
  const { gl, g } = p;
  const width = Math.round(c.width * look.ratio), height = Math.round(c.height * look.ratio);
  if (p.canvas.width !== width || p.canvas.height !== height) Object.assign(p.canvas, { width, height });
  gl.viewport(0, 0, width, height);
  gl.clearColor(...look.ground.map((part) => part / 255), 1);
  gl.clear(gl.COLOR_BUFFER_BIT);
  if (look.alpha > 0) {
    begin(p, p.programs.faint, c, look);
    gl.bindVertexArray(p.faintArrays);
    gl.drawArrays(gl.LINES, 0, 2 * Math.min(look.most, g.from.length));
  }
  if (p.strong) {
    begin(p, p.programs.strong, c, look);
    gl.bindVertexArray(p.strongArrays);
    gl.drawArraysInstanced(gl.TRIANGLE_STRIP, 0, 4, p.strong);
  }
  begin(p, p.programs.node, c, look);
  gl.bindVertexArray(p.nodeArrays);
  gl.drawArraysInstanced(gl.TRIANGLE_STRIP, 0, 4, g.n);
}

function begin({ gl, canvas }, program, c, look) {
  const at = (name) => gl.getUniformLocation(program, name);
  gl.useProgram(program);
  gl.uniform2f(at("middle"), c.x, c.y);
  gl.uniform2f(at("view"), canvas.width, canvas.height);
  gl.uniform1f(at("scale"), c.scale);
  gl.uniform1f(at("grow"), nodeScale(c));
  gl.uniform1f(at("ratio"), look.ratio);
  gl.uniform1f(at("alpha"), look.alpha);
  gl.uniform3f(at("ground"), ...look.ground.map((part) => part / 255));
}
