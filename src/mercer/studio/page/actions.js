// What a person does: label, skip, go to a row, undo. Keys, buttons and the map call these.
import {send} from "./outbox.js";
import {loadQueue} from "./sync.js";
import {isOpen, openTab} from "./tabs.js";
import {post} from "./api.js";
import {nameOf} from "./rows.js";
import {NONE, className, guess, store, tell} from "./store.js";
import {count, say} from "./dom.js";

const trail = [];  // rows labelled one by one in this tab: undo goes back to them

// Rows still to be asked, the current one first if it is among them.
export const open = () => store.queue.items.filter(item => store.given[item.row] === NONE && !store.skipped.has(item.row));

// Opens a row. A random check stays one, also when it is found on the map.
export function go(row, via = "click") {
  if (via === "click" && !isOpen("next")) openTab("next");
  if (via === "click" && store.hiddenGuess.has(row)) via = "random";
  if (store.current?.row === row && store.current.via === via) return;
  if (via === "random") store.hiddenGuess.add(row);
  store.current = {row, via, since: performance.now()};
  tell("current");
}

// The next question, announced with what was just done.
export function advance(done = "") {
  const item = open().find(one => one.row !== store.current?.row);
  if (item) go(item.row, item.via);
  else { store.current = null; tell("current"); }
  const seen = store.current && guess(store.current.row);
  const next = !store.current ? "The next rows are being chosen."
    : "Next: " + nameOf(store.current.row) + (store.current.via === "random" ? ", a random check." : seen ? ", guess " + className(seen.id) + "." : ".");
  say((done + " " + next).trim());
}

// After each new queue: the card under the person's eyes stays.
export function refill() {
  if (!store.current || (store.given[store.current.row] !== NONE && store.current.via !== "click" && store.current.via !== "review")) advance();
}

export function label(rows, id, via, shown = null, since = null) {
  const ms = since === null ? null : Math.round(performance.now() - since);
  return send("/api/label", {rows, class: id, via, shown, base_rev: store.rev, ms});
}

// Gives the current row this class (or "cannot", or null to take its label away) and goes on.
export function labelCurrent(id) {
  const at = store.current;
  if (!at) { say("No row is open."); return; }
  trail.push(at);
  label([at.row], id, at.via, guess(at.row)?.id ?? null, at.since);
  const text = nameOf(at.row) + (id === null ? ": label taken away." : ": " + className(id) + ".");
  advance(text);
}

export function accept() {
  const at = store.current, seen = at && guess(at.row);
  if (at?.via === "random" && store.given[at.row] === NONE) say("This is a random check: choose the class yourself.");
  else if (seen) labelCurrent(seen.id);
  else say("There is no guess to accept.");
}

export function skip() {
  if (!store.current) return;
  store.skipped.add(store.current.row);
  advance(nameOf(store.current.row) + " skipped.");
  if (!store.current) loadQueue();
}

// J and K: through the open questions.
export function step(by) {
  const items = open(), at = items.findIndex(item => item.row === store.current?.row);
  const item = at < 0 ? items[0] : items[(at + by + items.length) % items.length];
  if (item) { go(item.row, item.via); say(nameOf(item.row)); }
}

export async function undo(rev) {
  const back = rev === undefined ? trail.pop() : null;
  const answer = await send("/api/undo", rev === undefined ? {} : {rev});
  if (!answer) return;
  if (back && store.given[back.row] === NONE) go(back.row, back.via);
  else if (back) trail.push(back);  // something else was undone
  say("Undone.");
}

export async function redo() {
  const answer = await send("/api/redo", {});
  if (answer) say("Done again.");
}

export function labelMany(rows, id) {
  label(rows, id, "lasso");
  say(count(rows.length) + " rows: " + className(id) + ".");
}

export async function changeClass(change) {
  try {
    const answer = await post("/api/class", change);
    store.classes = answer.classes;
    tell("classes");
    return true;
  } catch (error) { tell("refused", error); return false; }
}
