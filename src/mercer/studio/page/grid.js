// Rows sorted into 128 × 128 cells of the map. Finds the nearest row, rows in a circle or polygon, and the next row.
const SIDE = 128;
const SHIFT = 9; // positions are 16-bit numbers

const at = value => Math.max(0, Math.min(SIDE - 1, Math.floor(value) >> SHIFT));

// The cells that the edges of a polygon cross.
function crossings(px, py) {
  const crossed = new Uint8Array(SIDE * SIDE);
  const size = 1 << SHIFT;
  for (let i = 0, j = px.length - 1; i < px.length; j = i++) {
    const [x0, y0, x1, y1] = py[i] < py[j] ? [px[i], py[i], px[j], py[j]] : [px[j], py[j], px[i], py[i]];
    for (let v = at(y0); v <= at(y1); v++) {
      const share = y => (y1 > y0 ? Math.max(0, Math.min(1, (y - y0) / (y1 - y0))) : 0);
      const from = y1 > y0 ? x0 + (x1 - x0) * share(v * size) : x0;
      const to = y1 > y0 ? x0 + (x1 - x0) * share((v + 1) * size) : x1;
      for (let u = at(Math.min(from, to)); u <= at(Math.max(from, to)); u++) crossed[v * SIDE + u] = 1;
    }
  }
  return crossed;
}

export class Grid {
  constructor(x, y) {
    this.x = x;
    this.y = y;
    const n = x.length;
    const cell = new Uint16Array(n);
    this.start = new Uint32Array(SIDE * SIDE + 1);
    for (let i = 0; i < n; i++) this.start[(cell[i] = (y[i] >> SHIFT) * SIDE + (x[i] >> SHIFT)) + 1]++;
    for (let c = 0; c < SIDE * SIDE; c++) this.start[c + 1] += this.start[c];
    const next = this.start.slice();
    this.rows = new Uint32Array(n);
    for (let i = 0; i < n; i++) this.rows[next[cell[i]]++] = i;
  }

  // Calls `visit(row)` for the rows of the cells that a box touches.
  box(x0, y0, x1, y1, visit) {
    for (let v = at(y0); v <= at(y1); v++)
      for (let u = at(x0); u <= at(x1); u++)
        for (let k = this.start[v * SIDE + u]; k < this.start[v * SIDE + u + 1]; k++) visit(this.rows[k]);
  }

  // The nearest allowed row within reach of a point, or −1. Distances are those on the screen, in
  // units of x. One step of y counts as `aspect` steps of x.
  nearest(px, py, reach, allowed, aspect = 1) {
    let best = reach * reach;
    let found = -1;
    this.box(px - reach, py - reach / aspect, px + reach, py + reach / aspect, row => {
      const d = (this.x[row] - px) ** 2 + ((this.y[row] - py) * aspect) ** 2;
      if (d <= best && allowed(row)) {
        best = d;
        found = row;
      }
    });
    return found;
  }

  circle(px, py, radius, allowed, aspect = 1) {
    const found = [];
    this.box(px - radius, py - radius / aspect, px + radius, py + radius / aspect, row => {
      if ((this.x[row] - px) ** 2 + ((this.y[row] - py) * aspect) ** 2 <= radius * radius && allowed(row))
        found.push(row);
    });
    return found;
  }

  // Rows inside a polygon given as [x0, y0, x1, y1, …], by the even-odd rule. Neighboring cells that no edge crosses
  // are inside or outside together, and their rows follow each other.
  polygon(corners) {
    const edges = corners.length / 2;
    const px = Float64Array.from({length: edges}, (_, k) => corners[2 * k]);
    const py = Float64Array.from({length: edges}, (_, k) => corners[2 * k + 1]);
    const within = Array.from({length: SIDE}, () => []); // the edges by rows of cells
    for (let i = 0; i < edges; i++) {
      const j = (i || edges) - 1;
      for (let v = at(Math.min(py[i], py[j])); v <= at(Math.max(py[i], py[j])); v++) within[v].push(i);
    }
    const inside = (x, y, v) => {
      let odd = false;
      for (const i of within[v]) {
        const j = (i || edges) - 1;
        if (py[i] > y !== py[j] > y && x < ((px[j] - px[i]) * (y - py[i])) / (py[j] - py[i]) + px[i]) odd = !odd;
      }
      return odd;
    };
    const crossed = crossings(px, py);
    const found = new Uint32Array(this.rows.length);
    let length = 0;
    const size = 1 << SHIFT;
    const first = at(Math.min(...py));
    const last = at(Math.max(...py));
    const left = at(Math.min(...px));
    const right = at(Math.max(...px));
    for (let v = first; v <= last; v++)
      for (let u = left, end; u <= right; u = end) {
        const from = this.start[v * SIDE + u];
        for (end = u + 1; end <= right && !crossed[v * SIDE + u] && !crossed[v * SIDE + end]; ) end++;
        const block = this.rows.subarray(from, this.start[v * SIDE + end]);
        if (crossed[v * SIDE + u]) {
          for (const row of block) if (inside(this.x[row], this.y[row], v)) found[length++] = row;
        } else if (inside((u + 0.5) * size, (v + 0.5) * size, v)) {
          found.set(block, length);
          length += block.length;
        }
      }
    return found.subarray(0, length);
  }

  // The next row from a row in direction (dx, dy), which is near and close to that direction.
  towards(from, dx, dy, allowed, aspect = 1) {
    let best = Infinity;
    let found = -1;
    for (let row = 0; row < this.x.length; row++) {
      const u = this.x[row] - this.x[from];
      const v = (this.y[row] - this.y[from]) * aspect;
      const along = u * dx + v * dy;
      const across = Math.abs(u * dy - v * dx);
      if (along <= 0 || across > 1.5 * along) continue;
      const cost = along + 2 * across;
      if (cost < best && row !== from && allowed(row)) {
        best = cost;
        found = row;
      }
    }
    return found;
  }
}
