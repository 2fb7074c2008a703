// The map page: a click sets A and colors the city by travel time; a second one sets B and shows the way and back.

import { getJson, loadField, loadMap, project, unproject } from "/page/data.js";
import { background, costBands, errorBands, plainColor } from "/page/colors.js";
import { makeCanvas } from "/page/canvas.js";
import { drawOverlay } from "/page/overlay.js";
import { View } from "/page/view.js";
import { hasCard, makeWebgl } from "/page/webgl.js";

const $ = (id) => document.getElementById(id);
const state = { points: [], routes: {}, fields: {}, bands: null, asked: 0, show: "exact" };
let about, map, view, roads, frame = 0;

function say(text, wrong = false) {
  $("hint").textContent = text;
  $("hint").classList.toggle("wrong", wrong);
  $("status").textContent = text;
}

export function amount(value, cost) {
  if (cost === "distance") return value < 1000 ? `${Math.round(value)} m` : `${(value / 1000).toFixed(1)} km`;
  const seconds = Math.round(value);
  if (seconds < 60) return `${seconds} s`;
  const [minutes, hours] = [Math.round(seconds / 60), Math.floor(Math.round(seconds / 60) / 60)];
  if (hours) return `${hours} h ${minutes - 60 * hours} min`;
  return seconds < 600 ? `${Math.floor(seconds / 60)} min ${seconds % 60} s` : `${minutes} min`;
}

// A renderer that needs more than a few frames for a picture is asked for one when the map has come to rest; until then
// the last picture is moved and scaled, so that fingers never wait.
const SLOW = 40; // milliseconds per picture
const REST = 140; // milliseconds without a change
const FRAME = 1000 / 60;
let drawn = null;
let cost = 0;
let resting = 0;

function picture() {
  const start = performance.now();
  roads.draw(view, { background: background(), plain: plainColor() });
  // A picture that is not done yet holds up the frames after it.
  requestAnimationFrame(() => requestAnimationFrame(() => {
    const took = performance.now() - start - FRAME;
    cost = 0.5 * cost + 0.5 * took;
  }));
  drawOverlay($("overlay"), view, state.routes, state.points);
  drawn = { x: view.x, y: view.y, scale: view.scale };
  for (const canvas of [$("roads"), $("overlay")]) canvas.style.transform = "";
}

function movePicture() {
  const factor = view.scale / drawn.scale;
  const [w, h] = view.pixels;
  const dx = (drawn.x - view.x) * view.scale + (w / 2) * (1 - factor);
  const dy = (drawn.y - view.y) * view.scale + (h / 2) * (1 - factor);
  for (const canvas of [$("roads"), $("overlay")]) {
    canvas.style.transform = `translate(${dx}px, ${dy}px) scale(${factor})`;
  }
}

function redraw() {
  if (!frame) frame = requestAnimationFrame(() => { frame = 0; picture(); });
}

function viewChanged() {
  if (!drawn || cost < SLOW) return redraw();
  movePicture();
  clearTimeout(resting);
  resting = setTimeout(redraw, REST);
}

function resize() {
  view.resize();
  for (const canvas of [$("roads"), $("overlay")]) {
    canvas.width = Math.round(view.pixels[0] * view.ratio);
    canvas.height = Math.round(view.pixels[1] * view.ratio);
  }
  redraw();
}

const onMap = ([lon, lat]) => {
  const [x, y] = project(lon, lat);
  return [x - map.origin[0], y - map.origin[1]];
};

const inDegrees = ([x, y]) => unproject(x + map.origin[0], y + map.origin[1]);

// What the colors show now: costs of an engine, or how far the learned ones are from the exact ones.
function shown() {
  const { exact, learned } = state.fields;
  if (state.show !== "error") return state.fields[state.show];
  if (!exact || !learned) return null;
  return learned.map((cost, i) => (exact[i] > 0 ? (cost - exact[i]) / exact[i] : 0));
}

function paint() {
  const costs = shown();
  $("legend").hidden = !costs;
  if (!costs) {
    roads.paint(null, null);
    return redraw();
  }
  const error = state.show === "error";
  // Exact and learned share one scale, so that switching shows what differs.
  const bands = error ? errorBands() : costBands(state.fields.exact || costs, about.cost);
  state.bands = bands;
  roads.paint(costs, bands);
  const noun = about.cost === "duration" ? "Travel time" : "Distance";
  const way = $("reverse").checked ? "to A" : "from A";
  $("legend-title").textContent = error ? "Learned minus exact, in percent" : `${noun} ${way}, in ${bands.unit}`;
  $("bands").replaceChildren(...bands.css.map((color, i) => {
    const item = document.createElement("li");
    const [bar, text] = [document.createElement("i"), document.createElement("b")];
    bar.style.setProperty("background", color);
    text.textContent = bands.labels[i];
    item.append(bar, text);
    return item;
  }));
  redraw();
}

async function loadFields() {
  const mine = ++state.asked;
  const from = state.points[0].lonlat;
  const reverse = $("reverse").checked;
  const found = await Promise.all(about.engines.map((engine) => loadField(from, engine, reverse)));
  if (mine !== state.asked) return false; // another click came in between
  about.engines.forEach((engine, i) => (state.fields[engine] = found[i].costs));
  state.points[0].at = onMap(found[0].place);
  paint();
  return true;
}

