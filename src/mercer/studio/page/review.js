// The tab "Review", with labels that the others contradict and the proposed ones.
import {$, button, fill, h, percent, say} from "./dom.js";
import {json, newest} from "./api.js";
import {advance, go, label} from "./actions.js";
import {content, line, picture} from "./card.js";
import {getRows} from "./rows.js";
import {numeric, parsed, rangeOf, valueWord} from "./numbers.js";
import {glyph} from "./palette.js";
import {className, on, store} from "./store.js";
import {isOpen, openTab} from "./tabs.js";

const list = $("#review-list");
let items = [];
let at = 0;

const load = newest(async () => {
  const answer = await json("/api/suspicious");
  items = answer.items;
  $("#review-text").textContent = items.length || numeric() ? answer.text : "No label looks wrong.";
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

const mark = value => (numeric() ? rangeOf(value) : value);
// The predicted number with three digits, for a person to read.
const proposal = one => (numeric() ? Number(one.proposed.toPrecision(3)) : one.proposed);
const doubt = one =>
  numeric() ? `${Math.round(one.times)} times the error of most others` : percent(one.probability) + " chance it is wrong";

// Another number for the open row.
function field(k) {
  const input = h("input", {
    type: "text",
    inputmode: "decimal",
    maxlength: 40,
    placeholder: "Number",
    "aria-label": "Another number",
    autocomplete: "off",
  });
  const save = event => {
    event.preventDefault();
    const value = parsed(input.value);
    if (!Number.isNaN(value)) decide(k, value);
  };
  input.addEventListener("keydown", event => {
    if (event.key === "Escape") input.blur();
  });
  return h("form", {class: "field review-number", onsubmit: save}, input, h("button", {}, "Change"));
}

function item(one, k, data) {
  const change = h(
    "span",
    {class: "change"},
    glyph(mark(one.given)),
    valueWord(one.given),
    h("span", {class: "soft"}, numeric() ? ", predicted " : " → "),
    glyph(mark(one.proposed), false),
    valueWord(proposal(one)),
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
          h("span", {class: "soft"}, doubt(one)),
        ),
      ],
      () => look(k),
      {class: "entry", "aria-current": open ? "true" : null},
    ),
    h(
      "span",
      {class: "pair-buttons"},
      button("Keep", () => decide(k, one.given)),
      !numeric()
        ? button(["Change to ", className(one.proposed)], () => decide(k, one.proposed))
        : open
          ? field(k)
          : button("Change…", () => look(k)),
    ),
    open ? content(data) : null,
  );
}

function decide(k, id) {
  const one = items[k];
  label([one.row], id, "review", one.proposed);
  say(one.name + ": " + valueWord(id) + (id === one.given ? ", kept." : ", changed."));
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

// Actions of the keys while this tab is open.
export const review = {
  open: () => {
    openTab("review");
    if (items.length) look(at);
    say(items.length ? items.length + " labels to review." : "No label to review.");
  },
  active: () => isOpen("review"),
  step: by => look(at + by),
  accept: () => {
    if (items[at] && !numeric()) decide(at, items[at].proposed);
  },
  type: key => {
    const input = $("input", list);
    if (!input) return;
    input.value = key;
    input.focus();
  },
  skip: () => look(at + 1),
  choose: id => {
    if (items[at]) decide(at, id);
  },
};

export function start() {
  on("accuracy", load); // sent together with the doubtful labels
  on("tab", name => {
    if (name === "review") load();
    else if (store.current?.via === "review") advance();
  });
}
