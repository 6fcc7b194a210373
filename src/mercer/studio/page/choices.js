// The class buttons under the question, with key and name, filled by the probability. ↵ is on the guess.
import {$, button, fill, h, percent} from "./dom.js";
import {labelCurrent} from "./actions.js";
import {keys} from "./chips.js";
import {colorOf, glyph} from "./palette.js";
import {offered} from "./store.js";

const MANY = 12;
const AROUND = 122; // pixels of a button without its name
const LINE = 112; // and of a name that may be broken into lines
const list = h("div", {class: "choices", role: "group", "aria-label": "Classes"});
const search = h("input", {
  type: "search",
  class: "chip-search",
  placeholder: "Find a class, then Enter",
  "aria-label": "Find a class by name",
  hidden: true,
});
const guideline = h("p", {class: "guideline", hidden: true});
export const choices = h("div", {class: "choices-box"}, search, list, guideline);
let active = null; // class whose guideline is shown, from the label or the guess
let parts = new Map(); // class → its button and what changes in it
let painted = "";
const pen = document.createElement("canvas").getContext("2d");

function one(each, key) {
  const filling = h("i", {"aria-hidden": "true"});
  const number = h("span", {class: "number"});
  const enter = h("kbd", {class: "enter", hidden: true}, "↵");
  const element = button(
    [
      filling,
      h("kbd", {class: key ? "" : "none"}, key ?? ""),
      glyph(each.id),
      h("span", {class: "name", dir: "auto"}, each.name),
      h("span", {class: "tail"}, number, enter),
    ],
    () => labelCurrent(each.id),
    {
      class: "choice k" + colorOf(each.id),
      "data-class": each.id,
      "aria-keyshortcuts": key ? key.replace("⇧", "Shift+") : null,
    },
  );
  for (const begin of ["pointerenter", "focus"]) element.addEventListener(begin, () => advise(each.id));
  for (const end of ["pointerleave", "blur"]) element.addEventListener(end, () => advise(active));
  parts.set(each.id, {element, filling, number, enter});
  return element;
}

// The guideline of a class, below the buttons.
function advise(id) {
  const one = offered().find(each => each.id === id);
  guideline.hidden = !offered().some(each => each.note);
  fill(guideline, one?.note ? [h("b", {}, one.name), ": " + one.note] : "\u00a0");
}

// Pixels in which every name is readable, for the longest word and about two lines of the longest name.
function room(names) {
  const {fontSize, fontFamily} = getComputedStyle(document.body);
  pen.font = `650 ${fontSize} ${fontFamily}`;
  const widest = texts => Math.ceil(Math.max(0, ...texts.map(text => pen.measureText(text).width)));
  return Math.max(widest(names.flatMap(name => name.split(/\s+/))), Math.min(LINE, widest(names)));
}

function find() {
  const text = search.value.trim().toLowerCase();
  for (const {id, name} of offered()) parts.get(id).element.hidden = !name.toLowerCase().includes(text);
}

// The buttons of all classes, always in the same order.
export function build() {
  const key = keys();
  parts = new Map();
  painted = "";
  fill(
    list,
    offered().map(each => one(each, key.get(each.id))),
  );
  list.style.setProperty("--least", AROUND + room(offered().map(each => each.name)) + "px");
  search.hidden = parts.size <= MANY;
  list.classList.toggle("many", parts.size > MANY);
  if (!search.hidden) find();
}

// Shows the label of a row, its guess, and [[class, probability]] once they are known.
export function paint(label, guess, probabilities) {
  const now = JSON.stringify([label, guess, probabilities]);
  if (now === painted) return;
  painted = now;
  const share = new Map(probabilities);
  for (const [id, {element, filling, number, enter}] of parts) {
    const p = share.get(id);
    filling.style.setProperty("width", 100 * (p ?? 0) + "%");
    number.textContent = p === undefined ? "" : percent(p);
    enter.hidden = id !== guess;
    element.classList.toggle("guess", id === guess);
    element.classList.toggle("label", id === label);
    element.setAttribute("aria-pressed", String(id === label));
  }
  if (parts.has(guess)) reveal(parts.get(guess).element);
  active = parts.has(label) ? label : guess;
  advise(active);
}

// A list of many classes scrolls to the guess.
function reveal({offsetTop, offsetHeight}) {
  if (offsetTop < list.scrollTop || offsetTop + offsetHeight > list.scrollTop + list.clientHeight)
    list.scrollTop = offsetTop - (list.clientHeight - offsetHeight) / 2;
}

search.addEventListener("input", find);
search.addEventListener("keydown", event => {
  const first = $(".choice:not([hidden])", list);
  if (event.key === "Enter" && search.value.trim() && first) {
    labelCurrent(Number(first.dataset.class));
    search.value = "";
    find();
  }
  if (event.key === "Escape") {
    search.value = "";
    find();
    search.blur();
  }
});
