// What a person does: label, skip, go to a row, undo. Keys, buttons and the map call these.
import {send} from "./outbox.js";
import {loadQueue} from "./sync.js";
import {isOpen, openTab} from "./tabs.js";
import {post} from "./api.js";
import {nameOf} from "./rows.js";
import {CERTAIN, NONE, className, guess, store, tell} from "./store.js";
import {count, say} from "./dom.js";

const trail = []; // rows labeled one by one in this tab: undo goes back to them

// Rows still to be asked, the current one first if it is among them.
export const open = () =>
  store.queue.items.filter(item => store.given[item.row] === NONE && !store.skipped.has(item.row));

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
  else {
    store.current = null;
    tell("current");
  }
  const seen = store.current && guess(store.current.row);
  const next = !store.current
    ? "The next rows are being chosen."
    : "Next: " +
      nameOf(store.current.row) +
      (store.current.via === "random" ? ", a random check." : seen ? ", guess " + className(seen.id) + "." : ".");
  say((done + " " + next).trim());
}

// After each new queue: the card under the person's eyes stays.
export function refill() {
  if (
    !store.current ||
    (store.given[store.current.row] !== NONE && store.current.via !== "click" && store.current.via !== "review")
  )
    advance();
}

export function label(rows, id, via, shown = null, since = null, more = {}) {
  const ms = since === null ? null : Math.round(performance.now() - since);
  if (via !== "lasso" && via !== "list" && id !== null) for (const row of rows) answered(row);
  return send("/api/label", {rows, class: id, via, shown, base_rev: store.rev, ms, ...more});
}

function answered(row) {
  if (!store.hiddenGuess.delete(row)) return;
  store.answered.add(row);
}

// Gives the current row this class (or "cannot", or null to take its label away) and goes on.
export function labelCurrent(id) {
  const at = store.current;
  if (!at) {
    say("No row is open.");
    return;
  }
  trail.push(at);
  label([at.row], id, at.via, guess(at.row)?.id ?? null, at.since);
  const text = nameOf(at.row) + (id === null ? ": label removed." : ": " + className(id) + ".");
  advance(text);
}

export function accept() {
  const at = store.current;
  const seen = at && guess(at.row);
  if (at?.via === "random" && store.given[at.row] === NONE) say("This is a random check: choose the class yourself.");
  else if (seen) labelCurrent(seen.id);
  else say("There is no guess to accept.");
}

export async function skip() {
  const at = store.current;
  if (!at) return;
  store.skipped.set(at.row, null);
  trail.push(at);
  const sent = send("/api/skip", {rows: [at.row], via: at.via});
  advance(nameOf(at.row) + (at.via === "random" ? " skipped: this check comes back." : " skipped."));
  const done = await sent;
  if (!done) store.skipped.delete(at.row);
  else if (store.skipped.has(at.row)) store.skipped.set(at.row, done.rev);
  if (!store.current) loadQueue();
}

// J and K: through the open questions.
export function step(by) {
  const items = open();
  const at = items.findIndex(item => item.row === store.current?.row);
  const item = at < 0 ? items[0] : items[(at + by + items.length) % items.length];
  if (item) {
    go(item.row, item.via);
    say(nameOf(item.row));
  }
}

export async function undo(rev) {
  const back = rev === undefined ? trail.pop() : null;
  const answer = await send("/api/undo", rev === undefined ? {} : {rev});
  if (!answer) {
    if (back) trail.push(back);
    return;
  }
  if (back) store.skipped.delete(back.row);
  if (back && store.given[back.row] === NONE) go(back.row, back.via);
  else if (back) trail.push(back); // something else was undone
  say("Undone.");
}

export async function redo() {
  const answer = await send("/api/redo", {});
  if (answer) say("Redone.");
}

// Rows that were looked at, or (unseen) all within a lasso or picked at once; of the latter, checks stay open.
export function labelMany(rows, id, unseen = false, around = [], via = "lasso") {
  label(rows, id, via, null, null, unseen ? {unseen, around} : {});
  say(count(rows.length) + " rows: " + className(id) + ".");
}

// The guesses of at least this confidence, of these rows (null: all), of this class (null: any), in one event. They are
// part of what random checks are drawn from, and nothing is learned from them.
export async function acceptGuesses(rows, id) {
  const done = await send("/api/accept", {rows, class: id, above: CERTAIN});
  if (done) say(count(done.accepted) + " guesses accepted.");
}

// The predictions of which at most 5% are wrong, with 95% certainty, in one event.
export async function acceptPromised() {
  const done = await send("/api/accept", {promise: true});
  if (done) say(count(done.accepted) + " predictions accepted.");
}

// The class of this name, added where there is none; null where it is refused.
export async function classNamed(name) {
  const known = () => store.classes.find(one => one.merged === null && one.name === name);
  if (!known() && !(await changeClass({op: "add", name}))) return null;
  if (known()?.hidden) await changeClass({op: "show", class: known().id});
  return known() ?? null;
}

export async function changeClass(change) {
  try {
    const answer = await post("/api/class", change);
    store.classes = answer.classes;
    tell("classes");
    return true;
  } catch (error) {
    tell("refused", error);
    return false;
  }
}
