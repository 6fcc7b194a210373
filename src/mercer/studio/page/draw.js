// The marks of the map: predicted rows below, given labels above them, the selection on top.
import {Raster, disc, ring, shape} from "./raster.js";
import {SHAPES, colourOf, colours, shapeOf} from "./palette.js";
import {NO_ANSWER, NONE, isShown, store} from "./store.js";

export class Marks {
  constructor(canvas, view) { this.raster = new Raster(canvas); this.view = view; this.size = ""; }

  resize(ratio) {
    this.ratio = ratio;
    this.raster.resize(Math.max(1, Math.round(this.view.width * ratio)), Math.max(1, Math.round(this.view.height * ratio)));
    this.theme();
  }

  theme() { this.colours = colours(); }

  // Radius of a predicted row in CSS pixels: smaller for many rows, larger when magnified.
  radius() {
    const {n} = store, plain = n <= 600 ? 4 : n <= 3000 ? 3.1 : n <= 12000 ? 2.2 : n <= 50000 ? 1.6 : 1.15;
    return Math.min(plain * this.view.zoom ** .3, 7);
  }

  stamps(labelled) {
    const small = this.radius(), large = Math.max(small + 1.2, labelled > 150 ? 4.4 : 6), r = this.ratio, size = [small, large, r].join();
    if (size === this.size) return;
    this.size = size;
    this.dot = disc(small * r);
    this.speck = disc(Math.max(.8, .55 * small) * r);
    this.open = ring((small + .4) * r, Math.max(1, .9 * r));
    this.fill = SHAPES.map((_, k) => shape(k, large * r));
    this.edge = SHAPES.map((_, k) => shape(k, (large + 1.4) * r));
    this.halo = SHAPES.map((_, k) => shape(k, (large + 2.6) * r));
    this.chosen = ring((small + 2) * r, 1.2 * r);
    this.chosenLarge = ring((large + 3.5) * r, 1.4 * r);
  }

  draw() {
    const {x, y, given, first, sure, spotlight} = store, {raster, view, ratio} = this, paint = this.colours;
    raster.clear(paint.ground);
    if (!x) { raster.show(); return; }
    const top = Math.max(0, ...store.classes.map(one => one.id)) + 1, colour = new Uint32Array(top), form = new Uint8Array(top), away = new Uint8Array(top);
    for (const one of store.classes) { colour[one.id] = paint.classes[colourOf(one.id)]; form[one.id] = shapeOf(one.id); away[one.id] = one.hidden ? 1 : 0; }
    const labelled = [], px = row => Math.round(view.toX(x[row]) * ratio), py = row => Math.round(view.toY(y[row]) * ratio);
    for (let row = 0; row < store.n; row++) if (given[row] >= 0) labelled.push(row);
    this.stamps(labelled.length);
    const answered = store.tier !== "none", dim = id => spotlight === NONE || spotlight === id ? 1 : .14;
    for (let row = 0; row < store.n; row++) {
      if (given[row] >= 0) continue;
      if (!isShown(row)) { raster.put(this.speck, px(row), py(row), paint.faint, 40); continue; }
      const id = first[row];
      if (!answered || store.hiddenGuess.has(row) || (id !== NO_ANSWER && id >= top)) raster.put(this.dot, px(row), py(row), paint.faint, 120 * dim(-9));
      else if (id === NO_ANSWER) raster.put(this.open, px(row), py(row), paint.faint, 210 * dim(-9));
      else if (!away[id]) raster.put(this.dot, px(row), py(row), colour[id], (56 + 190 * sure[row] / 255) * dim(id));
    }
    for (const row of labelled) {
      const id = given[row], k = form[id];
      if (away[id]) continue;
      if (!isShown(row)) { raster.put(this.speck, px(row), py(row), paint.faint, 70); continue; }
      raster.put(this.halo[k], px(row), py(row), paint.ground, 230 * dim(id));
      raster.put(this.edge[k], px(row), py(row), paint.ink, 256 * dim(id));
      raster.put(this.fill[k], px(row), py(row), colour[id], 256 * dim(id));
    }
    for (const row of store.selected) raster.put(given[row] >= 0 ? this.chosenLarge : this.chosen, px(row), py(row), paint.accent, 230);
    raster.show();
  }
}
