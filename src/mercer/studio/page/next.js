// The tab "Next": one large card and the questions after it.
import {$, afterwards, button, fill, h, plural, sure} from "./dom.js";
import {accept, changeClass, go, labelCurrent, open, refill, skip} from "./actions.js";
import {line, picture, showContent} from "./card.js";
import {chips} from "./chips.js";
import {getRow, getRows, nameOf} from "./rows.js";
import {guessBars, showWhy} from "./why.js";
import {glyph} from "./palette.js";
import {NONE, className, guess, offered, on, store} from "./store.js";

const card = $("#card");
const rest = $("#rest");
const head = h("header", {class: "card-head"});
const body = h("div", {class: "card-body"});
const bars = h("div", {class: "bars-box"});
const choice = h("div");
const buttons = h("div", {class: "actions"});
const reasons = h("div", {class: "why"});
const filled = [head, body, h("div", {class: "answer"}, bars, choice, buttons, reasons)];
const tags = {random: "random check", queue: "suggested", click: "chosen on the map", review: "review"};

const hidden = at => store.hiddenGuess.has(at.row) && store.given[at.row] === NONE;

function heading(at) {
  const label = store.given[at.row];
  fill(
    head,
    h("h2", {}, nameOf(at.row)),
    h(
      "span",
      {class: "tag " + at.via},
      at.via === "queue" && store.queue.mode === "coverage" ? "to see the variety" : tags[at.via],
    ),
    label !== NONE
      ? h("span", {class: "tag given"}, label >= 0 ? [glyph(label), className(label)] : "cannot tell")
      : null,
  );
}

// What can change while the row stays: its label and the buttons …
function update() {
  const at = store.current;
  if (!at) {
    fill(card, empty());
    return;
  }
  const seen = guess(at.row);
  heading(at);
  fill(
    buttons,
    seen && !hidden(at)
      ? button(["Accept ", h("b", {}, className(seen.id)), h("kbd", {}, "↵")], accept, {class: "primary", id: "accept"})
      : null,
    button(["Skip", h("kbd", {}, "S")], skip, {id: "skip"}),
    button("Cannot tell", () => labelCurrent("cannot"), {id: "cannot"}),
    store.given[at.row] !== NONE ? button("Take label away", () => labelCurrent(null), {class: "quiet"}) : null,
  );
}

// … and, with each answer, its guess and the reasons.
const again = afterwards(explain);
function explain() {
  const at = store.current;
  if (!at) return;
  if (hidden(at)) {
    const why = "This row was drawn at random, to measure how often the answers are right";
    fill(bars, h("p", {class: "hint"}, why + (store.tier === "none" ? "." : ": the guess is hidden.")));
    fill(reasons);
  } else if (store.tier !== "none") showWhy(at.row, () => store.current === at, bars, reasons);
}

async function show() {
  const at = store.current;
  card.dataset.row = at?.row ?? "";
  card.dataset.via = at?.via ?? "";
  if (!at) {
    fill(card, empty());
    return;
  }
  const seen = guess(at.row);
  const item = store.queue.items.find(one => one.row === at.row);
  let data = getRow(at.row);
  fill(bars, seen ? guessBars([[seen.id, null]]) : null);
  fill(reasons, item?.reason ? h("p", {class: "reason"}, item.reason) : null);
  if (head.parentNode !== card) {
    fill(card, filled);
    choose();
  }
  update();
  if (data instanceof Promise) {
    fill(body);
    data = await data;
    if (store.current !== at) return;
    update(); // its name is known
  }
  showContent(body, data);
  again();
}

// The classes; before there are two, a field names the class of this row.
function choose() {
  if (offered().length >= 2) {
    fill(choice, chips(labelCurrent));
    return;
  }
  const field = h("input", {
    type: "text",
    id: "first-class",
    maxlength: 80,
    placeholder: "What is this row? Name its class",
    "aria-label": "Name the class of this row",
    autocomplete: "off",
  });
  const submit = async event => {
    event.preventDefault();
    const name = field.value.trim();
    if (!name || !(await changeClass({op: "add", name}))) return;
    labelCurrent(offered().find(one => one.name === name).id);
    if (offered().length < 2) $("#first-class").focus();
  };
  fill(
    choice,
    offered().length ? chips(labelCurrent) : null,
    h("form", {class: "field", onsubmit: submit}, field, h("button", {class: "primary"}, "Label")),
  );
}

function empty() {
  const labelled = store.n - store.given.reduce((sum, one) => sum + (one === NONE ? 1 : 0), 0);
  if (store.n && labelled === store.n) return h("p", {class: "empty"}, "Every row has a label.");
  return h(
    "p",
    {class: "empty"},
    ["reading", "preparing"].includes(store.stage?.name)
      ? "The first rows are being chosen…"
      : "Choosing the next rows… Any row of the map can be labelled meanwhile.",
  );
}

function entry(item, data) {
  const seen = guess(item.row);
  return h(
    "li",
    {},
    button(
      [
        data.image ? picture(item.row, data.name, "mini") : null,
        h(
          "span",
          {class: "entry-text"},
          h("b", {}, data.name),
          h("span", {class: "soft cut"}, item.reason || line(data)),
        ),
        item.via === "random"
          ? h("span", {class: "tag random"}, "check")
          : seen
            ? h(
                "span",
                {class: "entry-guess"},
                glyph(seen.id, false),
                className(seen.id),
                h("span", {class: "soft"}, sure(seen.p)),
              )
            : null,
      ],
      () => go(item.row, item.via),
      {class: "entry", "data-row": item.row},
    ),
  );
}

let listed = 0;
async function showRest() {
  const items = open()
    .filter(item => item.row !== store.current?.row)
    .slice(0, 9);
  const mine = ++listed;
  const rows = await getRows(items.map(item => item.row));
  if (mine !== listed) return;
  fill(
    rest,
    items.map((item, k) => entry(item, rows[k])),
  );
  $("#rest-head").textContent = items.length ? "Then " + plural(items.length, "row") : "";
}

export function start() {
  const redraw = afterwards(update);
  const drawRest = afterwards(showRest);
  on("queue", () => {
    refill();
    drawRest();
  });
  on("current", () => {
    show();
    drawRest();
  });
  on("labels", () => {
    redraw();
    drawRest();
  });
  on("answers", () => {
    redraw();
    again();
    drawRest();
  });
  on("classes", () => {
    choose();
    redraw();
    drawRest();
  });
  on("why", row => {
    if (store.current?.row === row) again();
  });
  on("stage", () => {
    if (!store.current) fill(card, empty());
  });
  show();
}
