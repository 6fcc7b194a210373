// The tabs.
import {tell} from "./store.js";

const tabs = [...document.querySelectorAll("[role=tab]")];
const panel = tab => document.getElementById(tab.getAttribute("aria-controls"));

export const isOpen = name => document.getElementById("tab-" + name).getAttribute("aria-selected") === "true";

export function openTab(name) {
  for (const tab of tabs) {
    const chosen = tab.id === "tab-" + name;
    tab.setAttribute("aria-selected", String(chosen));
    tab.tabIndex = chosen ? 0 : -1;
    panel(tab).hidden = !chosen;
  }
  tell("tab", name);
}

export function start() {
  tabs.forEach((tab, k) => {
    tab.addEventListener("click", () => openTab(tab.id.slice(4)));
    tab.addEventListener("keydown", event => {
      const by = {ArrowRight: 1, ArrowLeft: -1}[event.key];
      if (!by) return;
      event.preventDefault();
      event.stopPropagation(); // elsewhere the arrows walk over the map
      const next = tabs[(k + by + tabs.length) % tabs.length];
      openTab(next.id.slice(4));
      next.focus();
    });
  });
}
