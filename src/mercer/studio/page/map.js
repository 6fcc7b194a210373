// The map. One canvas has the marks, and one above it has focus, pointer and lasso. Handles the pointer.
import {$, afterwards, later, plural, say} from "./dom.js";
import {Grid} from "./grid.js";
import {Marks} from "./draw.js";
import {placeRegions} from "./regions.js";
import {View} from "./view.js";
import {go} from "./actions.js";
import {nameOf} from "./rows.js";
import {hideTip, showTip} from "./tip.js";
import {guessWord, labelWord} from "./numbers.js";
import {NONE, guess, isShown, on, store, tell} from "./store.js";

const box = $("#plot");
const over = $("#over");
const view = new View();
const marks = new Marks($("#marks"), view);
const pen = over.getContext("2d");
const BRUSH = 26;
let grid = null;
let mode = "move";
let hover = -1;
let path = [];
let drag = null;
const pointers = new Map();

const away = new Uint8Array(256); // 1 for each hidden class
const allowed = row => isShown(row) && away[store.given[row] >= 0 ? store.given[row] : store.first[row]] === 0;
const found = row => allowed(row) && !store.hiddenGuess.has(row); // the place of a random check is hidden
const draw = () => {
  marks.draw();
  sketch();
  placeRegions(view);
};
const redraw = later(draw);
const redrawAfterwards = afterwards(draw); // draws all marks, and never in the frame that echoes a key
const resketch = later(sketch);

// The open row, or null if it is a random check, whose neighbors are hidden.
const seen = () => (store.current && store.hiddenGuess.has(store.current.row) ? null : store.current);

function sketch() {
  const {ink, accent, card: ground} = marks.colors.words;
  pen.setTransform(marks.ratio, 0, 0, marks.ratio, 0, 0);
  pen.clearRect(0, 0, view.width, view.height);
  if (!store.x) return;
  const circle = (row, r, width, color) => {
    pen.beginPath();
    pen.arc(view.toX(store.x[row]), view.toY(store.y[row]), r, 0, 7);
    pen.lineWidth = width;
    pen.strokeStyle = color;
    pen.stroke();
  };
  const at = seen()?.row;
  const base = Math.max(7, marks.radius() + 3) + (at !== undefined && store.given[at] >= 0 ? 3 : 0);
  if (hover >= 0 && hover !== at) circle(hover, base, 1.5, ink);
  if (at !== undefined) {
    circle(at, base + 2.2, 9, ground);
    circle(at, base, 2, ink);
    circle(at, base + 4.5, 2, accent);
  }
  if (path.length > 2) {
    pen.beginPath();
    for (let k = 0; k < path.length; k += 2) pen.lineTo(path[k], path[k + 1]);
    pen.lineWidth = 1.5;
    pen.strokeStyle = accent;
    pen.setLineDash([5, 4]);
    pen.stroke();
    pen.setLineDash([]);
    pen.globalAlpha = 0.1;
    pen.fillStyle = accent;
    pen.fill();
    pen.globalAlpha = 1;
  }
  if (mode === "brush" && drag) {
    pen.beginPath();
    pen.arc(drag.x, drag.y, BRUSH, 0, 7);
    pen.lineWidth = 1.5;
    pen.strokeStyle = accent;
    pen.stroke();
  }
}

function resize() {
  const ratio = window.devicePixelRatio || 1;
  view.resize(box.clientWidth, box.clientHeight);
  marks.resize(ratio);
  over.width = Math.round(view.width * ratio);
  over.height = Math.round(view.height * ratio);
  draw();
}

const place = event => {
  const frame = box.getBoundingClientRect();
  return {x: event.clientX - frame.left, y: event.clientY - frame.top};
};
const under = (at, reach = 16) =>
  grid ? grid.nearest(view.fromX(at.x), view.fromY(at.y), reach / view.sx, found, view.sy / view.sx) : -1;

export function setMode(wanted) {
  mode = wanted;
  box.dataset.mode = mode;
  for (const one of document.querySelectorAll("[data-tool]"))
    one.setAttribute("aria-pressed", String(one.dataset.tool === mode));
}
export const toggleLasso = () => {
  setMode(mode === "lasso" ? "move" : "lasso");
  say(mode === "lasso" ? "Draw a lasso around rows." : "Lasso off.");
};

function select(rows, add) {
  if (!add) store.selected.clear();
  store.selected.addAll(rows);
  tell("selection");
}

function down(event) {
  if (event.button > 0) return;
  const at = place(event);
  pointers.set(event.pointerId, at);
  over.setPointerCapture(event.pointerId);
  drag = {...at, start: at, moved: false, pinch: pointers.size > 1};
  path = mode === "lasso" ? [at.x, at.y] : [];
  if (mode === "brush" && !event.shiftKey) store.selected.clear();
  hideTip();
}

function pinch() {
  const [a, b] = [...pointers.values()];
  const apart = Math.hypot(a.x - b.x, a.y - b.y);
  const mid = {x: (a.x + b.x) / 2, y: (a.y + b.y) / 2};
  if (drag.apart) {
    view.magnify(apart / drag.apart, mid.x, mid.y);
    view.pan(mid.x - drag.mid.x, mid.y - drag.mid.y);
  }
  Object.assign(drag, {apart, mid, moved: true});
  path = [];
  redraw();
}

