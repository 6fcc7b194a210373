// Okabe and Ito's eight colors, then the same darker and lighter, times eight shapes. The first eight classes
// differ in both, all of 64 in one of them at least.
import {store} from "./store.js";

const HUES = 8;
const COLORS = 24;
const SHADES = 5; // of ranges of numbers, from low to high
// Corners within −1 … 1. null is the disc.
export const SHAPES = [
  null,
  [-0.86, -0.86, 0.86, -0.86, 0.86, 0.86, -0.86, 0.86],
  [0, -1.1, 1.05, 0.8, -1.05, 0.8],
  [0, -1.15, 1.15, 0, 0, 1.15, -1.15, 0],
  [
    -0.36, -1.05, 0.36, -1.05, 0.36, -0.36, 1.05, -0.36, 1.05, 0.36, 0.36, 0.36, 0.36, 1.05, -0.36, 1.05, -0.36, 0.36,
    -1.05, 0.36, -1.05, -0.36, -0.36, -0.36,
  ],
  [0, 1.1, 1.05, -0.8, -1.05, -0.8],
  star(5, 0.48),
  [-0.55, -1, 0.55, -1, 1.1, 0, 0.55, 1, -0.55, 1, -1.1, 0],
];

function star(points, inner) {
  const corners = [];
  for (let k = 0; k < 2 * points; k++) {
    const radius = k % 2 ? inner * 1.15 : 1.15;
    const angle = (Math.PI * k) / points;
    corners.push(radius * Math.sin(angle), -radius * Math.cos(angle));
  }
  return corners;
}

const place = id => store.classes.findIndex(one => one.id === id);
export const colorOf = id =>
  store.session?.numeric
    ? COLORS + Math.round(((SHADES - 1) * Math.max(0, place(id))) / Math.max(1, store.classes.length - 1))
    : Math.max(0, place(id)) % COLORS;
export const shapeOf = id => {
  if (store.session?.numeric) return 0;
  const k = Math.max(0, place(id));
  return (k + Math.floor(k / HUES)) % SHAPES.length;
};

const SVG = "http://www.w3.org/2000/svg";
// The mark of a class for lists and buttons. Its color is the class k0 … k28 of the style sheet.
export function glyph(id, outlined = true) {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("viewBox", "-1.4 -1.4 2.8 2.8");
  svg.setAttribute("class", "glyph k" + colorOf(id) + (outlined ? " outlined" : ""));
  svg.setAttribute("aria-hidden", "true");
  const corners = SHAPES[shapeOf(id)];
  const mark = document.createElementNS(SVG, corners ? "polygon" : "circle");
  if (corners) mark.setAttribute("points", corners.join(" "));
  else mark.setAttribute("r", "1");
  svg.append(mark);
  return svg;
}

// "#0072b2" or "rgb(0, 114, 178)" as 0xAABBGGRR, the order of ImageData on every machine browsers run on.
const probe = document.createElement("canvas").getContext("2d", {willReadFrequently: true});
export function packed(color) {
  probe.fillStyle = color;
  probe.fillRect(0, 0, 1, 1);
  const [r, g, b] = probe.getImageData(0, 0, 1, 1).data;
  return (0xff000000 | (b << 16) | (g << 8) | r) >>> 0;
}

export function colors() {
  const style = getComputedStyle(document.documentElement);
  const value = name => packed(style.getPropertyValue(name).trim());
  const sample = document.body.appendChild(document.createElement("i"));
  const shade = k => {
    sample.className = "k" + k;
    return packed(getComputedStyle(sample).color);
  };
  const classes = Uint32Array.from({length: COLORS + SHADES}, (_, k) => shade(k));
  sample.remove();
  const words = Object.fromEntries(["card", "ink", "accent"].map(name => [name, style.getPropertyValue("--" + name)]));
  return {
    classes,
    words, // for the pen of a canvas
    ground: value("--card"),
    ink: value("--ink"),
    faint: value("--faint"),
    accent: value("--accent"),
  };
}
