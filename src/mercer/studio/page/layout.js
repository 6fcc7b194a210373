// How the columns lie: the question in the middle, or the map there, or the question alone.
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
  turn("focused", "#focus", "Focus: the question alone.", "All columns.");
}

export function start() {
  $("#enlarge").addEventListener("click", enlarge);
  $("#focus").addEventListener("click", focus);
}
