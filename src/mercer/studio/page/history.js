// The tab "History", with all events, newest first. Each has its own undo.
import {$, button, fill, h, settled} from "./dom.js";
import {json} from "./api.js";
import {go, undo} from "./actions.js";
import {on, tell} from "./store.js";
import {isOpen} from "./tabs.js";

const PAGE = 50;
const list = $("#history-list");
let oldest = null;

const clock = t =>
  new Date(typeof t === "number" ? 1000 * t : t).toLocaleTimeString([], {
    hour: "2-digit",
    minute: "2-digit",
    second: "2-digit",
  });
const ways = {
  queue: "suggested",
  random: "random check",
  lasso: "lasso",
  list: "list",
  accept: "guesses accepted",
  click: "map",
  review: "review",
  import: "from the file",
  double: "second label",
  undo: "undo",
};

function what(event) {
  const text = [
    h("span", {}, event.text),
    h(
      "span",
      {class: "soft"},
      [event.annotator, clock(event.t), ways[event.via]].filter(Boolean).join(" · ") + (event.undone ? " · undone" : ""),
    ),
  ];
  return event.rows?.length
    ? button(text, () => go(event.rows[0], "click"), {class: "entry entry-text"})
    : h("span", {class: "entry-text"}, text);
}

function line(event) {
  return h(
    "li",
    {class: event.undone ? "undone" : ""},
    h("span", {class: "rev"}, String(event.rev)),
    what(event),
    !event.undoable
      ? null
      : button("Undo", () => undo(event.rev), {class: "quiet small", "aria-label": "Undo revision " + event.rev}),
  );
}

async function load(before = null) {
  if (!isOpen("history")) return;
  try {
    const {events} = await json("/api/history?limit=" + PAGE + (before === null ? "" : "&before=" + before));
    const lines = events.map(line);
    before === null
      ? fill(list, lines.length ? lines : h("li", {class: "empty"}, "Nothing has happened yet."))
      : list.append(...lines);
    oldest = events.at(-1)?.rev ?? null;
    $("#earlier").hidden = events.length < PAGE;
  } catch (error) {
    tell("refused", error);
  }
}

export function start() {
  on(
    "history labels",
    settled(() => load(), 100),
  );
  on("tab", name => {
    if (name === "history") load();
  });
  $("#earlier").addEventListener("click", () => load(oldest));
}
