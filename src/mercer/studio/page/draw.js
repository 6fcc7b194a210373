// Draws the marks of the map, with predicted rows below, given labels above them and the selection on top.
import {Raster, disc, ring, shape} from "./raster.js";
import {contours} from "./density.js";
import {SHAPES, colorOf, colors, shapeOf} from "./palette.js";
import {NO_ANSWER, NONE, isShown, store} from "./store.js";

const FEW = 20; // new labels that are drawn one by one
const LINE = 170; // opacity of the density lines, of 256
const CROWD = 5000; // selected rows above which they are discs, because rings would overlap

export class Marks {
  constructor(canvas, view) {
    this.raster = new Raster(canvas);
    this.view = view;
    this.size = "";
    this.theme();
    this.drawn = new Int16Array(0); // the labels that are drawn
    this.ringed = new Uint8Array(0); // 1 for rows that are drawn as selected
  }

  resize(ratio) {
    this.ratio = ratio;
    this.raster.resize(
      Math.max(1, Math.round(this.view.width * ratio)),
      Math.max(1, Math.round(this.view.height * ratio)),
    );
  }

  theme() {
    this.colors = colors();
  }

  // Radius of a predicted row in CSS pixels. It is smaller for many rows and larger when magnified.
  radius() {
    const {n} = store;
    const plain = n <= 600 ? 4 : n <= 3000 ? 3.1 : n <= 12000 ? 2.2 : n <= 50000 ? 1.6 : 1.15;
    return Math.min(plain * this.view.zoom ** 0.3, 7);
  }

  stamps(labeled) {
    const small = this.radius();
    const large = Math.max(small + 1.2, labeled > 150 ? 4.4 : 6);
    const r = this.ratio;
    const size = [small, large, r].join();
    if (size === this.size) return;
    this.size = size;
    this.dot = disc(small * r);
    this.speck = disc(Math.max(0.8, 0.55 * small) * r);
    this.open = ring((small + 0.4) * r, Math.max(1, 0.9 * r));
    this.fill = SHAPES.map((_, k) => shape(k, large * r));
    this.edge = SHAPES.map((_, k) => shape(k, (large + 1.4) * r));
    this.halo = SHAPES.map((_, k) => shape(k, (large + 2.6) * r));
    this.chosen = ring((small + 2) * r, 1.2 * r);
    this.crowded = disc((small + 0.4) * r);
    this.chosenLarge = ring((large + 3.5) * r, 1.4 * r);
  }

  // Computes the pixels of all rows, once per drawing.
  place() {
    const {x, y, n} = store;
    const {view, ratio} = this;
    if (this.px?.length !== n) {
      this.px = new Int32Array(n);
      this.py = new Int32Array(n);
    }
    const {px, py} = this;
    const sx = view.sx * ratio;
    const sy = view.sy * ratio;
    const left = view.toX(0) * ratio + 0.5;
    const low = view.toY(0) * ratio + 0.5;
    for (let row = 0; row < n; row++) {
      px[row] = Math.floor(left + sx * x[row]);
      py[row] = Math.floor(low - sy * y[row]);
    }
  }

  draw() {
    const {n, given, first, sure, shown, spotlight} = store;
    const {raster} = this;
    const paint = this.colors;
    raster.clear(paint.ground);
    if (!store.x) {
      raster.show();
      return;
    }
    const top = Math.max(0, ...store.classes.map(one => one.id)) + 1;
    const color = new Uint32Array(256).fill(paint.faint);
    const form = new Uint8Array(256);
    const away = new Uint8Array(256);
    const dim = new Float64Array(256).fill(spotlight === NONE ? 1 : 0.14);
    for (const one of store.classes) {
      color[one.id] = paint.classes[colorOf(one.id)];
      form[one.id] = shapeOf(one.id);
      away[one.id] = one.hidden ? 1 : 0;
    }
    if (spotlight !== NONE) dim[spotlight] = 1;
    const labeled = [];
    const secret = new Uint8Array(n);
    for (const row of store.hiddenGuess) secret[row] = 1;
    for (let row = 0; row < n; row++) if (given[row] >= 0) labeled.push(row);
    this.stamps(labeled.length);
    this.place();
    const {px, py, dot, speck, open} = this;
    const answered = store.tier !== "none";
    for (let row = 0; row < n; row++) {
      if (given[row] >= 0) continue;
      const id = first[row];
      if (shown !== null && shown[row] === 0) raster.put(speck, px[row], py[row], paint.faint, 40);
      else if (!answered || secret[row] === 1 || (id >= top && id !== NO_ANSWER))
        raster.put(dot, px[row], py[row], paint.faint, (120 * dim[NO_ANSWER]) | 0);
      else if (id === NO_ANSWER) raster.put(open, px[row], py[row], paint.faint, (210 * dim[NO_ANSWER]) | 0);
      else if (away[id] === 0) raster.put(dot, px[row], py[row], color[id], ((56 + 0.75 * sure[row]) * dim[id]) | 0);
    }
    contours(raster, px, py, Math.ceil(2 * this.radius() * this.ratio), (x, y) => raster.dot(x, y, paint.ground, LINE));
    this.looks = {color, form, away, dim};
    for (const row of labeled) this.label(row);
    if (this.drawn.length !== n) {
      this.drawn = new Int16Array(n);
      this.ringed = new Uint8Array(n);
    }
    this.drawn.set(given);
    this.ringed.fill(0);
    this.rings();
    raster.show();
  }

  rings() {
    const {raster, px, py, ringed, chosenLarge} = this;
    const {given, n} = store;
    const {mask, size, losses} = store.selected;
    const {accent} = this.colors;
    this.crowd = size > CROWD;
    this.losses = losses;
    const plain = this.crowd ? this.crowded : this.chosen;
    for (let row = 0; row < n; row++)
      if (mask[row] > ringed[row]) {
        raster.put(given[row] >= 0 ? chosenLarge : plain, px[row], py[row], accent, 230);
        ringed[row] = 1;
      }
  }

  // Draws rings around newly selected rows on the last drawing. false if all marks must be drawn again.
  choose() {
    const {size, losses} = store.selected;
    if (this.ringed.length !== store.n || losses !== this.losses) return false;
    if (this.crowd !== size > CROWD && this.ringed.includes(1)) return false;
    this.rings();
    this.raster.show();
    return true;
  }

  label(row) {
    const {raster, px, py, colors: paint} = this;
    const {color, form, away, dim} = this.looks;
    const id = store.given[row];
    const k = form[id];
    if (away[id]) return;
    if (!isShown(row)) {
      raster.put(this.speck, px[row], py[row], paint.faint, 70);
      return;
    }
    raster.put(this.halo[k], px[row], py[row], paint.ground, (230 * dim[id]) | 0);
    raster.put(this.edge[k], px[row], py[row], paint.ink, (256 * dim[id]) | 0);
    raster.put(this.fill[k], px[row], py[row], color[id], (256 * dim[id]) | 0);
  }

  // Draws new labels on the last drawing. false if all marks must be drawn again.
  add() {
    const {given, n} = store;
    const {drawn} = this;
    const fresh = [];
    if (drawn.length !== n) return false;
    for (let row = 0; row < n; row++)
      if (given[row] !== drawn[row]) {
        if (drawn[row] !== NONE || given[row] < 0 || fresh.length === FEW) return false;
        fresh.push(row);
      }
    for (const row of fresh) {
      this.label(row);
      drawn[row] = given[row];
      this.raster.showAround(this.px[row], this.py[row], this.halo[0].half + 4);
    }
    return true;
  }
}
