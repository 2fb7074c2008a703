// Roads by WebGL 2: each edge is a thin rectangle, drawn as an instance with the values of its two ends. Edges are sorted
// into rows of cells, so that only the rows and columns in view are drawn.

const CELLS = 24;

function sortedEdges(map) {
  const cell = (node, side) => {
    const part = (map.places[2 * node + side] + map.size[side] / 2) / map.size[side];
    return Math.min(CELLS - 1, Math.max(0, Math.floor(part * CELLS)));
  };
  const cells = new Uint16Array(map.edges);
  const starts = new Uint32Array(CELLS * CELLS + 1);
  for (let i = 0; i < map.edges; i++) {
    cells[i] = CELLS * cell(map.ends[2 * i], 1) + cell(map.ends[2 * i], 0);
    starts[cells[i] + 1]++;
  }
  for (let i = 0; i < CELLS * CELLS; i++) starts[i + 1] += starts[i];
  const next = starts.slice();
  const order = new Uint32Array(map.edges);
  for (let i = 0; i < map.edges; i++) order[next[cells[i]]++] = i;
  let reach = 0; // how far an edge goes beyond its cell
  for (let i = 0; i < map.edges; i++) {
    const [a, b] = [2 * map.ends[2 * i], 2 * map.ends[2 * i + 1]];
    reach = Math.max(reach, Math.abs(map.places[a] - map.places[b]), Math.abs(map.places[a + 1] - map.places[b + 1]));
  }
  return { order, starts, reach };
}

const VERTEX = `#version 300 es
layout(location = 0) in vec2 corner;
layout(location = 1) in vec4 ends;
layout(location = 2) in vec2 values;
layout(location = 3) in float speed;
uniform vec2 middle, scale, pixels;
uniform float width;
uniform float minor;
out float value;
out float strength;
void main() {
  vec2 a = (ends.xy - middle) * scale, b = (ends.zw - middle) * scale;
  vec2 along = b - a;
  float size = length(along);
  vec2 way = size > 0.0 ? along / size : vec2(1.0, 0.0);
  float major = clamp((speed - 45.0) / 50.0, 0.0, 1.0);
  float half_width = 0.5 * width * (1.0 + 1.2 * major);
  vec2 at = mix(a, b, corner.x) + vec2(-way.y, way.x) * corner.y * half_width + way * (2.0 * corner.x - 1.0) * 0.3 * half_width;
  value = mix(values.x, values.y, corner.x);
  strength = mix(minor, 1.0, major);
  gl_Position = vec4(2.0 * at.x / pixels.x, -2.0 * at.y / pixels.y, 0.0, 1.0);
}`;

const FRAGMENT = `#version 300 es
precision highp float;
in float value;
in float strength;
uniform vec3 colors[16];
uniform float limits[16];
uniform int bands;
uniform vec3 plain;
uniform bool colored;
out vec4 color;
void main() {
  vec3 found = plain;
  float opacity = strength;
  if (colored) {
    opacity = 1.0;
    if (value < -1e20 || value > 1e20) discard;
    int band = 0;
    for (int i = 0; i < 15; i++) if (i < bands - 1 && value >= limits[i]) band = i + 1;
    found = colors[band];
  }
  color = vec4(found * opacity, opacity);
}`;

function shader(gl, kind, text) {
  const made = gl.createShader(kind);
  gl.shaderSource(made, text);
  gl.compileShader(made);
  if (!gl.getShaderParameter(made, gl.COMPILE_STATUS)) throw new Error(gl.getShaderInfoLog(made));
  return made;
}

// Whether a graphics card draws. A processor that plays one needs seconds for a city, and a plain canvas a fraction.
export function hasCard() {
  const gl = document.createElement("canvas").getContext("webgl2");
  if (!gl) return false;
  const told = gl.getExtension("WEBGL_debug_renderer_info");
  const name = String(gl.getParameter(told ? told.UNMASKED_RENDERER_WEBGL : gl.RENDERER));
  gl.getExtension("WEBGL_lose_context")?.loseContext();
  return !/swiftshader|llvmpipe|softpipe|software|basic render/i.test(name);
}

