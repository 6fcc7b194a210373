// Rows sorted into 128 × 128 cells of the map: nearest row, rows in a circle, rows in a polygon, next row in a direction.
const SIDE = 128, SHIFT = 9;  // positions are 16-bit numbers

export class Grid {
  constructor(x, y) {
    this.x = x; this.y = y;
    const n = x.length, cell = new Uint16Array(n);
    this.start = new Uint32Array(SIDE * SIDE + 1);
    for (let i = 0; i < n; i++) this.start[(cell[i] = (y[i] >> SHIFT) * SIDE + (x[i] >> SHIFT)) + 1]++;
    for (let c = 0; c < SIDE * SIDE; c++) this.start[c + 1] += this.start[c];
    const next = this.start.slice();
    this.rows = new Uint32Array(n);
    for (let i = 0; i < n; i++) this.rows[next[cell[i]]++] = i;
  }

  // Calls `visit(row)` for the rows of the cells that a box touches.
  box(x0, y0, x1, y1, visit) {
    const at = value => Math.max(0, Math.min(SIDE - 1, Math.floor(value) >> SHIFT));
    for (let v = at(y0); v <= at(y1); v++) for (let u = at(x0); u <= at(x1); u++)
      for (let k = this.start[v * SIDE + u]; k < this.start[v * SIDE + u + 1]; k++) visit(this.rows[k]);
  }

  // The row nearest to a point among those within reach and allowed, or −1. Distances are those on the screen in units
  // of x: one step of y counts `aspect` steps of x.
  nearest(px, py, reach, allowed, aspect = 1) {
    let best = reach * reach, found = -1;
    this.box(px - reach, py - reach / aspect, px + reach, py + reach / aspect, row => {
      const d = (this.x[row] - px) ** 2 + ((this.y[row] - py) * aspect) ** 2;
      if (d <= best && allowed(row)) { best = d; found = row; }
    });
    return found;
  }

  circle(px, py, radius, allowed, aspect = 1) {
    const found = [];
    this.box(px - radius, py - radius / aspect, px + radius, py + radius / aspect, row => {
      if ((this.x[row] - px) ** 2 + ((this.y[row] - py) * aspect) ** 2 <= radius * radius && allowed(row)) found.push(row);
    });
    return found;
  }

  // Rows inside a polygon given as [x0, y0, x1, y1, …], by the even-odd rule.
  polygon(corners, allowed) {
    const xs = corners.filter((_, k) => k % 2 === 0), ys = corners.filter((_, k) => k % 2 === 1), found = [];
    const edges = xs.length, px = Float64Array.from(xs), py = Float64Array.from(ys);
    this.box(Math.min(...xs), Math.min(...ys), Math.max(...xs), Math.max(...ys), row => {
      const x = this.x[row], y = this.y[row];
      let odd = false;
      for (let i = 0, j = edges - 1; i < edges; j = i++)
        if (py[i] > y !== py[j] > y && x < (px[j] - px[i]) * (y - py[i]) / (py[j] - py[i]) + px[i]) odd = !odd;
      if (odd && allowed(row)) found.push(row);
    });
    return found;
  }

  // The row to go to from a row in direction (dx, dy): near, and not far off that direction.
  towards(from, dx, dy, allowed, aspect = 1) {
    let best = Infinity, found = -1;
    for (let row = 0; row < this.x.length; row++) {
      const u = this.x[row] - this.x[from], v = (this.y[row] - this.y[from]) * aspect;
      const along = u * dx + v * dy, across = Math.abs(u * dy - v * dx);
      if (along <= 0 || across > 1.5 * along) continue;
      const cost = along + 2 * across;
      if (cost < best && row !== from && allowed(row)) { best = cost; found = row; }
    }
    return found;
  }
}