function reachedText() {
  const costs = state.fields[about.engines[0]].filter(Number.isFinite).sort();
  const half = costs[Math.floor(costs.length / 2)];
  const way = $("reverse").checked ? "Half of the map reaches A" : "Half of the map is reached from A";
  return `${way} within ${amount(half, about.cost)}. ${about.routes ? "Set B for the way and back." : ""}`;
}

async function learnedTimes([a, b]) {
  if (!about.engines.includes("learned")) return [null, null];
  const ask = (body) => getJson("/distances", { method: "POST", body: JSON.stringify(body) });
  const found = await ask({ sources: [a, b], engine: "learned" });
  const costs = found[`${about.cost}s`];
  return [costs[0][1], costs[1][0]];
}

async function loadRoutes() {
  const mine = ++state.asked;
  const [a, b] = state.points.map((point) => point.lonlat);
  if (!about.routes) {
    const [there, back] = await learnedTimes([a, b]);
    return mine === state.asked && list([["there", "A to B", amount(there, about.cost)], ["back", "B to A", amount(back, about.cost)]]);
  }
  const ask = (p, q) => getJson(`/route/v1/driving/${p.join()};${q.join()}?overview=full&geometries=geojson`);
  const [there, back, learned] = await Promise.all([ask(a, b), ask(b, a), learnedTimes([a, b])]);
  if (mine !== state.asked) return;
  const rows = [];
  [["there", "A to B", there], ["back", "B to A", back]].forEach(([kind, name, answer], i) => {
    const route = answer.routes[0];
    state.routes[kind] = route.geometry.coordinates.map(onMap);
    rows.push([kind, name, about.annotations.map((cost) => amount(route[cost], cost)).join(", ")]);
    if (learned[i] !== null) rows.push(["learned", "learned", amount(learned[i], about.cost)]);
  });
  state.points[1].at = onMap(there.waypoints[1].location);
  list(rows);
}

function list(rows) {
  $("routes").replaceChildren(...rows.flatMap(([kind, name, text]) => {
    const [term, value] = [document.createElement("dt"), document.createElement("dd")];
    term.className = kind;
    term.textContent = name;
    value.textContent = text;
    return [term, value];
  }));
  $("result").hidden = false;
  say("The way and back. Set a new A, or clear.");
  $("status").textContent = rows.map(([, name, text]) => `${name}: ${text}`).join("; ");
  redraw();
}

function clear() {
  state.asked++;
  Object.assign(state, { points: [], routes: {}, fields: {} });
  $("result").hidden = $("direction").hidden = $("engines").hidden = true;
  $("clear").disabled = true;
  paint();
  say("Click or tap a place to see how long it takes to get from there to everywhere.");
}

async function setPoint(at) {
  if (state.points.length === 2) clear();
  const point = { at, lonlat: inDegrees(at).map((degrees) => +degrees.toFixed(6)) };
  state.points.push(point);
  $("clear").disabled = false;
  redraw();
  try {
    if (state.points.length === 1) {
      say("Computing travel times…");
      if (!(await loadFields())) return;
      $("direction").hidden = false;
      $("engines").hidden = about.engines.length < 2;
      say(reachedText());
    } else {
      say("Finding the way and back…");
      await loadRoutes();
    }
  } catch (error) {
    if (state.points.at(-1) === point) state.points.pop();
    $("clear").disabled = !state.points.length;
    say(`That did not work: ${error.message}`, true);
    redraw();
  }
}

async function start() {
  about = await getJson("/about");
  document.title = $("title").textContent = `Travel times in ${about.title}`;
  if (!about.bounds) {
    return say("This map has no coordinates, so there is nothing to draw. The endpoints work with ids of nodes.");
  }
  map = await loadMap(about.bounds);
  $("credit").textContent = `${about.nodes.toLocaleString("en-US")} nodes`;
  state.show = about.engines[0];
  const wanted = new URLSearchParams(location.search).get("renderer"); // "webgl" or "canvas", to try one
  if (wanted === "webgl" || (wanted !== "canvas" && hasCard())) roads = makeWebgl($("roads"), map);
  if (!roads) roads = makeCanvas($("roads"), map);
  document.documentElement.dataset.renderer = roads.name;
  view = new View($("stage"), map, () => view && viewChanged());
  clear();
  resize();
  view.fit();
  redraw();
  view.listen(([px, py]) => setPoint(view.toMap(px, py)));
  addEventListener("resize", resize);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", paint);
  addEventListener("keydown", (event) => event.key === "Escape" && clear());
  $("clear").addEventListener("click", clear);
  $("in").addEventListener("click", () => view.zoom(1.6));
  $("out").addEventListener("click", () => view.zoom(1 / 1.6));
  $("fit").addEventListener("click", () => view.fit());
  $("reverse").addEventListener("change", () => loadFields().then((done) => done && say(reachedText())).catch((error) => say(error.message, true)));
  for (const input of document.querySelectorAll("[name=show]")) {
    input.addEventListener("change", () => { state.show = input.value; paint(); });
  }
  document.documentElement.dataset.ready = "true";
}

start().catch((error) => say(`The map could not be loaded: ${error.message}`, true));
