// Entries that the server has not acknowledged, and the labels as they will be once it has.
import {CANNOT, NONE, store, tell} from "./store.js";

export const pending = [];
export const code = label => (label === null ? NONE : label === "cannot" ? CANNOT : label);

// `given` is what the server knows with the waiting entries on top; a waiting undo takes back a waiting label.
export function echo() {
  store.given.set(store.known);
  const stack = [];
  for (const entry of pending) {
    if (entry.path === "/api/label") stack.push(entry.body);
    else if (entry.path === "/api/undo" && entry.body.rev === undefined) stack.pop();
  }
  for (const row of store.queue.checks) if (!store.answered.has(row)) store.given[row] = NONE; // a check is blind
  for (const {rows, class: label} of stack) for (const row of rows) store.given[row] = code(label);
  store.waiting = pending.length;
  tell("labels");
}
