// Draws marks into a 32-bit buffer. A stamp is a list of pixels with their coverage, blended one by one.
import {SHAPES} from "./palette.js";

const FINE = 4; // samples per edge of a pixel

function inside(corners, x, y) {
  if (corners === null) return x * x + y * y <= 1;
  let odd = false;
  for (let i = 0, j = corners.length - 2; i < corners.length; j = i, i += 2) {
    const yi = corners[i + 1];
    const yj = corners[j + 1];
    if (yi > y !== yj > y && x < ((corners[j] - corners[i]) * (y - yi)) / (yj - yi) + corners[i]) odd = !odd;
  }
  return odd;
}

class Stamp {
  constructor(half, dx, dy, cover) {
    Object.assign(this, {half, dx, dy, cover, offset: new Int32Array(dx.length), width: 0});
  }

  fit(width) {
    // places of its pixels in a buffer of this width
    for (let k = 0; k < this.offset.length; k++) this.offset[k] = this.dy[k] * width + this.dx[k];
    this.width = width;
  }
}

// A stamp of the pixels for which `covers(x, y)` is true. x and y are pixels from the middle of the mark.
function stamp(reach, covers) {
  const half = Math.ceil(reach);
  const dx = [];
  const dy = [];
  const cover = [];
  for (let y = -half; y <= half; y++)
    for (let x = -half; x <= half; x++) {
      let hits = 0;
      for (let v = 0; v < FINE; v++)
        for (let u = 0; u < FINE; u++) if (covers(x + (u + 0.5) / FINE - 0.5, y + (v + 0.5) / FINE - 0.5)) hits++;
      if (hits) {
        dx.push(x);
        dy.push(y);
        cover.push(Math.round((256 * hits) / (FINE * FINE)));
      }
    }
  return new Stamp(half, Int8Array.from(dx), Int8Array.from(dy), Int32Array.from(cover));
}

export const disc = r => stamp(r, (x, y) => x * x + y * y <= r * r);
export const ring = (r, w) =>
  stamp(r, (x, y) => {
    const d = x * x + y * y;
    return d <= r * r && d >= (r - w) * (r - w);
  });
export const shape = (k, r) => stamp(1.2 * r, (x, y) => inside(SHAPES[k], x / r, y / r));

export class Raster {
  constructor(canvas) {
    this.canvas = canvas;
    this.context = canvas.getContext("2d", {alpha: false});
    this.resize(1, 1);
  }

  resize(width, height) {
    this.width = this.canvas.width = width;
    this.height = this.canvas.height = height;
    this.image = this.context.createImageData(width, height);
    this.pixels = new Int32Array(this.image.data.buffer);
  }

  clear(color) {
    this.pixels.fill(color);
  }
  show() {
    this.context.putImageData(this.image, 0, 0);
  }
  showAround(x, y, half) {
    this.context.putImageData(this.image, 0, 0, x - half, y - half, 2 * half + 1, 2 * half + 1);
  }

  // Blends a color into one pixel.
  dot(x, y, color, alpha) {
    if (x < 0 || y < 0 || x >= this.width || y >= this.height) return;
    const at = y * this.width + x;
    const b = 256 - alpha;
    const old = this.pixels[at];
    this.pixels[at] =
      0xff000000 |
      (((Math.imul(old & 0xff00ff, b) + Math.imul(color & 0xff00ff, alpha)) >>> 8) & 0xff00ff) |
      (((Math.imul(old & 0xff00, b) + Math.imul(color & 0xff00, alpha)) >>> 8) & 0xff00);
  }

  // Blends a stamp in this color at the pixel (x, y). alpha is a whole number from 0 to 256.
  put(mark, x, y, color, alpha) {
    const half = mark.half;
    const width = this.width;
    const height = this.height;
    if (x < -half || y < -half || x >= width + half || y >= height + half) return;
    if (mark.width !== width) mark.fit(width);
    const whole = x >= half && y >= half && x < width - half && y < height - half;
    const at = y * width + x;
    const pixels = this.pixels;
    const {dx, dy, cover, offset} = mark;
    const redBlue = color & 0xff00ff;
    const green = color & 0xff00;
    for (let k = 0; k < offset.length; k++) {
      if (!whole && (x + dx[k] < 0 || x + dx[k] >= width || y + dy[k] < 0 || y + dy[k] >= height)) continue;
      const a = Math.imul(cover[k], alpha) >> 8;
      const b = 256 - a;
      const old = pixels[at + offset[k]];
      pixels[at + offset[k]] =
        0xff000000 |
        (((Math.imul(old & 0xff00ff, b) + Math.imul(redBlue, a)) >>> 8) & 0xff00ff) |
        (((Math.imul(old & 0xff00, b) + Math.imul(green, a)) >>> 8) & 0xff00);
    }
  }
}
