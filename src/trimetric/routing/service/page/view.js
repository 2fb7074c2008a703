// What part of the map is shown, and how pointers, wheel and keys change it.

export class View {
  constructor(stage, map, changed) {
    this.stage = stage;
    this.map = map;
    this.changed = changed;
    this.pointers = new Map();
    this.moved = 0;
    this.resize();
    this.fit();
  }

  resize() {
    this.ratio = Math.min(devicePixelRatio || 1, 2.5);
    this.pixels = [this.stage.clientWidth, this.stage.clientHeight];
  }

  // The part of the stage that the panel leaves free: [left, top, right, bottom].
  free() {
    const panel = document.getElementById("panel").getBoundingClientRect();
    const [w, h] = this.pixels;
    return panel.width > 0.9 * w ? [0, 0, w, panel.top] : [panel.right, 0, w, h];
  }

  show(low, high, part = 0.94) {
    const [left, top, right, bottom] = this.free();
    const [w, h] = [right - left, bottom - top];
    const size = [Math.max(high[0] - low[0], 1e-7), Math.max(high[1] - low[1], 1e-7)];
    this.scale = part * Math.min(w / size[0], h / size[1]);
    this.x = (low[0] + high[0]) / 2 - ((left + right) / 2 - this.pixels[0] / 2) / this.scale;
    this.y = (low[1] + high[1]) / 2 - ((top + bottom) / 2 - this.pixels[1] / 2) / this.scale;
    this.changed();
  }

  fit() {
    const [w, h] = this.map.size;
    this.show([-w / 2, -h / 2], [w / 2, h / 2]);
    this.smallest = this.scale / 2;
  }

  get largest() { return 4e8; } // a tenth of a meter per pixel

  // Lines grow slowly with the zoom; minor roads fade in.
  get width() { return Math.min(6, Math.max(0.9, 0.9 * (this.scale / 4e6) ** 0.35)); }
  get minor() { return Math.min(1, Math.max(0.4, (this.scale / 4e6) ** 0.4)); }

  toScreen(x, y) {
    return [(x - this.x) * this.scale + this.pixels[0] / 2, (y - this.y) * this.scale + this.pixels[1] / 2];
  }

  toMap(px, py) {
    return [(px - this.pixels[0] / 2) / this.scale + this.x, (py - this.pixels[1] / 2) / this.scale + this.y];
  }

  zoom(factor, px = this.pixels[0] / 2, py = this.pixels[1] / 2) {
    const [x, y] = this.toMap(px, py);
    this.scale = Math.min(this.largest, Math.max(this.smallest, this.scale * factor));
    this.x = x - (px - this.pixels[0] / 2) / this.scale;
    this.y = y - (py - this.pixels[1] / 2) / this.scale;
    this.changed();
  }

  move(dx, dy) {
    this.x -= dx / this.scale;
    this.y -= dy / this.scale;
    this.changed();
  }

  listen(clicked) {
    const at = (event) => {
      const box = this.stage.getBoundingClientRect();
      return [event.clientX - box.left, event.clientY - box.top];
    };
    this.stage.addEventListener("pointerdown", (event) => {
      if (event.button > 0) return;
      this.stage.setPointerCapture(event.pointerId);
      if (!this.pointers.size) this.moved = 0;
      this.pointers.set(event.pointerId, at(event));
      if (this.pointers.size > 1) this.moved = Infinity; // two fingers set no point
    });
    this.stage.addEventListener("pointermove", (event) => {
      const before = this.pointers.get(event.pointerId);
      if (!before) return;
      const now = at(event);
      if (this.pointers.size === 1) {
        this.moved += Math.hypot(now[0] - before[0], now[1] - before[1]);
        if (this.moved > 6) this.move(now[0] - before[0], now[1] - before[1]);
      } else if (this.pointers.size === 2) {
        const [other] = [...this.pointers].filter(([id]) => id !== event.pointerId).map(([, place]) => place);
        const was = Math.hypot(before[0] - other[0], before[1] - other[1]);
        const is = Math.hypot(now[0] - other[0], now[1] - other[1]);
        this.move((now[0] - before[0]) / 2, (now[1] - before[1]) / 2);
        this.zoom(is / Math.max(1, was), (now[0] + other[0]) / 2, (now[1] + other[1]) / 2);
      }
      this.pointers.set(event.pointerId, now);
    });
    const ended = (event) => {
      const known = this.pointers.delete(event.pointerId);
      if (known && event.type === "pointerup" && !this.pointers.size && this.moved <= 6) clicked(at(event));
    };
    this.stage.addEventListener("pointerup", ended);
    this.stage.addEventListener("pointercancel", ended);
    this.stage.addEventListener("wheel", (event) => {
      event.preventDefault();
      const lines = event.deltaMode === 1 ? 16 : 1;
      this.zoom(Math.exp(-Math.max(-300, Math.min(300, event.deltaY * lines)) / 400), ...at(event));
    }, { passive: false });
    this.stage.addEventListener("keydown", (event) => {
      const step = event.shiftKey ? 240 : 80;
      const moves = { ArrowLeft: [step, 0], ArrowRight: [-step, 0], ArrowUp: [0, step], ArrowDown: [0, -step] };
      if (event.ctrlKey || event.metaKey || event.altKey) return;
      if (moves[event.key]) this.move(...moves[event.key]);
      else if (event.key === "+" || event.key === "=") this.zoom(1.5);
      else if (event.key === "-") this.zoom(1 / 1.5);
      else if (event.key === "Enter" || event.key === " ") clicked([this.pixels[0] / 2, this.pixels[1] / 2]);
      else return;
      event.preventDefault();
    });
  }
}
