// Turns positions of the map (0 … 65535 each way, y upwards) into CSS pixels of the canvas.
const FULL = 65535;
const MARGIN = 18;

export class View {
  constructor() {
    this.width = this.height = 1;
    this.reset();
  }

  reset() {
    this.zoom = 1;
    this.cx = this.cy = FULL / 2;
    this.scale();
  }

  resize(width, height) {
    this.width = width;
    this.height = height;
    this.scale();
  }

  scale() {
    this.sx = (this.zoom * Math.max(1, this.width - 2 * MARGIN)) / FULL;
    this.sy = (this.zoom * Math.max(1, this.height - 2 * MARGIN)) / FULL;
  }

  toX(x) {
    return (x - this.cx) * this.sx + this.width / 2;
  }
  toY(y) {
    return this.height / 2 - (y - this.cy) * this.sy;
  }
  fromX(px) {
    return (px - this.width / 2) / this.sx + this.cx;
  }
  fromY(py) {
    return (this.height / 2 - py) / this.sy + this.cy;
  }

  pan(dx, dy) {
    const keep = value => Math.max(0, Math.min(FULL, value));
    this.cx = keep(this.cx - dx / this.sx);
    this.cy = keep(this.cy + dy / this.sy);
  }

  // Magnifies about a point of the canvas, which does not move.
  magnify(factor, px = this.width / 2, py = this.height / 2) {
    const x = this.fromX(px);
    const y = this.fromY(py);
    this.zoom = Math.max(1, Math.min(60, this.zoom * factor));
    this.scale();
    this.cx = x - (px - this.width / 2) / this.sx;
    this.cy = y + (py - this.height / 2) / this.sy;
    if (this.zoom === 1) this.reset();
    else this.pan(0, 0);
  }

  // Moves the map until this position is well inside.
  reveal(x, y) {
    const px = this.toX(x);
    const py = this.toY(y);
    const edge = 40;
    const inside = (p, size) => Math.max(edge - p, 0) || Math.min(size - edge - p, 0);
    const dx = this.zoom > 1 ? inside(px, this.width) : 0;
    const dy = this.zoom > 1 ? inside(py, this.height) : 0;
    if (dx || dy) this.pan(dx, dy);
    return Boolean(dx || dy);
  }
}
