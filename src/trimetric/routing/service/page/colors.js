// Bands of colors that differ in lightness too, so that they can be told apart without seeing color.

const RAMPS = {
  light: ["#fde725", "#b5de2b", "#6ece58", "#35b779", "#1f9e89", "#26828e", "#31688e", "#3e4989", "#482878", "#2b0a3d"],
  dark: ["#fdf6b2", "#f7d13d", "#fb9b06", "#ed6925", "#cf4446", "#a52c60", "#7f2070", "#5f1f77", "#453a78", "#3c4560"],
};
const ERRORS = {
  light: ["#9c2a00", "#e07b39", "#f3c9a5", "#cfd3da", "#a9c8ec", "#4a8fd6", "#0b4a94"],
  dark: ["#ff8f5a", "#c8602f", "#7d452f", "#3a4252", "#2f5480", "#3b83d0", "#8cc6ff"],
};

export const dark = () => matchMedia("(prefers-color-scheme: dark)").matches;

const rgb = (text) => [1, 3, 5].map((i) => parseInt(text.slice(i, i + 2), 16) / 255);

// Steps that people count in: 1, 2 or 5 times a power of ten, or for minutes parts of an hour.
function niceStep(rough, steps) {
  for (let scale = 10 ** Math.floor(Math.log10(rough) - 1); ; scale *= 10) {
    for (const step of steps) if (step * scale >= rough) return step * scale;
  }
}

const MINUTES = [0.5, 1, 2, 3, 5, 10, 15, 20, 30, 60, 120, 240, 480];

export function quantile(values, part) {
  const finite = values.filter((value) => Number.isFinite(value)).sort();
  return finite.length ? finite[Math.min(finite.length - 1, Math.floor(part * finite.length))] : 0;
}

// Costs in seconds or meters to ten bands, of which the last is open.
export function costBands(costs, cost) {
  const ramp = RAMPS[dark() ? "dark" : "light"];
  const rough = Math.max(1e-6, quantile(costs, 0.97)) / ramp.length;
  const factor = cost === "duration" ? 60 : 1000;
  const seconds = cost === "duration" && rough / factor > 0.25;
  const fitting = MINUTES.find((step) => step >= rough / factor);
  const step = factor * (seconds && fitting ? fitting : niceStep(rough / factor, [1, 2, 5]));
  const unit = cost === "duration" ? "minutes" : "kilometers";
  const labels = ramp.map((_, i) => String(+((i * step) / factor).toPrecision(3)));
  labels[ramp.length - 1] += "+";
  return { colors: ramp.map(rgb), css: ramp, limits: ramp.slice(1).map((_, i) => (i + 1) * step), labels, unit };
}

// Relative errors of the learned cost in seven bands around 0.
export function errorBands() {
  const ramp = ERRORS[dark() ? "dark" : "light"];
  const limits = [-0.2, -0.1, -0.03, 0.03, 0.1, 0.2];
  const labels = ["", "−20", "−10", "−3", "+3", "+10", "+20"]; // each at the lower end of its band
  return { colors: ramp.map(rgb), css: ramp, limits, labels, unit: "percent" };
}

export function plainColor() {
  return dark() ? rgb("#58617a") : rgb("#8d94a3");
}

export function background() {
  return dark() ? rgb("#12151c") : rgb("#f6f5f1");
}
