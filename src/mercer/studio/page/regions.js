// Names dense regions of the map by a word that their texts have in common, or by the class of most of their rows.
// The regions depend on the positions alone, so no name moves. A name that would cover another one is left out.
import {$, afterwards, fill, h} from "./dom.js";
import {json, newest} from "./api.js";
import {NO_ANSWER, NONE, className, on, store} from "./store.js";

const NEAR = 0.3; // fraction of the width within which a name is not repeated
const MOST = 0.6; // least fraction of the rows for a class to name a region
const box = $("#regions");
let found = []; // {x, y, radius, word}, the largest region first
let view = null;

const load = newest(async () => {
  found = (await json("/api/regions")).regions;
  show();
});

// The class that most rows within the radius have, given or predicted.
function majority({x, y, radius}) {
  const tally = new Map();
  let all = 0;
  for (let row = 0; row < store.n; row++) {
    if (Math.abs(store.x[row] - x) > radius || Math.abs(store.y[row] - y) > radius || store.hiddenGuess.has(row)) continue;
    const id = store.given[row] === NONE ? store.first[row] : store.given[row];
    all++;
    if (id >= 0 && id !== NO_ANSWER) tally.set(id, (tally.get(id) ?? 0) + 1);
  }
  const [id, number] = [...tally].sort((a, b) => b[1] - a[1])[0] ?? [null, 0];
  return number > MOST * all ? className(id) : null;
}

function show() {
  for (const one of found) one.name = one.word ?? (store.tier === "none" || store.session.numeric ? null : majority(one));
  fill(
    box,
    found.map(one => (one.element = h("span", {dir: "auto"}, one.name ?? ""))),
  );
  if (view) placeRegions(view);
}

export function placeRegions(now) {
  view = now;
  const taken = [];
  for (const {x, y, radius, name, element} of found) {
    const width = element.offsetWidth;
    const left = Math.max(2, Math.min(view.width - width - 2, view.toX(x) - width / 2));
    const top = Math.max(1, view.toY(y + radius) - element.offsetHeight - 4);
    const place = [left, top, left + width, top + element.offsetHeight];
    const again = one => one.name === name && Math.hypot(one.left - left, one.top - top) < NEAR * view.width;
    const covers = ([a, b, c, d]) => a < place[2] && c > place[0] && b < place[3] && d > place[1];
    element.hidden = !name || view.toY(y) < 0 || top > view.height || taken.some(one => covers(one.place) || again(one));
    if (element.hidden) continue;
    taken.push({place, name, left, top});
    element.style.setProperty("transform", `translate(${Math.round(left)}px, ${Math.round(top)}px)`);
  }
}

export function start() {
  on("map", load);
  on("answers classes", afterwards(show));
}