export function makeWebgl(canvas, map) {
  if (!map.edges) return null;
  const gl = canvas.getContext("webgl2", { antialias: true, alpha: false, preserveDrawingBuffer: true });
  if (!gl) return null;
  const program = gl.createProgram();
  gl.attachShader(program, shader(gl, gl.VERTEX_SHADER, VERTEX));
  gl.attachShader(program, shader(gl, gl.FRAGMENT_SHADER, FRAGMENT));
  gl.linkProgram(program);
  if (!gl.getProgramParameter(program, gl.LINK_STATUS)) throw new Error(gl.getProgramInfoLog(program));
  gl.useProgram(program);
  const place = (name) => gl.getUniformLocation(program, name);
  gl.enable(gl.BLEND);
  gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);

  const attribute = (index, data, size, per, usage) => {
    const buffer = gl.createBuffer();
    gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
    gl.bufferData(gl.ARRAY_BUFFER, data, usage || gl.STATIC_DRAW);
    gl.enableVertexAttribArray(index);
    gl.vertexAttribPointer(index, size, data instanceof Uint8Array ? gl.UNSIGNED_BYTE : gl.FLOAT, false, 0, 0);
    gl.vertexAttribDivisor(index, per);
    return buffer;
  };
  const { order, starts, reach } = sortedEdges(map);
  const nodes = new Uint32Array(2 * map.edges);
  const speeds = new Uint8Array(map.edges);
  order.forEach((edge, i) => {
    nodes[2 * i] = map.ends[2 * edge];
    nodes[2 * i + 1] = map.ends[2 * edge + 1];
    speeds[i] = map.speeds[edge];
  });
  const ends = new Float32Array(4 * map.edges);
  nodes.forEach((node, i) => {
    ends[2 * i] = map.places[2 * node];
    ends[2 * i + 1] = map.places[2 * node + 1];
  });
  attribute(0, new Float32Array([0, -1, 0, 1, 1, -1, 1, 1]), 2, 0);
  const endBuffer = attribute(1, ends, 4, 1);
  const values = new Float32Array(2 * map.edges);
  const valueBuffer = attribute(2, values, 2, 1, gl.DYNAMIC_DRAW);
  const speedBuffer = attribute(3, speeds, 1, 1);
  let colored = false;

  // WebGL 2 cannot start at a later instance, but a buffer can be read from a later byte.
  function drawPart(first, last) {
    if (last <= first) return;
    const parts = [[1, endBuffer, 4, gl.FLOAT, 16], [2, valueBuffer, 2, gl.FLOAT, 8], [3, speedBuffer, 1, gl.UNSIGNED_BYTE, 1]];
    for (const [index, buffer, size, kind, bytes] of parts) {
      gl.bindBuffer(gl.ARRAY_BUFFER, buffer);
      gl.vertexAttribPointer(index, size, kind, false, 0, first * bytes);
    }
    gl.drawArraysInstanced(gl.TRIANGLE_STRIP, 0, 4, last - first);
  }

  function cellsInView(view, side) {
    const half = view.pixels[side] / view.scale / 2 + reach;
    const middle = side ? view.y : view.x;
    const cell = (place) => Math.min(CELLS - 1, Math.max(0, Math.floor((place / map.size[side] + 0.5) * CELLS)));
    return [cell(middle - half), cell(middle + half)];
  }

  return {
    name: "webgl",
    paint(costs, bands) {
      colored = costs !== null;
      if (!colored) return;
      for (let i = 0; i < values.length; i++) {
        const cost = costs[nodes[i]];
        values[i] = Number.isNaN(cost) ? 1e30 : cost;
      }
      gl.bindBuffer(gl.ARRAY_BUFFER, valueBuffer);
      gl.bufferSubData(gl.ARRAY_BUFFER, 0, values);
      const limits = new Float32Array(16);
      const colors = new Float32Array(48);
      limits.set(bands.limits);
      bands.colors.forEach((color, i) => colors.set(color, 3 * i));
      gl.uniform1fv(place("limits"), limits);
      gl.uniform3fv(place("colors"), colors);
      gl.uniform1i(place("bands"), bands.colors.length);
    },
    draw(view, theme) {
      gl.viewport(0, 0, canvas.width, canvas.height);
      gl.clearColor(...theme.background, 1);
      gl.clear(gl.COLOR_BUFFER_BIT);
      gl.uniform2f(place("middle"), view.x, view.y);
      gl.uniform2f(place("scale"), view.scale * view.ratio, view.scale * view.ratio);
      gl.uniform2f(place("pixels"), canvas.width, canvas.height);
      gl.uniform1f(place("width"), view.width * view.ratio);
      gl.uniform1f(place("minor"), view.minor);
      gl.uniform1i(place("colored"), colored ? 1 : 0);
      gl.uniform3f(place("plain"), ...theme.plain);
      const [left, right] = cellsInView(view, 0);
      const [top, bottom] = cellsInView(view, 1);
      if (left === 0 && right === CELLS - 1) return drawPart(starts[top * CELLS], starts[(bottom + 1) * CELLS]);
      for (let row = top; row <= bottom; row++) drawPart(starts[row * CELLS + left], starts[row * CELLS + right + 1]);
    },
  };
}
