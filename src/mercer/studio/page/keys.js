// The keyboard. Keys do nothing in text fields and dialogs, and a focused button keeps its Enter and Space.
import {accept, labelCurrent, redo, skip, step, undo} from "./actions.js";
import {enlarge, focus} from "./layout.js";
import {ended, goOn} from "./end.js";
import {moreOfThis, newClass} from "./next.js";
import {type} from "./number.js";
import {numeric} from "./numbers.js";
import {writeNote} from "./notes.js";
import {keys as classKeys} from "./chips.js";
import {find} from "./filters.js";
import {arrow, setMode, toggleLasso} from "./map.js";
import {help} from "./top.js";
import {isOpen, openTab} from "./tabs.js";
import {review} from "./review.js";
import {labelPicked, picking} from "./selection.js";
import {sheet} from "./sheet.js";
import {store, tell} from "./store.js";

const typing = element =>
  element.closest("input:not([type=checkbox]):not([type=button]), textarea, select, [contenteditable], dialog[open]");
const pressing = element => element.closest("button, a, summary, input[type=checkbox]");

// Handles the key of a class, which is a digit with or without Shift, or a chosen letter.
function classKey(event) {
  if (numeric()) return numberKey(event);
  const found = /^(?:Digit|Numpad)(\d)$/.exec(event.code);
  const wanted = found ? (event.shiftKey ? "⇧" : "") + found[1] : event.key;
  const id = [...classKeys()].find(([, key]) => key === wanted)?.[0];
  if (!found && id === undefined) return false;
  if (id !== undefined)
    sheet.isOpen() ? sheet.choose(id) : picking() ? labelPicked(id) : review.active() ? review.choose(id) : seen(() => labelCurrent(id));
  return true;
}

function numberKey({key}) {
  if (!/^[-\d.,]$/.test(key)) return false;
  review.active() ? review.type(key) : seen(() => type(key));
  return true;
}

// A row is labeled only while it is on the screen. In other tabs these keys first lead back to the card.
const seen = act => {
  if (!isOpen("next")) openTab("next");
  else if (ended()) goOn();
  else act();
};

const plain = {
  s: () => (review.active() ? review.skip() : seen(skip)),
  j: () => (review.active() ? review.step(1) : seen(() => step(1))),
  k: () => (review.active() ? review.step(-1) : seen(() => step(-1))),
  r: () => (review.active() ? openTab("next") : review.open()),
  u: event => (event.shiftKey ? redo() : undo()),
  l: toggleLasso,
  m: enlarge,
  n: () => seen(newClass),
  x: () => (review.active() || sheet.isOpen() ? null : seen(() => labelCurrent("cannot"))),
  z: focus,
  f: find,
  g: () => seen(moreOfThis),
  t: () => seen(writeNote),
  "?": help,
  arrowleft: () => arrow(-1, 0),
  arrowright: () => arrow(1, 0),
  arrowup: () => arrow(0, 1),
  arrowdown: () => arrow(0, -1),
  escape: () => {
    if (sheet.isOpen()) sheet.close();
    else {
      setMode("move");
      store.selected.clear();
      tell("selection");
    }
  },
};

export function start() {
  document.addEventListener("keydown", event => {
    if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || typing(event.target)) return;
    const key = event.key.toLowerCase();
    if (key === "enter") {
      if (pressing(event.target)) return;
      sheet.isOpen() ? sheet.accept() : review.active() ? review.accept() : seen(accept);
    } else if (plain[key]) plain[key](event);
    else if (!classKey(event)) return;
    event.preventDefault();
  });
  // A button pressed by mouse loses the focus, because Enter would press it again for the next row.
  document.addEventListener("click", event => {
    if (event.detail > 0 && !event.target.closest("dialog")) event.target.closest("button")?.blur();
  });
}
