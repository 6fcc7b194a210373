// Entries that the server has not acknowledged, and the labels with these entries applied.
import {arrange, numeric, place} from "./numbers.js";
import {CANNOT, NONE, store, tell} from "./store.js";

export const pending = [];
const codes = () => (numeric() ? {none: NaN, cannot: Infinity} : {none: NONE, cannot: CANNOT});
export const code = label => (label === null ? codes().none : label === "cannot" ? codes().cannot : label);

// `given` contains the labels of the server and of the waiting entries. A waiting undo takes back a waiting label.
export function echo() {
  const labels = numeric() ? store.value : store.given;
  labels.set(store.known);
  const stack = [];
  for (const entry of pending) {
    if (entry.path === "/api/label") stack.push(entry.body);
    else if (entry.path === "/api/undo" && entry.body.rev === undefined) stack.pop();
  }
  for (const row of store.queue.checks) if (!store.answered.has(row)) labels[row] = code(null); // a check is blind
  for (const {rows, class: label} of stack) for (const row of rows) labels[row] = code(label);
  if (numeric()) store.tier === "none" ? arrange() : place();
  store.waiting = pending.length;
  tell("labels");
}
