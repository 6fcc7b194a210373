// The tab "Review": labels that the others contradict, with what they propose.
import {$, button, fill, h, percent, say} from "./dom.js";
import {json, newest} from "./api.js";
import {advance, go, label} from "./actions.js";
import {content, line, picture} from "./card.js";
import {getRows} from "./rows.js";
import {glyph} from "./palette.js";
import {className, on, store} from "./store.js";
import {isOpen, openTab} from "./tabs.js";

const list = $("#review-list");
let items = [];
let at = 0;

const load = newest(async () => {
  const answer = await json("/api/suspicious");
  items = answer.items;
  $("#review-text").textContent = items.length ? answer.text : "No label looks wrong.";
  $("#review-count").textContent = items.length || "";
  $(".keys-line").hidden = !items.length;
  await show();
});

async function show() {
  const shown = items.slice(0, 100);
  const rows = await getRows(shown.map(one => one.row));
  at = Math.max(0, Math.min(at, shown.length - 1));
  fill(
    list,
    shown.map((one, k) => item(one, k, rows[k])),
  );
}

function item(one, k, data) {
  const change = h(
    "span",
    {class: "change"},
    glyph(one.given),
    className(one.given),
    h("span", {class: "soft"}, " → "),
    glyph(one.proposed, false),
    className(one.proposed),
  );
  const open = k === at && store.current?.row === one.row;
  return h(
    "li",
    {class: open ? "at" : "", "data-row": one.row},
    button(
      [
        data.image && !open ? picture(data.row, data.name, "mini") : null,
        h(
          "span",
          {class: "entry-text"},
          h("span", {}, h("b", {}, data.name), " ", change),
          open || data.image ? null : h("span", {class: "body", dir: "auto"}, line(data, 6)),
          h("span", {class: "soft"}, percent(one.probability) + " chance it is wrong"),
        ),
      ],
      () => look(k),
      {class: "entry", "aria-current": open ? "true" : null},
    ),
    h(
      "span",
      {class: "pair-buttons"},
      button("Keep", () => decide(k, one.given)),
      button(["Change to ", className(one.proposed)], () => decide(k, one.proposed)),
    ),
    open ? content(data) : null,
  );
}

function decide(k, id) {
  const one = items[k];
  label([one.row], id, "review", one.proposed);
  say(one.name + ": " + className(id) + (id === one.given ? ", kept." : ", changed."));
  items = items.filter(other => other !== one);
  $("#review-count").textContent = items.length || "";
  items.length ? look(k) : show();
}

async function look(k) {
  at = Math.max(0, Math.min(k, items.length - 1));
  if (!items[at]) return;
  go(items[at].row, "review");
  await show();
  list.children[at]?.scrollIntoView({block: "nearest"});
}

// Keys while this tab is open; each says whether it was used.
export const review = {
  open: () => {
    openTab("review");
    if (items.length) look(at);
    say(items.length ? items.length + " labels to review." : "No label to review.");
  },
  active: () => isOpen("review"),
  step: by => look(at + by),
  accept: () => {
    if (items[at]) decide(at, items[at].proposed);
  },
  skip: () => look(at + 1),
  choose: id => {
    if (items[at]) decide(at, id);
  },
};

export function start() {
  on("accuracy", load); // told together with the doubtful labels, after the answers
  on("tab", name => {
    if (name === "review") load();
    else if (store.current?.via === "review") advance();
  });
}
