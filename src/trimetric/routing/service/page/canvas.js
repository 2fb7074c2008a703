// Roads, or nodes without roads, by a plain canvas, where there is no WebGL 2. Edges are sorted into cells, so that
// only those in view are drawn.

const CELLS = 64;

export function makeCanvas(canvas, map) {
  const context = canvas.getContext("2d", { alpha: false });
  const count = map.edges || map.nodes;
  const end = (i, side) => (map.edges ? map.ends[2 * i + side] : i);
  const cells = Array.from({ length: CELLS * CELLS }, () => []);
  const cell = (value, size) => Math.min(CELLS - 1, Math.max(0, Math.floor(((value + size / 2) / size) * CELLS)));
  for (let i = 0; i < count; i++) {
    const node = end(i, 0);
    cells[CELLS * cell(map.places[2 * node + 1], map.size[1]) + cell(map.places[2 * node], map.size[0])].push(i);
  }
  let costs = null;
  let bands = null;
  const css = ([r, g, b]) => `rgb(${Math.round(255 * r)} ${Math.round(255 * g)} ${Math.round(255 * b)})`;

  function visible(view) {
    const [w, h] = [canvas.width / view.ratio / view.scale / 2, canvas.height / view.ratio / view.scale / 2];
    const margin = 2; // cells, for edges that start outside
    const left = Math.max(0, cell(view.x - w, map.size[0]) - margin);
    const right = Math.min(CELLS - 1, cell(view.x + w, map.size[0]) + margin);
    const top = Math.max(0, cell(view.y - h, map.size[1]) - margin);
    const bottom = Math.min(CELLS - 1, cell(view.y + h, map.size[1]) + margin);
    const found = [];
    for (let r = top; r <= bottom; r++) for (let c = left; c <= right; c++) found.push(cells[CELLS * r + c]);
    return found;
  }

  function bandOf(i) {
    if (!costs) return 0;
    const cost = (costs[end(i, 0)] + costs[end(i, 1)]) / 2;
    if (!Number.isFinite(cost)) return -1;
    let band = 0;
    while (band < bands.limits.length && cost >= bands.limits[band]) band++;
    return band;
  }

  return {
    name: "canvas",
    paint(given, wanted) {
      costs = given;
      bands = wanted;
    },
    draw(view, theme) {
      context.fillStyle = css(theme.background);
      context.fillRect(0, 0, canvas.width, canvas.height);
      const scale = view.scale * view.ratio;
      const [dx, dy] = [canvas.width / 2 - view.x * scale, canvas.height / 2 - view.y * scale];
      const paths = Array.from({ length: costs ? bands.colors.length : 1 }, () => new Path2D());
      const dot = Math.max(1, view.width * view.ratio);
      for (const list of visible(view)) {
        for (const i of list) {
          const band = bandOf(i);
          if (band < 0) continue;
          const [a, b] = [2 * end(i, 0), 2 * end(i, 1)];
          const [x, y] = [map.places[a] * scale + dx, map.places[a + 1] * scale + dy];
          if (!map.edges) {
            paths[band].rect(x - dot / 2, y - dot / 2, dot, dot);
            continue;
          }
          paths[band].moveTo(x, y);
          paths[band].lineTo(map.places[b] * scale + dx, map.places[b + 1] * scale + dy);
        }
      }
      context.lineWidth = view.width * view.ratio;
      paths.forEach((path, i) => {
        const color = css(costs ? bands.colors[i] : theme.plain);
        context.strokeStyle = context.fillStyle = color;
        if (map.edges) context.stroke(path);
        else context.fill(path);
      });
    },
  };
}
