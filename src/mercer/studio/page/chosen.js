// The selected rows as a mask, so that a lasso around very many rows is fast.
export class Chosen {
  mask = new Uint8Array(0); // 1 for each of them
  size = 0;
  losses = 0; // number of times that rows were removed

  allocate(n) {
    this.mask = new Uint8Array(n);
    this.size = 0;
  }

  has(row) {
    return this.mask[row] === 1;
  }
  add(row) {
    this.size += 1 - this.mask[row];
    this.mask[row] = 1;
  }
  addAll(rows) {
    for (let k = 0; k < rows.length; k++) this.add(rows[k]);
  }
  delete(row) {
    this.size -= this.mask[row];
    this.mask[row] = 0;
    this.losses++;
  }
  clear() {
    if (!this.size) return;
    this.mask.fill(0);
    this.size = 0;
    this.losses++;
  }

  // Their numbers, ascending.
  rows() {
    const found = new Uint32Array(this.size);
    for (let row = 0, k = 0; k < found.length; row++) if (this.mask[row] === 1) found[k++] = row;
    return found;
  }
}