function move(event) {
  const at = place(event);
  if (!drag) {
    const row = under(at);
    if (row !== hover) {
      hover = row;
      row < 0 ? hideTip() : showTip(row, view.toX(store.x[row]), view.toY(store.y[row]), box);
      resketch();
    }
    return;
  }
  if (pointers.has(event.pointerId)) pointers.set(event.pointerId, at);
  if (pointers.size > 1) {
    pinch();
    return;
  }
  if (Math.hypot(at.x - drag.start.x, at.y - drag.start.y) > 4) drag.moved = true;
  if (mode === "move" && drag.moved && !drag.pinch) {
    view.pan(at.x - drag.x, at.y - drag.y);
    redraw();
  }
  if (mode === "lasso" && Math.hypot(at.x - path.at(-2), at.y - path.at(-1)) > 3) {
    path.push(at.x, at.y);
    resketch();
  }
  if (mode === "brush" && grid) {
    for (const row of grid.circle(view.fromX(at.x), view.fromY(at.y), BRUSH / view.sx, allowed, view.sy / view.sx))
      store.selected.add(row);
    redraw();
  }
  Object.assign(drag, at);
}

function up(event) {
  pointers.delete(event.pointerId);
  if (!drag || pointers.size) return;
  const {moved, pinch: pinched, start: from} = drag;
  const outline = path;
  drag = null;
  path = [];
  if (!moved && !pinched) {
    const row = under(from);
    if (row >= 0 && event.shiftKey) {
      store.selected.has(row) ? store.selected.delete(row) : store.selected.add(row);
      tell("selection");
    } else if (row >= 0) go(row, "click");
    else if (mode !== "move" && store.selected.size) select([], false);
  } else if (mode === "lasso" && outline.length > 6 && grid) {
    const corners = outline.map((value, k) => (k % 2 ? view.fromY(value) : view.fromX(value)));
    const rows = grid.polygon(corners);
    select(store.shown || away.includes(1) ? rows.filter(allowed) : rows, event.shiftKey);
    tell("gathered", "lasso");
  } else if (mode === "brush") {
    tell("selection");
    tell("gathered", "brush");
  }
  resketch();
}

export function arrow(dx, dy) {
  if (!grid) return;
  const from = seen()?.row;
  const row =
    from === undefined
      ? under({x: view.width / 2, y: view.height / 2}, 1e4)
      : grid.towards(from, dx, dy, found, view.sy / view.sx);
  if (row < 0) {
    say("No row further that way.");
    return;
  }
  go(row, "click");
  const label = store.given[row];
  const taken = guess(row);
  const word = label !== -1 ? ", given " + labelWord(row) : taken ? ", guess " + guessWord(taken) : "";
  say(nameOf(row) + word + ".");
}

export function start() {
  on("map", () => {
    grid = new Grid(store.x, store.y);
    $("#plot-empty").hidden = true;
    over.setAttribute("aria-label", "Map of " + plural(store.n, "row") + ". Arrow keys go from row to row.");
    redraw();
  });
  on("answers queue", redrawAfterwards);
  on("classes filter spotlight", redraw);
  on("classes", () => {
    away.fill(0);
    for (const one of store.classes) away[one.id] = one.hidden ? 1 : 0;
  });
  on("selection", () => {
    if (!marks.choose()) redraw();
  });
  on("labels", () => {
    if (!marks.add()) redraw();
  });
  const reveal = afterwards(() => {
    const at = seen();
    if (at && store.x && view.reveal(store.x[at.row], store.y[at.row])) draw();
  });
  on("current", () => {
    resketch();
    reveal();
  });
  over.addEventListener("pointerdown", down);
  over.addEventListener("pointermove", move);
  over.addEventListener("pointerup", up);
  over.addEventListener("pointercancel", event => {
    pointers.delete(event.pointerId);
    drag = null;
    path = [];
    resketch();
  });
  over.addEventListener("pointerleave", () => {
    if (!drag) {
      hover = -1;
      hideTip();
      resketch();
    }
  });
  over.addEventListener(
    "wheel",
    event => {
      if (!event.ctrlKey && matchMedia("(max-width: 1099px)").matches) return; // in one column the wheel scrolls the page
      event.preventDefault();
      const at = place(event);
      view.magnify(Math.exp(-event.deltaY * (event.deltaMode ? 0.05 : 0.0016)), at.x, at.y);
      hideTip();
      redraw();
    },
    {passive: false},
  );
  for (const one of document.querySelectorAll("[data-tool]"))
    one.addEventListener("click", () => setMode(one.dataset.tool));
  for (const one of document.querySelectorAll("[data-zoom]"))
    one.addEventListener("click", () => {
      one.dataset.zoom === "fit" ? view.reset() : view.magnify(one.dataset.zoom === "in" ? 1.5 : 1 / 1.5);
      redraw();
    });
  new ResizeObserver(resize).observe(box);
  const recolor = () => {
    marks.theme();
    redraw();
  };
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", recolor);
  for (const [name, paper] of [
    ["beforeprint", true],
    ["afterprint", false],
  ])
    window.addEventListener(name, () => {
      document.documentElement.classList.toggle("paper", paper);
      store.spotlight = NONE;
      marks.theme();
      draw();
    });
  setMode("move");
  resize();
}
