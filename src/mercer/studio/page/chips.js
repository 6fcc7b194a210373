// Buttons to choose a class, with their keys; a field finds one by name where there are many.
import {$, button, fill, h} from "./dom.js";
import {offered} from "./store.js";
import {glyph} from "./palette.js";

const MANY = 12;

// Class id → key. A class named by a digit has that key; the others take 1 … 9, 0 and then Shift with them, in order.
export function keys() {
  const free = Array.from({length: 20}, (_, k) => (k < 10 ? "" : "⇧") + (k + 1) % 10), found = new Map();
  const take = (one, key) => { found.set(one.id, key); free.splice(free.indexOf(key), 1); };
  for (const one of offered()) if (/^\d$/.test(one.name) && free.includes(one.name)) take(one, one.name);
  for (const one of offered()) if (!found.has(one.id) && free.length) take(one, free[0]);
  return found;
}

export function chips(choose, {pressed = null} = {}) {
  const classes = offered(), key = keys(), list = h("div", {class: "chips" + (classes.length > MANY ? " many" : ""), role: "group", "aria-label": "Classes"});
  const one = each => button([key.has(each.id) ? h("kbd", {}, key.get(each.id)) : null, glyph(each.id), h("span", {class: "name"}, each.name)], () => choose(each.id),
    {class: "chip", "data-class": each.id, "aria-pressed": pressed === null ? null : String(pressed === each.id)});
  const show = text => fill(list, classes.filter(each => each.name.toLowerCase().includes(text)).map(one));
  show("");
  if (classes.length <= MANY) return list;
  const field = h("input", {type: "search", class: "chip-search", placeholder: "Class by name, then Enter", "aria-label": "Find a class by name",
    oninput: () => show(field.value.trim().toLowerCase()),
    onkeydown: event => {
      if (event.key === "Enter" && field.value.trim()) { const first = $(".chip", list); if (first) choose(Number(first.dataset.class)); }
      if (event.key === "Escape") { field.value = ""; show(""); field.blur(); }
    }});
  return h("div", {}, field, list);
}
