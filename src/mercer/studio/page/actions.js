// Actions of a person, such as label, skip, go to a row and undo. Keys, buttons and the map call them.
import {send} from "./outbox.js";
import {loadQueue} from "./sync.js";
import {isOpen, openTab} from "./tabs.js";
import {post} from "./api.js";
import {nameOf} from "./rows.js";
import {guessWord, numeric, predictedNumber, valueWord} from "./numbers.js";
import {CERTAIN, NONE, className, guess, store, tell} from "./store.js";
import {count, say} from "./dom.js";

const trail = []; // rows labeled one by one in this tab, to which undo goes back

// The questions that are open, with the current one first if it is among them.
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
      (store.current.via === "random" ? ", a random check." : seen ? ", guess " + guessWord(seen) + "." : ".");
  say((done + " " + next).trim());
}

// After each new queue. The card that a person is reading stays.
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

// Sets the label of the current row, and goes on. It is a class, a number or "cannot", and null removes it.
export function labelCurrent(id) {
  const at = store.current;
  if (!at) {
    say("No row is open.");
    return;
  }
  trail.push(at);
  const seen = guess(at.row);
  label([at.row], id, at.via, seen ? (numeric() ? seen.number : seen.id) : null, at.since);
  const text = nameOf(at.row) + (id === null ? ": label removed." : ": " + valueWord(id) + ".");
  advance(text);
}

export function accept() {
  const at = store.current;
  const seen = at && guess(at.row);
  if (at?.via === "random" && store.given[at.row] === NONE) 
    say("This is a random check. " + (numeric() ? "Type the number yourself." : "Choose the class yourself."));
  else if (seen) labelCurrent(numeric() ? predictedNumber(seen) : seen.id);
  else say("There is no guess to accept.");
}

export async function skip() {
  const at = store.current;
  if (!at) return;
  store.skipped.set(at.row, null);
  trail.push(at);
  const sent = send("/api/skip", {rows: [at.row], via: at.via});
  advance(nameOf(at.row) + (at.via === "random" ? " skipped. This check comes back." : " skipped."));
  const done = await sent;
  if (!done) store.skipped.delete(at.row);
  else if (store.skipped.has(at.row)) store.skipped.set(at.row, done.rev);
  if (!store.current) loadQueue();
}

// J and K step through the open questions.
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

// Labels many rows. Random checks among them stay open if no one looked at the rows (`unseen`).
export function labelMany(rows, id, unseen = false, around = [], via = "lasso") {
  label(rows, id, via, null, null, unseen ? {unseen, around} : {});
  say(count(rows.length) + " rows: " + className(id) + ".");
}

// Accepts the guesses of these rows and this class with a confidence of at least 95%, in one event. null means all rows
// or any class. Random checks are drawn from these rows too, and nothing is learned from them.
export async function acceptGuesses(rows, id) {
  const done = await send("/api/accept", {rows, class: id, above: CERTAIN});
  if (done) say(count(done.accepted) + " guesses accepted.");
}

// Accepts the predictions of which at most 5% are wrong, with 95% certainty, in one event.
export async function acceptPromised() {
  const done = await send("/api/accept", {promise: true});
  if (done) say(count(done.accepted) + " predictions accepted.");
}

// The class of this name, which is added if there is none. null if it is refused.
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
