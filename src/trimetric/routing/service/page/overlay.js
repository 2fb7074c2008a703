// What lies above the roads: the routes both ways, and the points A and B.

const style = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

function trace(context, view, line, aside) {
  // The way back is drawn a little aside, as streets that go both ways would hide one of the two.
  context.beginPath();
  let last = null;
  line.forEach(([x, y]) => {
    const point = view.toScreen(x, y);
    if (last) {
      const [dx, dy] = [point[0] - last[0], point[1] - last[1]];
      const size = Math.hypot(dx, dy) || 1;
      const [ox, oy] = [(-dy / size) * aside, (dx / size) * aside];
      context.lineTo(last[0] + ox, last[1] + oy);
      context.lineTo(point[0] + ox, point[1] + oy);
    }
    last = point;
  });
}

export function drawOverlay(canvas, view, routes, points) {
  const context = canvas.getContext("2d");
  context.setTransform(view.ratio, 0, 0, view.ratio, 0, 0);
  context.clearRect(0, 0, ...view.pixels);
  context.lineJoin = context.lineCap = "round";
  const kinds = [["back", style("--back")], ["there", style("--there")]];
  for (const [width, color] of [[8, style("--paper")], [4.5, null]]) {
    for (const [kind, own] of kinds) {
      if (!routes[kind]) continue;
      context.lineWidth = width;
      context.strokeStyle = color || own;
      trace(context, view, routes[kind], 2.6);
      context.stroke();
    }
  }
  points.forEach((point, i) => {
    const [x, y] = view.toScreen(...point.at);
    context.beginPath();
    context.arc(x, y, 13, 0, 2 * Math.PI);
    context.fillStyle = style("--ink");
    context.strokeStyle = style("--paper");
    context.lineWidth = 3;
    context.fill();
    context.stroke();
    context.fillStyle = style("--paper");
    context.font = "700 14px system-ui, sans-serif";
    context.textAlign = "center";
    context.textBaseline = "middle";
    context.fillText("AB"[i], x, y + 0.5);
  });
}
