// The tab "Question", with one row, its class buttons and further actions.
import {$, afterwards, button, fill, h} from "./dom.js";
import {classNamed, labelCurrent, refill, skip} from "./actions.js";
import {showContent} from "./card.js";
import {build, choices, paint} from "./choices.js";
import {getRow, nameOf} from "./rows.js";
import {moreLike} from "./selection.js";
import {noteLine, showNote} from "./notes.js";
import {showReasons} from "./why.js";
import {numberBox, paintNumber} from "./number.js";
import {numeric} from "./numbers.js";
import {NONE, CANNOT, guess, offered, on, store, tell} from "./store.js";

const card = $("#card");
const title = h("span", {class: "title"});
const head = h("header", {class: "card-head"}, title, noteLine); // a note stays in its field while the rest changes
const body = h("div", {class: "card-body", tabindex: 0});
const hint = h("p", {class: "hint check-hint", hidden: true});
const alike = button(["More like this", h("kbd", {}, "G")], moreOfThis, {id: "alike", "aria-keyshortcuts": "G"});
const remove = button("Remove label", () => labelCurrent(null), {class: "quiet", hidden: true});
const cannot = button(["Can't tell", h("kbd", {}, "X")], () => labelCurrent("cannot"), {
  id: "cannot",
  "aria-keyshortcuts": "X",
});
const field = h("input", {
  type: "text",
  id: "first-class",
  maxlength: 80,
  placeholder: "What is this row? Name its class",
  "aria-label": "Name the class of this row",
  autocomplete: "off",
});
const form = h("form", {class: "field", onsubmit: submit}, field, h("button", {class: "primary"}, "Label"));
const wanted = button(["New class", h("kbd", {}, "N")], () => newClass(), {id: "new-class", "aria-keyshortcuts": "N"});
const steps = h(
  "ol",
  {class: "steps", hidden: true},
  h("li", {}, "Read the row."),
  h("li", {}, "Type the name of its class."),
  h("li", {}, "With two classes, every other row gets a prediction."),
);
const paste = button("Paste all class names", () => tell("names"), {class: "quiet small", id: "paste-names"});
const buttons = h(
  "div",
  {class: "actions"},
  wanted,
  button(["Skip", h("kbd", {}, "S")], skip, {id: "skip", "aria-keyshortcuts": "S"}),
  cannot,
  alike,
  remove,
);
const filled = [head, body, h("div", {class: "answer"}, hint, steps, choices, numberBox, form, buttons)];
const few = () => !numeric() && offered().length < 2;

const hidden = at => store.hiddenGuess.has(at.row) && store.given[at.row] === NONE;

function heading(at) {
  const tag =
    at.via === "random"
      ? h("span", {class: "tag random"}, "random check")
      : at.via === "queue" && store.queue.mode === "suggest"
        ? null
        : h("span", {class: "tag"}, {queue: store.queue.mode === "unusual" ? "unusual row" : "typical row", click: "chosen by you", review: "review"}[at.via]);
  fill(title, h("h2", {dir: "auto"}, nameOf(at.row)), tag);
}

// Updates the label and the guess of the open row.
let asked = {row: -1, probabilities: []};
function update() {
  const at = store.current;
  if (!at) {
    showEmpty();
    return;
  }
  heading(at);
  const blind = hidden(at);
  const label = store.given[at.row];
  hint.hidden = !blind;
  hint.textContent = `Random check. ${numeric() ? "Type the number" : "Choose the class"} yourself. The guess is shown afterwards.`;
  cannot.setAttribute("aria-pressed", String(label === CANNOT));
  remove.hidden = label === NONE;
  alike.hidden = blind || !store.x;
  const seen = guess(at.row);
  if (numeric()) paintNumber(at.row, label, blind ? null : seen);
  else paint(label, blind ? null : (seen?.id ?? null), blind || asked.row !== at.row ? [] : asked.probabilities);
}

// Updates the probabilities and the reasons with each prediction.
const again = afterwards(explain);
async function explain() {
  const at = store.current;
  const why = await showReasons(at && !hidden(at) ? at.row : null, () => store.current === at);
  if (store.current !== at || !at) return;
  asked = {row: at.row, probabilities: why?.probabilities ?? []};
  update();
}

async function show() {
  const at = store.current;
  card.dataset.row = at?.row ?? "";
  card.dataset.via = at?.via ?? "";
  if (!at) {
    showEmpty();
    again();
    return;
  }
  let data = getRow(at.row);
  if (head.parentNode !== card) {
    fill(card, filled);
    choose();
  }
  update();
  if (data instanceof Promise) {
    fill(body);
    showNote(null);
    data = await data;
    if (store.current !== at) return;
    update(); // its name is known
  }
  showContent(body, data);
  showNote(data);
  body.scrollTop = 0;
  again();
}

// Builds the class buttons. With fewer than two classes a field asks for the class of the row, and has the focus.
function choose() {
  build();
  const start = few();
  steps.hidden = !start;
  form.hidden = !start;
  wanted.hidden = start || numeric();
  choices.hidden = numeric() || !offered().length;
  numberBox.hidden = !numeric();
  if (start) steps.after(paste);
  else paste.remove();
  if (start && document.activeElement === document.body) field.focus({preventScroll: true});
}

export function moreOfThis() {
  if (store.current && store.x && !hidden(store.current)) moreLike(store.current.row);
}

export function newClass() {
  if (!store.current || numeric()) return;
  form.hidden = false;
  field.placeholder = few() ? "What is this row? Name its class" : "Name of the new class";
  field.focus();
}

// A new name adds a class, a known one is given.
async function submit(event) {
  event.preventDefault();
  const name = field.value.trim();
  const one = name && (await classNamed(name));
  if (!one) return;
  field.value = "";
  labelCurrent(one.id);
  if (few()) field.focus();
  else {
    field.blur(); // the keys of the classes are next
    form.hidden = true;
  }
}

function showEmpty() {
  const open = store.given.some(one => one === NONE);
  const now = ["reading", "preparing"].includes(store.stage?.name);
  fill(
    card,
    h(
      "p",
      {class: "empty"},
      !store.connected
        ? "The server does not respond."
        : store.n && !open
          ? "Every row has a label."
          : now
            ? "The first rows are being chosen…"
            : "Choosing the next rows… You can label any row of the map meanwhile.",
    ),
  );
}

export function start() {
  const redraw = afterwards(update);
  field.addEventListener("keydown", event => {
    if (event.key !== "Escape" || few()) return;
    field.value = "";
    field.blur();
    form.hidden = true;
  });
  on("queue", refill);
  on("current", show);
  on("labels", redraw);
  on("answers", () => {
    redraw();
    again();
  });
  on("classes", () => {
    if (head.parentNode === card) choose();
    redraw();
  });
  on("why", row => {
    if (store.current?.row === row) again();
  });
  on("note", row => {
    if (store.current?.row === row) show();
  });
  on("stage", () => {
    if (!store.current) showEmpty();
  });
  show();
}
