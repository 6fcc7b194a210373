// Arranges the columns, with the question or the map in the middle, or the question alone.
import {$, say} from "./dom.js";

const root = document.documentElement;

function turn(name, button, on, off) {
  const now = root.classList.toggle(name);
  $(button).setAttribute("aria-pressed", String(now));
  say(now ? on : off);
}

export function enlarge() {
  if (root.classList.contains("focused")) focus();
  turn("wide-map", "#enlarge", "Large map.", "Small map.");
}

export function focus() {
  turn("focused", "#focus", "The question alone.", "All columns.");
}

export function start() {
  $("#enlarge").addEventListener("click", enlarge);
  $("#focus").addEventListener("click", focus);
}
