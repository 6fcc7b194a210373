// The list of classes with key, mark, name and counts. A click lists the rows of a class, and a dialog changes it.
import {$, afterwards, button, count, fill, h, plural} from "./dom.js";
import {changeClass, classNamed} from "./actions.js";
import {filterClass, only} from "./filters.js";
import {keys} from "./chips.js";
import {numeric} from "./numbers.js";
import {colorOf, glyph} from "./palette.js";
import {NONE, counts, offered, on, store, tell} from "./store.js";

const list = $("#classes");
const dialog = $("#class-dialog");
const FEWEST = 5; // numbers, for the first predictions
const SHORT = 12; // characters of a name that leaves room for the counts in its line

function spotlight(id) {
  if (store.spotlight !== id) {
    store.spotlight = id;
    tell("spotlight");
  }
}

function item(one, key, tally, most) {
  const given = tally.given[one.id] || 0;
  const predicted = tally.predicted[one.id] || 0;
  const meter = h(
    "span",
    {class: "split k" + colorOf(one.id), "aria-hidden": "true"},
    h("i", {class: "given"}),
    h("i"),
  );
  meter.children[0].style.setProperty("width", (100 * given) / most + "%");
  meter.children[1].style.setProperty("width", (100 * predicted) / most + "%");
  const row = button(
    [
      h("kbd", {"aria-hidden": "true"}, key || ""),
      glyph(one.id),
      h("span", {class: "name", dir: "auto"}, one.name),
      h("span", {class: "numbers"}, h("b", {}, count(given)), h("span", {}, count(predicted))),
      meter,
    ],
    () => filterClass(only() === one.id ? null : one.id),
    {
      class: "class-row",
      "data-class": one.id,
      title: one.note || "List its rows",
      "aria-pressed": String(only() === one.id),
      "aria-label": `${one.name}: ${given} given, ${predicted} predicted. List its rows.`,
    },
  );
  row.addEventListener("pointerenter", () => spotlight(one.id));
  row.addEventListener("pointerleave", () => spotlight(NONE));
  return h(
    "li",
    {},
    row,
    numeric() ? null : button("⋯", () => edit(one), {class: "quiet more", "aria-label": "Change class " + one.name}),
  );
}

function show() {
  const tally = counts();
  const classes = offered();
  const hidden = store.classes.filter(one => one.hidden && one.merged === null);
  const most = Math.max(1, ...classes.map(one => (tally.given[one.id] || 0) + (tally.predicted[one.id] || 0)));
  const focused = list.contains(document.activeElement) ? document.activeElement.dataset.class : null;
  const key = keys();
  const digits = numbers => String(Math.max(0, ...numbers)).length;
  list.classList.toggle("tall", classes.some(one => one.name.length > SHORT));
  list.style.setProperty("--given", Math.max(3, digits(tally.given) + 1) + "ch");
  list.style.setProperty("--predicted", Math.max(4, digits(tally.predicted) + 2) + "ch");
  fill(
    list,
    classes.map(one => item(one, key.get(one.id), tally, most)),
  );
  if (focused) $(`[data-class="${CSS.escape(focused)}"]`, list)?.focus();
  $("#classes-head").hidden = !classes.length;
  const missing = FEWEST - tally.labeled;
  $("#class-hint").hidden = numeric() ? missing <= 0 : classes.length >= 2;
  $("#class-hint").textContent = numeric()
    ? plural(missing, "more number") + ", and predictions begin."
    : classes.length
    ? "One more class, and predictions begin."
    : "No class yet.";
  fill(
    $("#hidden-classes"),
    hidden.length
      ? [
          h("span", {class: "soft"}, "Hidden: "),
          ...hidden.map(one =>
            button([glyph(one.id), one.name], () => changeClass({op: "show", class: one.id}), {
              class: "quiet small",
              "aria-label": "Show " + one.name,
            }),
          ),
        ]
      : [],
  );
  $("#tally").textContent =
    plural(tally.labeled, "label") + (tally.cannot ? " · " + tally.cannot + " can't tell" : "");
  $("#open-tally").textContent =
    store.tier !== "none" && tally.abstained ? plural(tally.abstained, "row") + " without a prediction" : "";
}

function edit(one) {
  const others = store.classes.filter(other => other.id !== one.id && other.merged === null);
  const name = h("input", {type: "text", value: one.name, maxlength: 80, "aria-label": "Name"});
  const note = h("textarea", {rows: 3, maxlength: 2000, "aria-label": "Guideline"}, one.note ?? "");
  const key = h("input", {type: "text", class: "key", value: one.key ?? "", maxlength: 2, placeholder: keys().get(one.id) ?? "–", "aria-label": "Key"});
  const into = h(
    "select",
    {"aria-label": "Merge into"},
    others.map(other => h("option", {value: other.id}, other.name)),
  );
  const done = async change => {
    if (await changeClass(change)) dialog.close();
  };
  const save = async event => {
    event.preventDefault();
    const wanted = {note: note.value.trim(), key: key.value.trim()};
    const told = wanted.note !== (one.note ?? "") || wanted.key !== (one.key ?? "");
    if (told && !(await changeClass({op: "describe", class: one.id, ...wanted}))) return;
    if (name.value.trim() && name.value.trim() !== one.name)
      if (!(await changeClass({op: "rename", class: one.id, name: name.value.trim()}))) return;
    dialog.close();
  };
  const given = counts().given[one.id] || 0;
  fill(
    dialog,
    h(
      "form",
      {method: "dialog", onsubmit: save},
      h("h2", {id: "class-dialog-title"}, glyph(one.id), one.name),
      h("label", {class: "stacked"}, "Name", name),
      h("label", {class: "stacked"}, "Guideline, shown with the class", note),
      h("label", {class: "stacked"}, "Key (0 to 9, ⇧0 to ⇧9, or a letter that has no other use)", key),
      h("div", {class: "field end"}, h("button", {class: "primary"}, "Save")),
    ),
    others.length
      ? [
          h("h3", {}, "Merge into another class"),
          h(
            "div",
            {class: "field"},
            into,
            button("Merge", () => done({op: "merge", class: one.id, into: Number(into.value)})),
          ),
          h("p", {class: "hint"}, (given ? plural(given, "label") + " would move. " : "") + "A merge can be undone."),
        ]
      : null,
    h(
      "div",
      {class: "field end"},
      button("Hide", () => done({op: "hide", class: one.id})),
      button("Close", () => dialog.close(), {class: "quiet"}),
    ),
  );
  dialog.showModal();
  name.select();
}

function askNames() {
  $("#names-dialog").showModal();
  $("#names").focus();
}

async function addNames(event) {
  event.preventDefault();
  const names = $("#names").value.split("\n").map(name => name.trim()).filter(Boolean);
  for (const name of names) if (!(await classNamed(name))) return;
  $("#names").value = "";
  $("#names-dialog").close();
}

export function start() {
  on("classes labels answers filter", afterwards(show));
  on("names", askNames);
  $("#add-class").addEventListener("click", askNames);
  $("#names-form").addEventListener("submit", addNames);
  $("#names").addEventListener("keydown", event => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) addNames(event);
  });
}
