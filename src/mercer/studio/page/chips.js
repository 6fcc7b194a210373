// Buttons to choose a class, with their keys. If there are many, a field finds one by name.
import {$, button, fill, h} from "./dom.js";
import {offered, store} from "./store.js";
import {numeric} from "./numbers.js";
import {glyph} from "./palette.js";

const MANY = 12;

const ALL = Array.from({length: 20}, (_, k) => (k < 10 ? "" : "⇧") + ((k + 1) % 10));

// Class id → key. A chosen key comes first, then a digit that is the name of its class. The others take 1 … 9, 0 and
// then these with Shift, in the order in which they were added. Hidden and merged classes keep theirs, so no key moves.
export function keys() {
  if (numeric()) return new Map(); // digits begin a number
  const found = new Map();
  const free = new Set(ALL);
  const take = (one, key) => {
    found.set(one.id, key);
    free.delete(key);
  };
  for (const one of store.classes) if (one.key && one.merged === null) take(one, one.key);
  for (const one of store.classes) if (!found.has(one.id) && /^\d$/.test(one.name) && free.has(one.name)) take(one, one.name);
  for (const one of store.classes) {
    const next = free.values().next().value;
    if (!found.has(one.id) && free.size) take(one, next);
    else if (!ALL.includes(found.get(one.id))) free.delete(next); // with a chosen letter the others keep their digits
  }
  for (const one of store.classes) if (one.hidden || one.merged !== null) found.delete(one.id);
  return found;
}

export function chips(choose, {pressed = null} = {}) {
  const classes = offered();
  const key = keys();
  const list = h("div", {
    class: "chips" + (classes.length > MANY ? " many" : ""),
    role: "group",
    "aria-label": "Classes",
  });
  const one = each =>
    button(
      [key.has(each.id) ? h("kbd", {}, key.get(each.id)) : null, glyph(each.id), h("span", {class: "name"}, each.name)],
      () => choose(each.id),
      {class: "chip", "data-class": each.id, "aria-pressed": pressed === null ? null : String(pressed === each.id)},
    );
  const show = text => fill(list, classes.filter(each => each.name.toLowerCase().includes(text)).map(one));
  show("");
  if (classes.length <= MANY) return list;
  const field = h("input", {
    type: "search",
    class: "chip-search",
    placeholder: "Class by name, then Enter",
    "aria-label": "Find a class by name",
    oninput: () => show(field.value.trim().toLowerCase()),
    onkeydown: event => {
      if (event.key === "Enter" && field.value.trim()) {
        const first = $(".chip", list);
        if (first) choose(Number(first.dataset.class));
      }
      if (event.key === "Escape") {
        field.value = "";
        show("");
        field.blur();
      }
    },
  });
  return h("div", {}, field, list);
}
