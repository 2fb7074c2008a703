// What the service sends: the roads, travel times of all nodes, and JSON.

const DEGREE = 1e7;

export async function getJson(url, options) {
  const response = await fetch(url, options);
  const body = await response.json();
  if (!response.ok) throw new Error(body.message || response.statusText);
  return body;
}

async function getBytes(url) {
  const response = await fetch(url);
  if (!response.ok) {
    const body = await response.json().catch(() => ({}));
    throw new Error(body.message || response.statusText);
  }
  return response;
}

// Four planes of bytes are the numbers; as differences to the one before, unless `plain`.
function numbers(bytes, start, count, plain) {
  const found = new Int32Array(count);
  let last = 0;
  for (let i = 0; i < count; i++) {
    const value = bytes[start + i] | (bytes[start + count + i] << 8)
      | (bytes[start + 2 * count + i] << 16) | (bytes[start + 3 * count + i] << 24);
    last = plain ? value : last + value;
    found[i] = last;
  }
  return found;
}

// Web Mercator in units of the earth's circumference; close to the middle of the map floats of 4 bytes are exact to a
// centimeter, so all positions are relative to it.
export function project(lon, lat) {
  const y = Math.log(Math.tan(Math.PI / 4 + (lat * Math.PI) / 360));
  return [lon / 360, -y / (2 * Math.PI)];
}

export function unproject(x, y) {
  return [x * 360, (Math.atan(Math.exp(-y * 2 * Math.PI)) * 360) / Math.PI - 90];
}

export async function loadMap(bounds) {
  const bytes = new Uint8Array(await (await getBytes("/map")).arrayBuffer());
  const view = new DataView(bytes.buffer);
  if (String.fromCharCode(...bytes.slice(0, 4)) !== "TMAP") throw new Error("The map could not be read.");
  const nodes = view.getUint32(4, true);
  const edges = view.getUint32(8, true);
  let at = 12;
  const take = (count, plain) => {
    const found = numbers(bytes, at, count, plain);
    at += 4 * count;
    return found;
  };
  const [lons, lats, tails, steps] = [take(nodes), take(nodes), take(edges), take(edges, true)];
  const speeds = bytes.subarray(at, at + edges);
  const low = project(bounds[0], bounds[1]);
  const high = project(bounds[2], bounds[3]);
  const origin = [(low[0] + high[0]) / 2, (low[1] + high[1]) / 2];
  const places = new Float32Array(2 * nodes);
  for (let i = 0; i < nodes; i++) {
    const [x, y] = project(lons[i] / DEGREE, lats[i] / DEGREE);
    places[2 * i] = x - origin[0];
    places[2 * i + 1] = y - origin[1];
  }
  const ends = new Uint32Array(2 * edges);
  for (let i = 0; i < edges; i++) {
    ends[2 * i] = tails[i];
    ends[2 * i + 1] = tails[i] + steps[i];
  }
  const size = [Math.abs(high[0] - low[0]), Math.abs(high[1] - low[1])];
  return { nodes, edges, places, ends, speeds, origin, size };
}

// Costs of all nodes, NaN where there is no route, and the place on the road that they start from.
export async function loadField([lon, lat], engine, reverse) {
  const response = await getBytes(`/field?lon=${lon}&lat=${lat}&engine=${engine}&reverse=${reverse}`);
  const place = response.headers.get("x-location").split(",").map(Number);
  const buffer = await response.arrayBuffer();
  const unit = new DataView(buffer).getFloat32(0, true);
  const units = new Uint16Array(buffer, 4);
  const costs = new Float32Array(units.length);
  for (let i = 0; i < units.length; i++) costs[i] = units[i] === 65535 ? NaN : units[i] * unit;
  return { costs, place };
}
