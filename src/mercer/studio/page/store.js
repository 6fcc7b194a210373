// The state of the page. Code that changes it calls `tell`, and code that shows it listens with `on`.
import {Chosen} from "./chosen.js";

export const NONE = -1;
export const CANNOT = -2;
export const NO_ANSWER = 255;

export const store = {
  session: null,
  n: 0,
  rev: 0,
  classes: [],
  stage: null,
  problem: null,
  x: null,
  y: null, // Uint16Array, null until the map is ready
  given: new Int16Array(0), // class id, NONE or CANNOT, from the server and the outbox
  known: new Int16Array(0), // labels of the server alone; numbers in a session of numbers
  value: new Float64Array(0), // in a session of numbers, the labels whose ranges are `given`
  predicted: new Float64Array(0), // in a session of numbers, predictions and half widths of intervals
  reach: new Float64Array(0),
  span: null, // the lowest and the highest number
  first: new Uint8Array(0),
  second: new Uint8Array(0),
  sure: new Uint8Array(0),
  tier: "none",
  digest: "",
  queue: {mode: "coverage", items: [], checks: []},
  hiddenGuess: new Set(), // rows of random checks without a label, whose guess and label are hidden
  answered: new Set(), // rows of checks that were labeled here
  current: null,
  skipped: new Map(), // current: {row, via, since}; skipped: row → its event, null until the server has it
  selected: new Chosen(),
  shown: null, // shown: Uint8Array mask of the filters, null for all
  spotlight: NONE,
  undo: false,
  redo: false,
  connected: true,
  waiting: 0,
};

const listeners = new Map();
export function on(topics, listener) {
  for (const topic of topics.split(" ")) {
    if (!listeners.has(topic)) listeners.set(topic, []);
    listeners.get(topic).push(listener);
  }
}
export function tell(topic, value) {
  for (const listener of listeners.get(topic) || []) listener(value);
}

export function allocate(n) {
  store.n = n;
  store.given = new Int16Array(n).fill(NONE);
  const {numeric} = store.session;
  store.known = numeric ? new Float64Array(n).fill(NaN) : new Int16Array(n).fill(NONE);
  for (const name of ["value", "predicted", "reach"]) store[name] = new Float64Array(numeric ? n : 0).fill(NaN);
  store.first = new Uint8Array(n).fill(NO_ANSWER);
  store.second = new Uint8Array(n).fill(NO_ANSWER);
  store.sure = new Uint8Array(n);
  store.selected.allocate(n);
}

export const className = id =>
  id === CANNOT || id === "cannot" ? "can't tell" : (store.classes.find(one => one.id === id)?.name ?? "?");
export const offered = () => store.classes.filter(one => !one.hidden && one.merged === null);
export const isShown = row => store.shown === null || store.shown[row] === 1;

// The guess for a row as {id, p, number, reach}, or null if there is none or it is hidden.
export function guess(row) {
  if (store.tier === "none" || store.first[row] === NO_ANSWER || store.hiddenGuess.has(row)) return null;
  return {id: store.first[row], p: store.sure[row] / 255, number: store.predicted[row], reach: store.reach[row]};
}

export const CERTAIN = 0.95; // least confidence of guesses that can be accepted without a look
export const certain = row =>
  store.given[row] === NONE && store.tier !== "none" && !store.hiddenGuess.has(row) && store.first[row] !== NO_ANSWER && store.sure[row] >= 255 * CERTAIN;

export function counts() {
  const size = Math.max(-1, ...store.classes.map(one => one.id)) + 1;
  const given = new Uint32Array(size);
  const predicted = new Uint32Array(size);
  let cannot = 0;
  let labeled = 0;
  let abstained = 0;
  for (let row = 0; row < store.n; row++) {
    const label = store.given[row];
    if (label >= 0) {
      given[label]++;
      labeled++;
    } else if (label === CANNOT) cannot++;
    else if (store.first[row] !== NO_ANSWER) predicted[store.first[row]]++;
    else abstained++;
  }
  return {given, predicted, cannot, labeled, abstained};
}
